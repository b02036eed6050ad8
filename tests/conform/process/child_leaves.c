/* Children of a process leave by _exit and quick_exit with whatever status they like, and so does the
 * program before bsp_begin and after bsp_end.
 *
 * ARGS: inside
 *
 * CASE: children
 *
 * CASE: children, with the library shared
 * CC: -fshared-libbsp
 *
 * CASE: children, with all libraries static
 * CC: -static
 *
 * CASE: before bsp_begin
 * ARGS: before
 *
 * CASE: after bsp_end
 * ARGS: after
 */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child)
{
    int status;

    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static void check_children(int wanted)
{
    pid_t child = fork();

    if (child == 0)
        _exit(wanted);
    if (status_of(child) != wanted)
        bsp_abort("a forked child has not status %d", wanted);
    child = vfork();
    if (child == 0)
        _exit(wanted);
    if (status_of(child) != wanted)
        bsp_abort("a child of vfork has not status %d", wanted);
    child = (pid_t)syscall(SYS_fork); /* no handler of fork hears of this one */
    if (child == 0)
        quick_exit(wanted);
    if (status_of(child) != wanted)
        bsp_abort("a child of the system call has not status %d", wanted);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 99;
    if (strcmp(argv[1], "before") == 0)
        _exit(0);
    bsp_begin(0);
    bsp_sync();
    check_children(0);
    check_children(7);
    bsp_sync();
    bsp_end();
    if (strcmp(argv[1], "after") == 0)
        _exit(0);
    return 0;
}
