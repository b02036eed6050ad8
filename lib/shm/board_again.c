/* board_again.c - the shared memory of a restored job. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/shm/board.h"

int bspz_board_map_again(int fd, const struct bspz_layout *layout, void *at)
{
    int error = bspz_board_grow(fd, layout->total);
    struct bspz_board *board;

    if (error)
        return error;
    board =
        mmap(at, layout->total, PROT_NONE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0);
    if (board == MAP_FAILED)
        return -errno;
    madvise(board, layout->total, MADV_DONTDUMP);
    error = bspz_board_open_front(board, layout);
    if (error)
        return error;
    board->layout = *layout; /* all ranks write the same value */
    return 0;
}

_Static_assert(offsetof(struct bspz_rank, line) == 0, "what is kept of a rank comes first");

void bspz_board_receive(struct bspz_board *board, int pid, uint32_t host, uint64_t superstep)
{
    struct bspz_rank *rank = bspz_rank_of(board, pid);
    uint32_t names = atomic_load(&rank->file_count);
    struct bspz_line *line = &rank->line[superstep & 1];

    atomic_store(&line->stamp, 0); /* it has to come to this one again */
    atomic_store(&line->matched, 0);
    atomic_store(&line->replied, 0);
    memset((char *)rank + sizeof rank->line, 0, sizeof *rank - sizeof rank->line);
    atomic_store(&rank->host, host);
    atomic_store(&rank->file_count, names);
    atomic_store(&rank->superstep, superstep);
    atomic_store(&rank->applied, superstep);
    atomic_store(&rank->core, -1);
}

static void reset_slot(struct bspz_board *board, int pid)
{
    memset(bspz_rank_of(board, pid), 0, sizeof(struct bspz_rank));
}

static void reset_snap(struct bspz_board *board, int nprocs, int pid)
{
    struct bspz_snap *snap = bspz_snap_of(board, nprocs, pid);

    atomic_store(&snap->recorded, 0);
    atomic_store(&snap->written, 0);
    atomic_store(&snap->staged, 0);
    atomic_store(&snap->settled, 0);
    atomic_store(&snap->copy_slot, -1);
    atomic_store(&snap->writer.state, BSPZ_SNAP_NOBODY);
    snap->error = 0;
    snap->refused = snap->fell_back = 0;
    snap->why[0] = '\0';
}

/* Frees the memory beyond the agent's part, which then reads as zeros. */
static void empty(int fd, const struct bspz_layout *layout, int nprocs)
{
    uint64_t start = layout->tables, end = layout->blocks ? layout->blocks : layout->windows;

    if (start >= bspz_agent_bytes(nprocs) && end > start)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)start,
                  (off_t)(end - start));
    if (layout->mail >= bspz_agent_bytes(nprocs) && layout->total > layout->mail)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)layout->mail,
                  (off_t)(layout->total - layout->mail));
}

void bspz_board_reset(struct bspz_board *board, int fd, int nprocs)
{
    for (int pid = 0; pid < nprocs; pid++) {
        reset_slot(board, pid);
        reset_snap(board, nprocs, pid);
    }
    empty(fd, &board->layout, nprocs);
    atomic_store(&board->phase, BSPZ_PHASE_LAYOUT);
    atomic_store(&board->clones_free, 1);
    atomic_store(&board->clone_error, 0);
    atomic_store(&board->stop, BSPZ_STOP_NONE);
    atomic_store(&board->stop_status, 0);
    atomic_store(&board->consult_from, UINT64_MAX);
    atomic_store(&board->consulted, 0);
    atomic_store(&board->answer, 0);
    atomic_store(&board->answered, 0);
    atomic_store(&board->speaker, 0);
    atomic_store(&board->snap_resumed, 0);
    atomic_store(&board->snap_passed, 0);
    atomic_store(&board->sleepers, 0);
    atomic_store(&board->wake_sequence, 0);
    atomic_store(&board->stamps_here, 0);
}
