/* boards.h - boards of several hosts in one process, with ranks that only pretend. */
#ifndef TESTS_UNIT_BOARDS_H
#define TESTS_UNIT_BOARDS_H

#include "lib/shm/barrier.h"
#include "lib/shm/exchange.h"

#define BOARDS_PROCS     8
#define BOARD_BACKED_MAX 64

struct board_range {
    uint64_t first, last;
};

struct board_host {
    int fd, nprocs;
    struct bspz_board *board;
    uint64_t top[BOARDS_PROCS][2]; /* first free place of each half */
    /* What board_keep saw: the backed ranges, and their bytes one after the other. */
    struct board_range kept_at[BOARD_BACKED_MAX];
    unsigned kept_count;
    uint64_t kept_bytes;
    void *kept;
};

/* The board of `host`; process i lives on host_of[i]. */
void board_make(struct board_host *at, int host, int nprocs, const int *host_of,
                uint64_t half_bytes);
void board_free(struct board_host *at);

/* Remembers the memory of the board; board_restore puts all of it back, so that a board can be used
 * again and again for less than it costs to make one. */
void board_keep(struct board_host *at);
void board_restore(struct board_host *at);

/* Begins a half anew. */
void board_empty(struct board_host *at, int pid, uint64_t superstep);
/* Room in a half behind what was taken, in the first stretch that has it from place `from` on. */
void *board_take(struct board_host *at, int pid, uint64_t superstep, uint64_t from, uint64_t bytes);

/* A chain of chunks with `bytes` each, whose contents follow from all of these numbers. */
void board_send(struct board_host *at, int from, int to, enum bspz_kind kind, uint64_t superstep,
                unsigned chunks, uint64_t bytes, uint64_t place);
/* Whether just that chain is there. */
bool board_has(const struct board_host *at, int from, int to, enum bspz_kind kind,
               uint64_t superstep, unsigned chunks, uint64_t bytes);

/* Fills in the line and arrives. */
void board_arrive(struct board_host *at, int pid, uint64_t superstep, uint32_t flags);
/* So many pushes of slots from `slot` on. */
void board_push(struct board_host *at, int pid, uint64_t superstep, uint32_t slot, uint32_t count);
/* Of what belongs to the ranks of this host alone: their slots, first names, areas and halves. */
uint64_t board_sum(const struct board_host *at);
void board_name(struct board_host *at, int pid, const char *name);

#endif
