/* signals.c - terminal and batch systems signal whole process trees; only the agent acts on that.
 *
 * HUP, INT, TERM, USR1 and USR2 that are at their default get a handler which does nothing unless
 * the agent has announced a stop on the board.  A handler, not SIG_IGN, because exec turns a
 * handler back into the default: programs that a rank starts behave as ever.  So does the signal by
 * which the agent makes a rank that computes leave; few programs use it, and it is harmless in those
 * that reset it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "lib/rt/rt.h"

static const int watched[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, BSPZ_LEAVE_SIGNAL};
#define WATCHED (sizeof watched / sizeof watched[0])

static bool replaced[WATCHED];

/* Without bsprun, pid 0 is the process that users and shells know: what they send it, or a terminal
 * that is closed tells it as the leader of the session, is meant for the job.  A terminal's keys
 * reach the agent directly. */
static bool is_for_the_job(int number, const siginfo_t *info)
{
    if (!bspz_rt.bare || bspz_rt.pid != 0 || bspz_rt.life == BSPZ_LIFE_LEAVING)
        return false;
    if (number != SIGHUP && number != SIGINT && number != SIGTERM)
        return false;
    if (info->si_code <= 0) /* from a process; raise() is the program's own affair */
        return info->si_pid != getpid();
    return number == SIGHUP;
}

/* A rank that waits in a barrier is woken by the board and leaves in good order; one that computes
 * leaves here. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    const struct bspz_board *board = bspz_rt.board;
    uint32_t stop = atomic_load(&board->stop);

    (void)context;
    if (stop == BSPZ_STOP_NONE && bspz_agent_gone(board)) {
        /* Nobody is left to act on it for us. */
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

/* In `./prog | head -1` nobody wants a report.  bsprun sees by itself that its stdout is no longer
 * read; the agent of a bare run, which does not hold the caller's pipes, is told.  When this
 * returns, the process dies of the signal as ever. */
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
    /* Groups of their own must not stop when the terminal says that only one may write. */
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
