/* observed.h - what Processor Zero of a simulated job sees and learns: the same estimates, told of
 * the same things at the same moments, and the same facts for the decision. */
#ifndef BSPSIM_OBSERVED_H
#define BSPSIM_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/estimate.h"
#include "coordinator/core/policy.h"
#include "tools/bspsim/lives.h"

/* What is known before the job begins. */
struct observed_prior {
    double mean_life; /* of a host, seconds, as from --mtbf; 0: nothing is known */
    double lives;     /* that it counts for */
};

/* How far the estimated rate of failures of the job was from the true one, at its snapshots: sums
 * of the logarithm of their ratio, and of its square.  Only for lives without a memory. */
struct observed_error {
    double sum, squares;
    uint64_t count;
};

struct observed {
    struct estimate estimate;
    struct estimate_units units; /* that the job has now */
    uint64_t watched_ns;         /* so far the estimate knows of their lives */
    struct policy_costs costs;   /* of the last snapshot */
    uint32_t counted;            /* snapshots whose costs are known, in this term */
    uint64_t spent_ns;           /* for snapshots of this term */
    struct observed_error error;
};

void observed_begin(struct observed *observed, const struct observed_prior *prior);

/* The job has so many hosts, from now on. */
void observed_hosts(struct observed *observed, uint32_t hosts, uint64_t now_ns);

/* One of them failed. */
void observed_failure(struct observed *observed, uint64_t now_ns);

/* The processes run again after a failure; it took so long. */
void observed_restore(struct observed *observed, uint64_t took_ns);

/* A term begins. */
void observed_term(struct observed *observed);

/* The processes go on after a snapshot for which they stood still so long. */
void observed_pause(struct observed *observed, uint64_t pause_ns);

/* It is committed, so long after that. */
void observed_commit(struct observed *observed, uint64_t delay_ns);

/* Completes the facts of this moment (now_ns is given) by what is known: failures and costs. */
void observed_facts(struct observed *observed, struct policy_facts *facts);

/* A snapshot is taken by these facts, while the rate of failures of the job is so high. */
void observed_compare(struct observed *observed, const struct policy_facts *facts, double rate);

void observed_error_add(struct observed_error *sum, const struct observed_error *error);
/* The ratio of estimate to truth: its geometric mean, and e to the standard deviation of its
 * logarithm; 1 and 1 where nothing was compared. */
void observed_error_tell(const struct observed_error *error, double *mean, double *spread);

#endif
