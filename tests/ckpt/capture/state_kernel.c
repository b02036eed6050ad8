/* state_kernel.c - what the kernel keeps: signals, masks, alternate stack, timers, floating-point
 * environment, thread id, name. */
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ckpt/capture/state.h"

static volatile sig_atomic_t usr1_seen, usr1_on_stack, alarms;
static char alternate[64 * 1024];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void on_usr1(int number, siginfo_t *info, void *context)
{
    char here;

    (void)number;
    (void)context;
    usr1_seen += info->si_pid == getpid();
    usr1_on_stack += &here > alternate && &here < alternate + sizeof alternate;
}

static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

void kernel_set(void)
{
    const struct itimerval far = {{3, 0}, {1000, 0}};
    const struct itimerval virtual = {{2, 0}, {500, 0}};
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_sigaction = on_usr1, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigset_t mask;

    CHECK(sigaltstack(&stack, NULL) == 0);
    sigaddset(&action.sa_mask, SIGWINCH);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    signal(SIGALRM, on_alarm);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigaddset(&mask, SIGRTMIN + 3);
    CHECK(sigprocmask(SIG_BLOCK, &mask, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &far, NULL) == 0);
    CHECK(setitimer(ITIMER_VIRTUAL, &virtual, NULL) == 0);
    CHECK(fesetround(FE_UPWARD) == 0);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_INEXACT | FE_DIVBYZERO);
    CHECK(prctl(PR_SET_NAME, "state of mine") == 0);
    pthread_mutex_lock(&mutex);
}

void kernel_spoil(void)
{
    signal(SIGUSR1, SIG_DFL);
    fesetround(FE_TONEAREST);
}

static void check_signals(int hop)
{
    struct sigaction action;
    stack_t stack;
    sigset_t mask;

    CHECK(sigaltstack(NULL, &stack) == 0 && stack.ss_sp == alternate &&
          stack.ss_size == sizeof alternate);
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_sigaction == on_usr1);
    CHECK((action.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_NODEFER | (int)SA_RESETHAND)) ==
          (SA_SIGINFO | SA_ONSTACK));
    CHECK(sigismember(&action.sa_mask, SIGWINCH));
    CHECK(signal(SIGPIPE, SIG_IGN) == SIG_IGN);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
    CHECK(sigismember(&mask, SIGUSR2) && sigismember(&mask, SIGRTMIN + 3));
    CHECK(!sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGTERM));
    CHECK(raise(SIGUSR1) == 0);
    CHECK(usr1_seen == hop && usr1_on_stack == hop);
}

static void check_timers(void)
{
    struct itimerval now, soon = {{0, 0}, {0, 1000}}, before;
    sigset_t alarm, before_mask;
    int seen = alarms;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    CHECK(sigprocmask(SIG_BLOCK, &alarm, &before_mask) == 0);
    CHECK(getitimer(ITIMER_REAL, &now) == 0 && now.it_interval.tv_sec == 3);
    CHECK(now.it_value.tv_sec > 100 && now.it_value.tv_sec <= 1000);
    CHECK(getitimer(ITIMER_VIRTUAL, &before) == 0 && before.it_interval.tv_sec == 2 &&
          before.it_value.tv_sec > 300);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    while (alarms == seen)
        sigsuspend(&before_mask);
    CHECK(setitimer(ITIMER_REAL, &now, NULL) == 0);
    CHECK(sigprocmask(SIG_SETMASK, &before_mask, NULL) == 0);
}

static void *answer(void *argument)
{
    return argument;
}

static void check_thread(void)
{
    pthread_t thread;
    void *result;
    int status;
    pid_t child;

    CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
    CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0);
    /* A thread can be made and joined, a child made and waited for: libc's own ids are right. */
    CHECK(pthread_create(&thread, NULL, answer, &mutex) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == &mutex);
    CHECK(pthread_kill(pthread_self(), 0) == 0);
    child = fork();
    if (child == 0)
        _exit(getppid() == 1 ? 1 : 17);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 17);
}

void kernel_check(int hop)
{
    volatile double one = 1, three = 3;
    double up;
    char name[16];

    CHECK(fegetround() == FE_UPWARD);
    CHECK(fetestexcept(FE_INEXACT | FE_DIVBYZERO) == (FE_INEXACT | FE_DIVBYZERO));
    up = one / three;
    CHECK(up > 0.33333333333333331483);
    CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "state of mine") == 0);
    check_signals(hop);
    check_timers();
    check_thread();
}
