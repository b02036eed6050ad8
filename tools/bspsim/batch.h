/* batch.h - many simulated jobs that differ by chance only, and their statistics. */
#ifndef BSPSIM_BATCH_H
#define BSPSIM_BATCH_H

#include "tools/bspsim/job.h"

struct batch_setup {
    struct job_setup job;
    struct lives_law law;
    uint32_t hosts;
    uint64_t seed;
    uint32_t runs; /* at least 1; these jobs have the numbers 0 to runs - 1 */
};

/* Means over all jobs; an abandoned job counts with its time up to then, so that times are lower
 * bounds if there is one. */
struct batch_result {
    uint32_t runs, finished;
    double seconds, error;    /* the mean time to solution, and its standard error */
    double low, median, high; /* quantiles of 5, 50 and 95 % */
    double useful;            /* seconds of work that no failure undid */
    double utilisation;       /* these divided by all */
    double utilisation_error; /* its standard error */
    double failures, snapshots, restores;
    double saving, down, waiting, lost; /* seconds in snapshots, being restored, ... */
    struct observed_error estimate;
};

/* each: called with number and result of every job; may be NULL.  False: no memory. */
bool batch_run(const struct batch_setup *setup, struct batch_result *result,
               void (*each)(void *context, uint32_t number, const struct job_result *job),
               void *context);

#endif
