/* save_none.c - no snapshots on processors without support in ckpt/capture. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/rt/save.h"

/* Refuses the first snapshot, with a message to the user. */
static void refuse(void)
{
    struct bspz_board *board = bspz_rt.board;
    struct bspz_snap *snap = bspz_snap_of(board, bspz_rt.nprocs, bspz_rt.pid);

    snap->error = ENOSYS;
    snap->refused = 1;
    snprintf(snap->why, sizeof snap->why, "snapshots are not possible on this kind of processor");
    atomic_store(&snap->written, board->snap_order.name.superstep + 1);
    bspz_board_ring(board);
}

void bspz_save_superstep(void)
{
    refuse();
    atomic_store(&bspz_snap_of(bspz_rt.board, bspz_rt.nprocs, bspz_rt.pid)->recorded,
                 bspz_rt.superstep + 1);
    bspz_board_ring(bspz_rt.board);
    if (bspz_resume_wait(bspz_rt.board, bspz_rt.superstep) != BSPZ_WAIT_DONE)
        bspz_leave();
}

bool bspz_save_start(void)
{
    refuse();
    return false;
}

void bspz_save_complete(void)
{
}

void bspz_save_own(void)
{
}

bool bspz_can_be_alone(void)
{
    return false;
}

void bspz_restore(const char *value)
{
    (void)value;
    _exit(1);
}

void bspz_inherited_note(int but)
{
}

void bspz_inherited_stdin(void)
{
}
