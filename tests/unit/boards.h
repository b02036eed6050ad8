/* boards.h - boards of several hosts in one process, with ranks that only pretend. */
#ifndef TESTS_UNIT_BOARDS_H
#define TESTS_UNIT_BOARDS_H

#include "lib/shm/barrier.h"
#include "lib/shm/exchange.h"

#define BOARDS_PROCS 8

struct board_host {
    int fd, nprocs;
    struct bspz_board *board;
    uint64_t top[BOARDS_PROCS][2]; /* first free place of each half */
};

/* The board of `host`; process i lives on host_of[i]. */
void board_make(struct board_host *at, int host, int nprocs, const int *host_of,
                uint64_t half_bytes);
void board_free(struct board_host *at);

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
/* Of what belongs to a rank alone: its slot, names, first areas, and what its halves begin with. */
uint64_t board_sum(const struct board_host *at, int pid);
void board_name(struct board_host *at, int pid, const char *name);

#endif
