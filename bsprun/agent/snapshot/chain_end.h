/* chain_end.h - pure: when the images of a job's next snapshot shall be full.
 *
 * The agent of each host says it for its own processes, and all agents say the same, because they go
 * by what was committed: with a snapshot in which all images are full, nothing older is needed.
 */
#ifndef BSPRUN_AGENT_SNAPSHOT_CHAIN_END_H
#define BSPRUN_AGENT_SNAPSHOT_CHAIN_END_H

#include <stdbool.h>
#include <stdint.h>

struct manifest; /* ckpt/manifest.h */

/* Where the images of the newest committed snapshot are in their chains, those of all hosts together. */
struct chain_end {
    uint32_t length; /* the most images that any of them builds on */
    bool on_first;   /* some build on the image of snapshot 0, which the processes share */
};

/* Of a snapshot that the job goes on from. */
struct chain_end chain_end_of(const struct manifest *manifest);
/* Of a snapshot that is committed after one of `superstep`, with images that build on that, or full ones. */
struct chain_end chain_end_next(struct chain_end before, uint64_t superstep, bool full);
/* Whether the next images shall be full, where `keep` snapshots are retained (0: all). */
bool chain_end_is_due(struct chain_end chain, uint32_t keep);

#endif
