/* common_memory.c - the memfd of the program's own memory that all processes of a job share.
 *
 * Processes map it and close it; the agent keeps it open for processes to be restored.  It has the
 * maximal length, and takes memory only for used pages. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bsprun/agent/snapshot/inside.h"
#include "ckpt/capture/capture.h"

void agent_common_open(struct agent *agent)
{
    int file = memfd_create(BSPZ_COMMON_NAME, MFD_CLOEXEC);

    if (file >= 0 && ftruncate(file, (off_t)BSPZ_COMMON_BYTES) != 0) {
        close(file);
        file = -1;
    }
    agent->snapshots->common = file < 0 ? -1 : bspz_move_to_top(file);
    agent->board->common_fd = file < 0 ? 0 : agent->snapshots->common;
}

void agent_common_begin(struct agent *agent)
{
    int file = agent->snapshots->common;

    agent->board->common_fd = 0;
    if (file < 0 || agent->here < agent->nprocs)
        return;
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)BSPZ_COMMON_BYTES);
    agent->board->common_fd = file;
}

void agent_common_close(struct agent *agent)
{
    if (agent->snapshots->common >= 0)
        close(agent->snapshots->common);
    agent->snapshots->common = -1;
}
