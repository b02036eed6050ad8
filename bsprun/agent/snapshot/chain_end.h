/* chain_end.h - pure: decides whether the images of the next snapshot are full.
 *
 * The agent of each host decides for its own processes, and all agents decide alike, as they use
 * the committed snapshots only: a snapshot of full images needs no older ones.
 */
#ifndef BSPRUN_AGENT_SNAPSHOT_CHAIN_END_H
#define BSPRUN_AGENT_SNAPSHOT_CHAIN_END_H

#include <stdbool.h>
#include <stdint.h>

struct manifest; /* ckpt/manifest.h */

/* The position of the images of the newest committed snapshot in their chains, over all hosts. */
struct chain_end {
    uint32_t length; /* the maximal number of bases */
    bool on_first;   /* some chains end with the image of snapshot 0, which is shared */
};

/* The position for a snapshot from which the job begins; first: the superstep of the snapshot at
 * the end of its chains. */
struct chain_end chain_end_of(const struct manifest *manifest, uint64_t first);
/* The position after a commit of a snapshot after that of `superstep`, with increments on it or
 * full images. */
struct chain_end chain_end_next(struct chain_end before, uint64_t superstep, bool full);
/* Whether the next images must be full if `keep` snapshots are retained (0: all); last: the
 * processes wait for them, and chains may be longer by one. */
bool chain_end_is_due(struct chain_end chain, uint32_t keep, bool last);

#endif
