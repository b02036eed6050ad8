/* I/O: bsp_abort, an error or a death ends processes that compute and never reach another BSPlib
 * call.  The status is the same without bsprun, where process 0 itself is what the shell waits for,
 * whatever the program does with signals; only one that keeps all of them out is killed.
 *
 * P: 2 3
 * STATUS: 1
 *
 * CASE: waiting
 * ARGS: wait
 * ERR-RE: ABORT\(pid  1\): ?enough
 *
 * CASE: computing
 * ARGS: compute
 * ERR-RE: ABORT\(pid  1\): ?enough
 *
 * CASE: with a handler of its own
 * ARGS: compute own
 * ERR-RE: ABORT\(pid  1\): ?enough
 *
 * CASE: everything blocked, under bsprun
 * RUN: bsprun
 * ARGS: compute blocked
 * ERR-RE: ABORT\(pid  1\): ?enough
 *
 * CASE: everything blocked
 * RUN: bare
 * ARGS: compute blocked
 * ERR-RE: ABORT\(pid  1\): ?enough
 * STATUS: -9
 *
 * CASE: an error instead
 * ARGS: compute error
 * ERR-RE: bsp_put: pid 1 of ${p}
 *
 * CASE: a death instead
 * ARGS: compute death
 * STATUS: 139
 * ERR-RE: pid 1 was killed by signal 11
 */
#include <bsp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void note(int number)
{
    seen = number;
}

static void prepare(const char *what)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
    sigset_t all;

    for (unsigned i = 0; strcmp(what, "own") == 0 && i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], note);
    sigfillset(&all);
    if (strcmp(what, "blocked") == 0)
        sigprocmask(SIG_SETMASK, &all, NULL);
}

int main(int argc, char **argv)
{
    static volatile unsigned turns;
    static char area[1];
    const char *how = argc > 1 ? argv[1] : "", *what = argc > 2 ? argv[2] : "";

    prepare(what);
    bsp_begin(0);
    bsp_sync();
    if (bsp_pid() == 1 && strcmp(what, "error") == 0)
        bsp_put(0, NULL, area, 0, 1);
    if (bsp_pid() == 1 && strcmp(what, "death") == 0)
        raise(SIGSEGV);
    if (bsp_pid() == 1)
        bsp_abort("enough");
    while (strcmp(how, "compute") == 0)
        turns++;
    for (;;)
        pause();
}
