/* common_memory.c - the memfd of the program's own memory that all processes of a job share.
 *
 * Processes map it and close it; the agent keeps it open for processes to be restored.  It has the
 * maximal length, and takes memory only for used pages.
 *
 * What can fail: RLIMIT_FSIZE permits no such length: the job goes on without it. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/snapshot/inside.h"
#include "ckpt/capture/capture.h"
#include "lib/shm/board.h"

void agent_common_open(struct agent *agent)
{
    int file = memfd_create(BSPZ_COMMON_NAME, MFD_CLOEXEC);

    if (file >= 0 && bspz_board_grow(file, BSPZ_COMMON_BYTES) != 0) {
        close(file);
        file = -1;
    }
    snapshots_of(agent)->common = file < 0 ? -1 : bspz_move_to_top(file);
    agent_board(agent)->common_fd = file < 0 ? 0 : snapshots_of(agent)->common;
}

void agent_common_begin(struct agent *agent)
{
    int file = snapshots_of(agent)->common;

    agent_board(agent)->common_fd = 0;
    if (file < 0 || agent_here(agent) < agent_nprocs(agent))
        return;
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)BSPZ_COMMON_BYTES);
    agent_board(agent)->common_fd = file;
}

void agent_common_close(struct agent *agent)
{
    if (snapshots_of(agent)->common >= 0)
        close(snapshots_of(agent)->common);
    snapshots_of(agent)->common = -1;
}
