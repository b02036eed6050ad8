/* barrier.h - how ranks wait for each other: spin while cores are free, then sleep on a futex.
 *
 * A rank announces itself by storing a stamp in its own line; nobody shares a counter, so an empty
 * barrier costs one cache line transfer per partner.  Only the one who sees that all have arrived
 * wakes sleepers, and only if there are any.
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

/* By the agent, for ranks of another host: stores the stamps of all of them, in whose places there is
 * everything now that they vouch for. */
void bspz_barrier_mirror(struct bspz_board *board, int nprocs, const int *pids, int count,
                         uint64_t superstep, enum bspz_stage stage);

/* Whether all these ranks have stored theirs. */
bool bspz_barrier_reached(struct bspz_board *board, const int *pids, int count, uint64_t superstep,
                          enum bspz_stage stage);

/* Waits until all ranks have stored their stamps of `superstep`.  Spins at most board->spin_ns.
 * STOPPED when the agent asked for a stop, AGENT_GONE when the agent has died. */
enum bspz_wait bspz_barrier_wait(struct bspz_board *board, int nprocs, int pid, uint64_t superstep,
                                 enum bspz_stage stage);

/* Waits for the coordinator's answer to the consultation of `superstep`. */
enum bspz_wait bspz_answer_wait(struct bspz_board *board, uint64_t superstep);

/* Waits until all ranks of the job have recorded the snapshot of `superstep` completed supersteps. */
enum bspz_wait bspz_resume_wait(struct bspz_board *board, uint64_t superstep);

/* Has the node agent died?  (An agent that is dead but not reaped counts as dead.) */
bool bspz_agent_gone(const struct bspz_board *board);

/* Wakes every sleeping rank; for whoever changed something they wait for. */
void bspz_barrier_wake(struct bspz_board *board);

#endif
