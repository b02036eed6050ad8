/* exit.c - programs that leave the SPMD part by exit() or the like, without bsp_end. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/rt/rt.h"

/* The shell must not see a status, 256 say, as 0. */
static int as_failure(int status)
{
    return status & 0xff ? status : 1;
}

/* The program left without bsp_end.  Oxford's library treated that as the end of the SPMD part,
 * whatever the status. */
static void left_inside(int status)
{
    if (bspz_rt.oxford) {
        bspz_sync_exit_barrier();
        bspz_trace_end();
        bspz_set_leaving(status);
        bspz_announce(BSPZ_RANK_ENDED, status);
        return;
    }
    bspz_set_leaving(as_failure(status));
    bspz_end_flushed(BSPZ_RANK_EXITED, status, as_failure(status));
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    if (bspz_rt.life == BSPZ_LIFE_SPMD)
        left_inside(status);
}

static int begun_with; /* status of the exit() that has begun in the SPMD part */

/* Runs before the exit handlers and destructors that were registered earlier. */
static void at_begin_of_exit(int status, void *unused)
{
    (void)unused;
    if (bspz_rt.life == BSPZ_LIFE_SPMD && !bspz_rt.oxford)
        begun_with = status;
}

void bspz_arm_begin_of_exit(void)
{
    on_exit(at_begin_of_exit, NULL);
}

/* A nested exit() continues with the remaining handlers.  If the SPMD part is left, the last of
 * them, at_exit, tells the agent. */
void bspz_go_on_leaving(void)
{
    if (bspz_rt.life == BSPZ_LIFE_LEAVING)
        exit(bspz_rt.leaving_status);
    if (bspz_rt.life == BSPZ_LIFE_SPMD && begun_with != 0)
        exit(begun_with);
}

/* Without bsprun the status of process 0 is that of the job and goes to the shell directly.  So
 * exits that run no handlers call this, too; bspcc arranges that (link_object.c).  A child, which
 * may share our memory (vfork), is not affected. */
static int status_at_once(int status)
{
    if (bspz_rt.life != BSPZ_LIFE_SPMD || bspz_rt.pid != 0 || !bspz_rt.self ||
        !(bspz_rt.board->flags & BSPZ_BOARD_BARE) ||
        atomic_load(&bspz_rt.board->stop) != BSPZ_STOP_NONE ||
        getpid() != atomic_load(&bspz_rt.self->ospid))
        return status;
    bspz_set_leaving(as_failure(status));
    bspz_announce(BSPZ_RANK_EXITED, status);
    return as_failure(status);
}

/* In the object that bspcc adds to a program: maps the exit status; NULL until libbsp is loaded. */
extern int (*bspz_exit_status)(int status) __attribute__((weak));

void bspz_arm_exit_hook(void)
{
    on_exit(at_exit, NULL);
    if (&bspz_exit_status)
        bspz_exit_status = status_at_once;
}
