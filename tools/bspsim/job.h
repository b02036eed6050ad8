/* job.h - a simulated job: supersteps, snapshots, failures and restores, in simulated time.
 *
 * What decides is coordinator/core/policy.h with coordinator/core/estimate.h, asked and told as
 * Processor Zero asks and tells them; here is the world around them.  A job computes on all of its
 * hosts that are up when it begins, or goes on: with fewer than it has in all it is slower in
 * proportion.  A host that fails ends what runs; the job falls back to the newest committed
 * snapshot, is restored, and goes on with the hosts that are up then.  A host that comes back is
 * used from the next restore on.  When none is up, the job waits.
 *
 * At a snapshot the job stands still for `snapshot_ns`; `commit_ns` after it has gone on the
 * snapshot counts.  Times in nanoseconds from the beginning of the job.
 */
#ifndef BSPSIM_JOB_H
#define BSPSIM_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/policy.h"
#include "tools/bspsim/lives.h"
#include "tools/bspsim/observed.h"

/* A job that has met so many failures is given up, too: where the rate doubles for ever, no limit
 * of time is short enough. */
#define JOB_FAILURES_MOST 100000u

struct job_setup {
    uint64_t work_ns; /* what it takes on all hosts without failures and snapshots; at least 1 */
    uint64_t superstep_ns; /* of it between two barriers; at least 1 */
    uint64_t snapshot_ns, commit_ns, restore_ns;
    bool calm_restores; /* no host fails while the job is restored */
    uint64_t limit_ns;  /* a job that has not ended then is given up */
    struct policy_rule rule;
    struct observed_prior prior; /* what is known beforehand */
};

struct job_result {
    bool finished;
    uint64_t total_ns; /* until its end, or until it was given up: of this ... */
    uint64_t saving_ns, down_ns, waiting_ns; /* ... in snapshots, being restored, without a host */
    uint64_t failures, snapshots, restores;  /* restores that were begun */
    uint32_t hosts_at_end;
    struct observed_error error; /* of the estimated rate of failures */
};

/* Runs the job of that number; lives, which are those of the hosts there are, are begun anew. */
void job_run(const struct job_setup *setup, struct lives *lives, uint64_t seed, uint64_t number,
             struct job_result *result);

#endif
