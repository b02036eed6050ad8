/* signals.c - signals that terminals and batch systems send to whole process trees; only the agent
 * reacts.
 *
 * HUP, INT, TERM, USR1 and USR2 that are at their default get a handler which does nothing unless
 * the agent has announced a stop on the board.  A handler, not SIG_IGN, because exec resets a
 * handler to the default, so that programs started by a rank behave as usual.  The signal by which
 * the agent stops a computing rank gets the same handler; few programs use that signal, and it is
 * harmless in those that reset it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "lib/rt/rt.h"

static const int watched[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, BSPZ_LEAVE_SIGNAL};
#define WATCHED (sizeof watched / sizeof watched[0])

static bool replaced[WATCHED];

/* Without bsprun, pid 0 is the process that users and shells know: signals sent to it, or to it as
 * session leader by a closed terminal, are meant for the job.  The terminal's keys signal the agent
 * directly. */
static bool is_for_the_job(int number, const siginfo_t *info)
{
    if (!bspz_rt.bare || bspz_rt.pid != 0 || bspz_rt.life == BSPZ_LIFE_LEAVING)
        return false;
    if (number != SIGHUP && number != SIGINT && number != SIGTERM)
        return false;
    if (info->si_code <= 0) /* from a process; raise() is left to the program */
        return info->si_pid != getpid();
    return number == SIGHUP;
}

/* A rank that waits in a barrier is woken by the board and exits there; one that computes exits
 * here. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    const struct bspz_board *board = bspz_rt.board;
    uint32_t stop = atomic_load(&board->stop);

    (void)context;
    if (stop == BSPZ_STOP_NONE && bspz_agent_gone(board)) {
        /* The agent is dead and cannot react. */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    if (stop == BSPZ_STOP_NONE && is_for_the_job(number, info)) {
        int before = errno;

        kill(board->agent_pid, number);
        errno = before;
        return;
    }
    if (stop == BSPZ_STOP_NONE || bspz_rt.life == BSPZ_LIFE_LEAVING ||
        (bspz_rt.self && atomic_load(&bspz_rt.self->in_barrier)))
        return;
    bspz_cut_short();
    if (stop == BSPZ_STOP_SIGNAL) {
        int fatal = atomic_load(&board->stop_status);
        sigset_t set;

        signal(fatal, SIG_DFL);
        sigemptyset(&set);
        sigaddset(&set, fatal);
        raise(fatal);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
    }
    _exit(atomic_load(&board->stop_status));
}

static bool is_stdout_unread(void)
{
    struct pollfd entry = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&entry, 1, 0) > 0 && entry.revents & (POLLERR | POLLHUP);
}

/* `./prog | head -1` must not print an error.  bsprun notices itself that its stdout has no reader;
 * the agent of a bare run does not have the caller's pipes and is informed here.  When this
 * returns, the process dies of the signal as usual. */
static void on_broken_pipe(int number)
{
    if (bspz_rt.self && getpid() == atomic_load(&bspz_rt.self->ospid) && is_stdout_unread())
        atomic_store(&bspz_rt.self->unread, 1);
    signal(number, SIG_DFL);
    raise(number);
}

static bool is_default(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
}

void bspz_signals_begin(void)
{
    for (size_t i = 0; i < WATCHED; i++) {
        const struct sigaction quiet = {.sa_sigaction = on_signal,
                                        .sa_flags = SA_RESTART | SA_SIGINFO};

        if (is_default(watched[i]) && sigaction(watched[i], &quiet, NULL) == 0)
            replaced[i] = true;
    }
    if (bspz_rt.board->flags & BSPZ_BOARD_BARE && is_default(SIGPIPE))
        signal(SIGPIPE, on_broken_pipe);
    /* Background process groups must not stop when they write to a terminal with tostop. */
    if (bspz_rt.pid > 0 && is_default(SIGTTOU))
        signal(SIGTTOU, SIG_IGN);
}

void bspz_signals_end(void)
{
    struct sigaction pipe;

    for (size_t i = 0; i < WATCHED; i++) {
        struct sigaction now;

        if (replaced[i] && sigaction(watched[i], NULL, &now) == 0 && now.sa_sigaction == on_signal)
            signal(watched[i], SIG_DFL);
        replaced[i] = false;
    }
    if (sigaction(SIGPIPE, NULL, &pipe) == 0 && pipe.sa_handler == on_broken_pipe)
        signal(SIGPIPE, SIG_DFL);
}
