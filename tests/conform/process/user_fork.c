/* Process model: in a process that the program forked inside the SPMD part the library is inert:
 * it may print, exit with any status or run another program, and the job goes on.
 *
 * CASE: exit
 * ARGS: exit
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: exit with success
 * ARGS: exit0
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: return from main
 * ARGS: return
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: killed
 * ARGS: killed
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: exec
 * ARGS: exec
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: misuse
 * ARGS: misuse
 * OUT-EACH: pid ${i}: ok
 * ERR-RE: bsp_sync: .*forked
 *
 * CASE: abort
 * ARGS: abort
 * OUT-EACH: pid ${i}: ok
 * ERR-RE: ABORT.*not a process of the job
 */
#include "../check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int child_says(const char *how)
{
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(how, "exec") == 0)
        execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
    if (strcmp(how, "misuse") == 0)
        bsp_sync(); /* ends with status 1 and a message, and is nobody else's mistake */
    if (strcmp(how, "abort") == 0)
        bsp_abort("not a process of the job");
    if (strcmp(how, "exit") == 0)
        exit(9);
    if (strcmp(how, "exit0") == 0)
        exit(0);
    return 9;
}

static int expected_status(const char *how)
{
    if (strcmp(how, "exit0") == 0)
        return 0;
    return strcmp(how, "misuse") == 0 || strcmp(how, "abort") == 0 ? 1 : 9;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int status;

    bsp_begin(0);
    bsp_sync();
    fflush(stdout);
    pid_t child = fork();

    if (child == 0)
        return child_says(how);
    bsp_sync();
    CHECK(waitpid(child, &status, 0) == child);
    if (strcmp(how, "killed") == 0)
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    else
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected_status(how));
    bsp_sync();
    conform_done();
    bsp_end();
    return 0;
}
