/* job.h - a simulated job: supersteps, snapshots, failures and restores, in simulated time.
 *
 * Decisions are made by coordinator/core/policy.h and coordinator/core/estimate.h, called as
 * Processor Zero calls them; this is the simulated world around them.  A job computes on those of
 * its hosts that are up when it begins or is restored: with fewer hosts it is slower in proportion.
 * When a used host fails, the job falls back to the newest committed snapshot, is restored, and
 * goes on with the hosts that are up then.  A repaired host is used from the next restore on.  When
 * none is up, the job waits.
 *
 * At a snapshot the job pauses for `snapshot_ns`; `commit_ns` after it has resumed the snapshot is
 * committed.  Times are in nanoseconds since the beginning of the job.
 */
#ifndef BSPSIM_JOB_H
#define BSPSIM_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/policy.h"
#include "tools/bspsim/lives.h"
#include "tools/bspsim/observed.h"

/* A job with so many failures is abandoned, too: if the rate keeps doubling, no limit of time is
 * short enough. */
#define JOB_FAILURES_MOST 100000u

struct job_setup {
    uint64_t work_ns;      /* its time on all hosts without failures and snapshots; at least 1 */
    uint64_t superstep_ns; /* work between two barriers; at least 1 */
    uint64_t snapshot_ns, commit_ns, restore_ns;
    bool calm_restores; /* no host fails while the job is restored */
    uint64_t limit_ns;  /* a job that has not ended by then is abandoned */
    struct policy_rule rule;
    struct observed_prior prior; /* what is known beforehand */
};

struct job_result {
    bool finished;
    uint64_t total_ns; /* until its end, or until it was abandoned; of this ... */
    uint64_t saving_ns, down_ns, waiting_ns; /* ... in snapshots, being restored, without a host */
    uint64_t useful_ns; /* of its work; if it was abandoned, what a snapshot has by then */
    uint64_t failures, snapshots, restores; /* restores that were begun */
    struct observed_error error;            /* of the estimated rate of failures */
};

/* Runs the job of that number, with new lives of its hosts. */
void job_run(const struct job_setup *setup, struct lives *lives, uint64_t seed, uint64_t number,
             struct job_result *result);

#endif
