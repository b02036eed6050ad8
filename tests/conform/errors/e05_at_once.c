/* Error 5, by a way out that runs no handler: _exit, _Exit and quick_exit before bsp_end, also with
 * status 0, are an error of the job; and children of a process that leave so are none of its affairs.
 *
 * STATUS: nonzero
 * ERR-RE: (bsprun|bspzero): pid 0\b.*(ended with status [05] without bsp_end|called exit\([05]\)) in superstep 1\b
 *
 * CASE: _exit
 * ARGS: _exit
 *
 * CASE: _Exit
 * ARGS: _Exit
 *
 * CASE: quick_exit
 * ARGS: quick_exit
 *
 * CASE: in a thread
 * ARGS: thread
 *
 * CASE: in a handler of exit
 * ARGS: atexit
 *
 * CASE: a static program
 * ARGS: quick_exit
 * CC: -static
 *
 * CASE: with the library shared
 * ARGS: _exit
 * CC: -fshared-libbsp
 *
 * CASE: with optimization of the whole program
 * ARGS: _Exit
 * CC: -O2 -flto
 *
 * CASE: another status stays
 * ARGS: _exit5
 * STATUS: 5
 * ERR-RE: (status 5|exit\(5\))
 */
#include <bsp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *leave(void *unused)
{
    (void)unused;
    _exit(0);
}

static void leave_in_handler(void)
{
    _exit(0);
}

static void leave_by(const char *how)
{
    pthread_t thread;

    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "_exit5") == 0)
        _exit(5);
    if (strcmp(how, "_Exit") == 0)
        _Exit(0);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(0);
    if (strcmp(how, "atexit") == 0) {
        atexit(leave_in_handler);
        exit(0);
    }
    if (pthread_create(&thread, NULL, leave, NULL) == 0)
        pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 99;
    bsp_begin(0);
    bsp_sync();
    if (bsp_pid() == 0)
        leave_by(argv[1]);
    bsp_sync();
    bsp_end();
    return 0;
}
