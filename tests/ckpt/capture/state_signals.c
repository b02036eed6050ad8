/* state_signals.c - signals that are blocked and wait: which, to whom, in which order, with what
 * they bring. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ckpt/capture/state.h"

#define PLAIN  SIGUSR2
#define QUEUED (SIGRTMIN + 3)
#define OTHER  (SIGRTMIN + 4)
#define STATUS 23

static pid_t sender, child;

static void to_process(int number, int value)
{
    const union sigval with = {.sival_int = value};

    CHECK(sigqueue(getpid(), number, with) == 0);
}

static void to_thread(int number, int value)
{
    const union sigval with = {.sival_int = value};

    CHECK(pthread_sigqueue(pthread_self(), number, with) == 0);
}

static void send_all(void)
{
    sender = getpid();
    CHECK(kill(sender, PLAIN) == 0 && syscall(SYS_tgkill, sender, gettid(), PLAIN) == 0);
    for (int i = 1; i <= 3; i++) {
        to_process(QUEUED, i);
        to_thread(QUEUED, 10 + i);
    }
    to_process(OTHER, 4);
    child = fork();
    if (child == 0)
        _exit(STATUS);
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
}

void signals_set(void)
{
    sigset_t mask;

    sigemptyset(&mask);
    sigaddset(&mask, PLAIN);
    sigaddset(&mask, QUEUED);
    sigaddset(&mask, OTHER);
    sigaddset(&mask, SIGCHLD);
    CHECK(sigprocmask(SIG_BLOCK, &mask, NULL) == 0);
    send_all();
}

/* False: none waits.  libc's function shows both ways to send a signal as the same one. */
static int take(int number, siginfo_t *info)
{
    const struct timespec now = {0, 0};
    sigset_t set;
    int taken;

    sigemptyset(&set);
    sigaddset(&set, number);
    taken = (int)syscall(SYS_rt_sigtimedwait, &set, info, &now, sizeof(uint64_t));
    CHECK(taken == number || (taken < 0 && errno == EAGAIN));
    return taken > 0;
}

void signals_spoil(void)
{
    siginfo_t info;

    while (take(PLAIN, &info) || take(QUEUED, &info) || take(SIGCHLD, &info))
        continue;
    to_process(OTHER, 99);
}

static void expect_value(int number, int value)
{
    siginfo_t info;

    CHECK(take(number, &info) && info.si_code == SI_QUEUE);
    CHECK(info.si_value.sival_int == value && info.si_pid == sender && info.si_uid == getuid());
}

/* What was sent to the thread comes first; each is taken, and sent again. */
void signals_check(void)
{
    siginfo_t info;

    CHECK(take(PLAIN, &info) && info.si_code == SI_TKILL && info.si_pid == sender);
    CHECK(take(PLAIN, &info) && info.si_code == SI_USER && info.si_pid == sender);
    CHECK(!take(PLAIN, &info));
    for (int i = 1; i <= 3; i++)
        expect_value(QUEUED, 10 + i);
    for (int i = 1; i <= 3; i++)
        expect_value(QUEUED, i);
    CHECK(!take(QUEUED, &info));
    expect_value(OTHER, 4);
    CHECK(!take(OTHER, &info));
    CHECK(take(SIGCHLD, &info) && info.si_code == CLD_EXITED && info.si_pid == child &&
          info.si_status == STATUS);
    CHECK(!take(SIGCHLD, &info));
    send_all();
}
