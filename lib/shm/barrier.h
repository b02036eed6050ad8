/* barrier.h - how ranks wait for each other: spin while cores are free, then sleep on a futex.
 *
 * A rank arrives by storing a stamp in its own line; there is no shared counter, so an empty
 * barrier costs one cache line transfer per partner.  Only the rank that sees that all have arrived
 * wakes sleepers, if there are any.
 */
#ifndef BSPZ_SHM_BARRIER_H
#define BSPZ_SHM_BARRIER_H

#include "lib/shm/board.h"

enum bspz_wait { BSPZ_WAIT_DONE, BSPZ_WAIT_STOPPED, BSPZ_WAIT_AGENT_GONE };

/* Which stamp of a line a barrier compares. */
enum bspz_stage { BSPZ_STAGE_ARRIVED, BSPZ_STAGE_MATCHED, BSPZ_STAGE_REPLIED };

/* Stores this rank's stamp for `superstep` and wakes sleepers if it was the last. */
void bspz_barrier_arrive(struct bspz_board *board, int nprocs, int pid, uint64_t superstep,
                         enum bspz_stage stage);

/* Called by the agent for ranks of another host: stores their stamps, after all data that the
 * stamps announce. */
void bspz_barrier_mirror(struct bspz_board *board, int nprocs, const int *pids, int count,
                         uint64_t superstep, enum bspz_stage stage);

/* Called by the agent, with BSPZ_BOARD_REPLICAS: opens the gate of this stage, which no rank passes
 * before. */
void bspz_barrier_open(struct bspz_board *board, int nprocs, uint64_t superstep,
                       enum bspz_stage stage);

/* Whether all these ranks have stored their stamps. */
bool bspz_barrier_reached(struct bspz_board *board, const int *pids, int count, uint64_t superstep,
                          enum bspz_stage stage);

/* Waits until all ranks have stored their stamps of `superstep`.  Spins at most board->spin_ns.
 * STOPPED when the agent asked for a stop, AGENT_GONE when the agent has died. */
enum bspz_wait bspz_barrier_wait(struct bspz_board *board, int nprocs, int pid, uint64_t superstep,
                                 enum bspz_stage stage);

/* Waits for the coordinator's answer to the consultation of `superstep`. */
enum bspz_wait bspz_answer_wait(struct bspz_board *board, uint64_t superstep);

/* Waits until all ranks of the job have recorded the snapshot of `superstep` completed supersteps.
 */
enum bspz_wait bspz_resume_wait(struct bspz_board *board, uint64_t superstep);

/* Spins while *word == value, at most board->spin_ns; false: it still is. */
bool bspz_word_spin(struct bspz_board *board, _Atomic uint32_t *word, uint32_t value);

/* Whether the node agent has died (also if it has not been reaped). */
bool bspz_agent_gone(const struct bspz_board *board);

/* Wakes all sleeping ranks, after a change of something they wait for. */
void bspz_barrier_wake(struct bspz_board *board);

/* A pause of a few cycles, for loops that wait for memory to change. */
static inline void bspz_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
