/* leave.c - the ways out of a job: asked to by the agent, or by the program's own doing. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/rt/rt.h"

#define AGENT_CHECK_MS 500

void bspz_announce(enum bspz_rank_state state, int status)
{
    if (!bspz_rt.self)
        return;
    atomic_store(&bspz_rt.self->exit_status, status);
    bspz_word_set(&bspz_rt.self->state, (uint32_t)state);
    bspz_board_ring(bspz_rt.board);
}

void bspz_leave(void)
{
    static const char orphaned[] = "bspzero: the node agent of this job has died; leaving\n";
    struct bspz_board *board = bspz_rt.board;
    int status = atomic_load(&board->stop_status);

    bspz_rt.life = BSPZ_LIFE_LEAVING;
    if (bspz_rt.self)
        bspz_note(BSPZ_CALL_EXIT, 0); /* for the agent, which waits for process 0 of a bare run */
    bspz_trace_cut();
    switch (atomic_load(&board->stop)) {
    case BSPZ_STOP_SIGNAL:
        fflush(NULL);
        signal(status, SIG_DFL);
        raise(status);
        _exit(128 + status);
    case BSPZ_STOP_ABORT:
        exit(status);
    default:
        if (!atomic_exchange(&board->orphaned, 1))
            bspz_write_stderr(orphaned, sizeof orphaned - 1);
        exit(1);
    }
}

void bspz_leave_when_stopped(void)
{
    struct bspz_board *board = bspz_rt.board;

    fflush(stdout);
    while (atomic_load(&board->stop) == BSPZ_STOP_NONE && !bspz_agent_gone(board))
        bspz_word_wait(&board->stop, BSPZ_STOP_NONE, AGENT_CHECK_MS);
    bspz_leave();
}

/* What the shell sees of `status`, which may be 256, is not to be 0. */
static int as_failure(int status)
{
    return status & 0xff ? status : 1;
}

/* The program left without bsp_end.  Oxford's library took that for the end of the SPMD part,
 * whatever the status. */
static void left_inside(int status)
{
    if (bspz_rt.oxford) {
        bspz_sync_exit_barrier();
        bspz_trace_end();
        bspz_rt.life = BSPZ_LIFE_LEAVING;
        bspz_announce(BSPZ_RANK_ENDED, 0);
        return;
    }
    bspz_rt.life = BSPZ_LIFE_LEAVING;
    fflush(NULL);
    bspz_trace_cut();
    bspz_announce(BSPZ_RANK_EXITED, status);
    _exit(as_failure(status));
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    if (bspz_rt.life == BSPZ_LIFE_SPMD)
        left_inside(status);
}

/* Without bsprun the status of process 0 is that of the job and goes to the shell directly.  So the
 * ways out that run no handler have to come by here; bspcc sees to that (link_object.c).  A child,
 * which may share our memory (vfork), leaves as it likes. */
static int status_at_once(int status)
{
    if (bspz_rt.life != BSPZ_LIFE_SPMD || bspz_rt.pid != 0 || !bspz_rt.self ||
        !(bspz_rt.board->flags & BSPZ_BOARD_BARE) ||
        atomic_load(&bspz_rt.board->stop) != BSPZ_STOP_NONE ||
        getpid() != atomic_load(&bspz_rt.self->ospid))
        return status;
    bspz_rt.life = BSPZ_LIFE_LEAVING;
    bspz_announce(BSPZ_RANK_EXITED, status);
    return as_failure(status);
}

/* In the object that bspcc adds to a program: what status to leave with, NULL as long as libbsp is
 * not there. */
extern int (*bspz_exit_status)(int status) __attribute__((weak));

void bspz_arm_exit_hook(void)
{
    on_exit(at_exit, NULL);
    if (&bspz_exit_status)
        bspz_exit_status = status_at_once;
}
