/* observed.h - what Processor Zero of a simulated job observes and learns: the same estimates,
 * updated by the same events at the same times, and the same facts for the decision. */
#ifndef BSPSIM_OBSERVED_H
#define BSPSIM_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/estimate.h"
#include "coordinator/core/policy.h"
#include "tools/bspsim/lives.h"

/* The prior knowledge of failures. */
struct observed_prior {
    double mean_life; /* of a host, seconds, as from --mtbf; 0: nothing is known */
    double lives;     /* its weight */
};

/* The error of the estimated rate of failures at the snapshots of a job: sums of the logarithm of
 * its ratio to the true rate, and of the square of that.  Only for exponential lives. */
struct observed_error {
    double sum, squares;
    uint64_t count;
};

struct observed {
    struct estimate estimate;
    struct estimate_units units; /* the present ones of the job */
    uint64_t watched_ns;         /* until when the estimate has counted their lives */
    struct policy_costs costs;   /* those of the last snapshot */
    uint32_t counted;            /* snapshots whose costs are known, in this term */
    uint64_t spent_ns;           /* for snapshots of this term */
    struct observed_error error;
};

void observed_begin(struct observed *observed, const struct observed_prior *prior);

/* The number of hosts from now on. */
void observed_hosts(struct observed *observed, uint32_t hosts, uint64_t now_ns);

/* One of them failed. */
void observed_failure(struct observed *observed, uint64_t now_ns);

/* The processes run again after a failure, `took_ns` later. */
void observed_restore(struct observed *observed, uint64_t took_ns);

/* A term begins. */
void observed_term(struct observed *observed);

/* The processes resume after a pause for a snapshot. */
void observed_pause(struct observed *observed, uint64_t pause_ns);

/* The snapshot is committed, `delay_ns` after the resume. */
void observed_commit(struct observed *observed, uint64_t delay_ns);

/* Completes the facts at facts->now_ns by the known failures and costs. */
void observed_facts(struct observed *observed, struct policy_facts *facts);

/* Records the error when a snapshot is taken by these facts and the true rate of failures is
 * `rate`. */
void observed_compare(struct observed *observed, const struct policy_facts *facts, double rate);

void observed_error_add(struct observed_error *sum, const struct observed_error *error);
/* The ratio of estimate to truth: its geometric mean, and e to the standard deviation of its
 * logarithm; 1 and 1 where nothing was compared. */
void observed_error_tell(const struct observed_error *error, double *mean, double *spread);

#endif
