/* pending.c - signals that wait when a snapshot is taken.
 *
 *   pending IMAGE [COUNT]   sends itself signals, writes the image, and checks that it still has
 *                           them, as does the restored process; with COUNT so many of one kind.
 *
 * Those that are not blocked come to the handler, once, in the process that goes on. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"
#include "tests/ckpt/capture/state.h"

static int take(int number, long milliseconds)
{
    const struct timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    return sigtimedwait(&set, NULL, &wait) == number;
}

static void fill(int count)
{
    for (int i = 0; i < count; i++) {
        const union sigval with = {.sival_int = i};

        if (sigqueue(getpid(), SIGRTMIN, with) != 0)
            exit(77); /* the limit of this user */
    }
}

static void check_filled(int count)
{
    const struct timespec now = {0, 0};
    siginfo_t info;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    for (int i = 0; i < count; i++)
        CHECK(sigtimedwait(&set, &info, &now) == SIGRTMIN && info.si_value.sival_int == i);
    CHECK(sigtimedwait(&set, &info, &now) < 0);
}

int main(int argc, char **argv)
{
    const struct itimerval often = {.it_interval = {0, 1}, .it_value = {0, 1000}};
    sigset_t mask, pending;
    int count = argc > 2 ? atoi(argv[2]) : 3, saved;

    CHECK(argc > 1);
    sigemptyset(&mask);
    sigaddset(&mask, SIGALRM);
    sigaddset(&mask, SIGRTMIN);
    CHECK(sigprocmask(SIG_BLOCK, &mask, NULL) == 0);
    signals_set();
    fill(count);
    /* A timer rests until its signal is taken; then it goes on, and has run out again long before
     * the snapshot looks at it. */
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    do
        CHECK(sigpending(&pending) == 0);
    while (!sigismember(&pending, SIGALRM));
    saved = getenv("STATE_FORKED") ? host_snapshot_forked(argv[1]) : host_snapshot(argv[1]);
    signals_check();
    check_filled(count);
    CHECK(take(SIGALRM, 60000) && take(SIGALRM, 60000) && take(SIGALRM, 60000));
    printf("all of them\n");
    return saved == 0 ? 10 : 0;
}
