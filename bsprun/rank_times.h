/* rank_times.h - how long processes have computed, communicated and waited, read from the board
 * while they run.
 *
 * A process counts its times (lib/rt/times.h) always, or only while it is wanted: a look at the
 * clock costs as much as a short superstep.
 */
#ifndef BSPRUN_RANK_TIMES_H
#define BSPRUN_RANK_TIMES_H

#include <stdint.h>

#include "lib/shm/board.h"
#include "lib/wire/wire.h"

/* Nanoseconds in which the process was counted. */
struct rank_times {
    uint64_t compute_ns, communicate_ns, wait_ns;
};

/* From this moment of the monotonic clock on the process counts, if it does not yet. */
void rank_times_want(struct bspz_board *board, int pid, uint64_t now_ns);
/* It counts no more, unless it does so always. */
void rank_times_end(struct bspz_board *board, int pid);

/* What it has counted, with the activity, seen by its state, of which the end is not counted yet.
 * While it counts, no time is less than at an earlier moment, but after a rollback, or when the
 * process was stopped within the few instructions that change a counter.  Whatever the slot
 * contains, this returns. */
struct rank_times rank_times_read(const struct bspz_board *board, int pid,
                                  enum wire_rank_state state, uint64_t now_ns);

#endif
