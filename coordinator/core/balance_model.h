/* balance_model.h - how long a superstep would take if ranks were on other hosts: the model behind
 * balance.h, used by it alone.
 *
 * A host with availability A computes its ranks in
 *
 *     max(heaviest / min(1, A cores), work / (A cores)) / speed
 *
 * and communicates for the greater of what it sends to and receives from other hosts, each message
 * by the latency and bandwidth of its way.  A is taken as uniformly distributed, with the expected
 * mean and the measured spread, independently for each host and superstep.  The expected superstep
 * is the mean of the slowest host's time: the integral of 1 minus the product of all hosts'
 * distributions.
 */
#ifndef COORD_BALANCE_MODEL_H
#define COORD_BALANCE_MODEL_H

#include "coordinator/core/balance.h"

#define MODEL_NONE UINT32_MAX

struct model_host {
    double speed, cores;
    double mean, low, high; /* expected availability, and its bounds */
    double work, heaviest;  /* of its ranks: reference seconds by speed */
    double out, in;         /* seconds of messages to and from other hosts */
    uint32_t count, first;  /* ranks, and the first of their list */
    bool usable;            /* may get ranks */
};

struct model_rank {
    double work;
    uint32_t home, next, previous; /* in the list of its host */
};

struct model {
    const struct balance_facts *facts;
    struct model_host *hosts;
    struct model_rank *ranks;
    uint32_t *offsets; /* of each rank in `edges`; one more at the end */
    uint32_t *edges;   /* indexes of entries of traffic: of each rank, from it and to it */
    uint64_t evaluated;
};

/* What a rank's time on a host consists of, at mean availability. */
struct model_times {
    double comp, comm;
};

/* A measurement as a number that can be computed with. */
double model_clean(double number);

/* Places all ranks as the facts say; the arrays are large enough.  O(n + p + h). */
void model_fill(struct model *model, const struct balance_facts *facts);

/* Puts the rank on that host.  O(ranks on its host + entries of the rank). */
void model_put(struct model *model, uint32_t rank, uint32_t to);

/* Times of the rank where it is, and as they would be on another host. */
struct model_times model_times_at(const struct model *model, uint32_t rank, uint32_t host);

/* The time of a host with all its ranks at its lowest expected availability, by which it delays
 * others. */
double model_slow(const struct model *model, uint32_t host);

/* The same with one more rank, without communication: a lower bound. */
double model_slow_with(const struct model *model, uint32_t host, uint32_t more);

/* The expected duration of a superstep; O(h), and 48 steps for each host that may be slowest. */
double model_superstep(struct model *model);

/* The greatest mean time of a host with ranks, by the mean over ranks, minus 1. */
double model_imbalance(const struct model *model);

/* The time to transfer a rank's image from its host. */
double model_transfer(const struct model *model, uint32_t rank, uint32_t from, uint32_t to);

#endif
