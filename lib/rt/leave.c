/* leave.c - the way out of a job that the agent has asked for. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/rt/rt.h"

#define AGENT_CHECK_MS   500
#define FLUSH_SECONDS    5 /* at most, when the process ends, */
#define LANGUAGE_SECONDS 2 /* and for streams of Fortran and C++ */

void bspz_leave(void)
{
    static const char orphaned[] = "bspzero: the node agent of this job has died; terminating\n";
    struct bspz_board *board = bspz_rt.board;
    uint32_t stop = atomic_load(&board->stop);
    int status = atomic_load(&board->stop_status);

    bspz_set_leaving(stop == BSPZ_STOP_ABORT    ? status
                     : stop == BSPZ_STOP_SIGNAL ? 128 + status
                                                : 1);
    if (bspz_rt.self)
        bspz_note(BSPZ_CALL_EXIT, 0); /* for the agent, which waits for process 0 of a bare run */
    bspz_cut_short();
    switch (stop) {
    case BSPZ_STOP_SIGNAL:
        bspz_stdio_flush_all();
        signal(status, SIG_DFL);
        raise(status);
        _exit(bspz_rt.leaving_status);
    case BSPZ_STOP_ABORT:
        exit(bspz_rt.leaving_status);
    default:
        if (!atomic_exchange(&board->orphaned, 1))
            bspz_write_all(STDERR_FILENO, orphaned, sizeof orphaned - 1);
        exit(bspz_rt.leaving_status);
    }
}

static struct {
    bool is_told; /* to the agent */
    enum bspz_rank_state state;
    int status, exit_status;
    volatile uint64_t until_ns;
} last;

static BSPZ_NORETURN void end_now(void)
{
    bspz_cut_short();
    if (last.is_told)
        bspz_announce(last.state, last.status);
    _exit(last.exit_status);
}

/* Another SIGALRM may be one of the program's. */
static void on_late(int number)
{
    (void)number;
    if (bspz_now_ns() >= last.until_ns)
        end_now();
}

static void end_after(unsigned seconds)
{
    last.until_ns = bspz_now_ns() + seconds * UINT64_C(1000000000) - 1000000;
    alarm(seconds);
}

static void expect_alarm(void)
{
    const struct sigaction late = {.sa_handler = on_late};
    sigset_t alarms;

    last.until_ns = UINT64_MAX;
    alarm(0);
    signal(SIGALRM, SIG_IGN); /* forgets one that is pending */
    sigaction(SIGALRM, &late, NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
}

/* Another thread may hold a stream, as while it waits for input; and a runtime error of Fortran
 * ends the program while the unit concerned is locked, which would be waited for. */
static BSPZ_NORETURN void flush_and_end(void)
{
    expect_alarm();
    end_after(FLUSH_SECONDS);
    fflush(stdout);
    fflush(NULL);
    end_after(LANGUAGE_SECONDS);
    bspz_stdio_flush_languages();
    alarm(0);
    end_now();
}

void bspz_end_flushed(enum bspz_rank_state state, int status, int exit_status)
{
    last.is_told = true;
    last.state = state;
    last.status = status;
    last.exit_status = exit_status;
    flush_and_end();
}

void bspz_end_flushed_untold(int exit_status)
{
    last.exit_status = exit_status;
    flush_and_end();
}

void bspz_leave_when_stopped(void)
{
    struct bspz_board *board = bspz_rt.board;

    fflush(stdout);
    while (atomic_load(&board->stop) == BSPZ_STOP_NONE && !bspz_agent_gone(board))
        bspz_word_wait(&board->stop, BSPZ_STOP_NONE, AGENT_CHECK_MS);
    bspz_leave();
}
