/* estimate.h - what a job learns of failures and of the costs of snapshots while it runs.
 *
 * A struct estimate consists of plain numbers: it is copied by assignment, begins as all zeros
 * (nothing known), is sent and stored as ESTIMATE_NUMBERS doubles, and is updated by the functions
 * below, which are pure: no clock, no I/O.  Times in seconds.
 *
 * Rates.  For each kind of failure the rate of one unit (a host, a process) is the
 * maximum-likelihood estimate over the observed lives, including those that have not ended:
 * failures divided by the time for which units were watched.  Prior knowledge is a Gamma prior: a
 * number of lives of a mean.  With each failure of a kind all earlier observations of the kind lose
 * 1 / ESTIMATE_MEMORY of their weight; time without failures keeps its full weight.  So the
 * estimate rests on about the last ESTIMATE_MEMORY failures, whatever the rate, and follows a
 * changing rate.
 *
 * Costs.  The mean of the first few values, then exponentially smoothed.  A value that differs from
 * the mean by more than a factor of ESTIMATE_ODD counts as that factor.  If the next one differs in
 * the same direction, it is not an outlier, and the mean begins anew from it.
 */
#ifndef COORD_ESTIMATE_H
#define COORD_ESTIMATE_H

#include "coordinator/core/interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESTIMATE_MEMORY       20.0 /* failures of a kind, see above */
#define ESTIMATE_ODD          4.0
#define ESTIMATE_GIVEN_LIVES  4.0  /* weight, in lives, of a mean from the user */
#define ESTIMATE_HISTORY_MOST 10.0 /* greatest weight, in lives, of earlier jobs */
#define ESTIMATE_LOW          0.05 /* bounds below are these quantiles */
#define ESTIMATE_HIGH         0.95

enum estimate_kind {
    ESTIMATE_HOST,       /* a host that was lost for good; per host */
    ESTIMATE_PROCESS,    /* a process that died on a host that lives; per process */
    ESTIMATE_PREEMPTION, /* a host that was taken away with notice; per host */
    ESTIMATE_SPLIT,      /* a host that was cut off but alive; per host */
    ESTIMATE_KINDS
};

/* The rate of one kind, per unit. */
struct estimate_rate {
    double failures; /* weighted, including the prior's lives */
    double squares;  /* the sum of the squares of those weights */
    double exposure; /* unit seconds, weighted, including the prior's */
    double seen;     /* observed failures, unweighted */
    double watched;  /* observed unit seconds, unweighted */
};

struct estimate_cost {
    double mean;   /* the estimate; if count is 0, a guess or 0 (unknown) */
    double spread; /* smoothed absolute difference of a value from the mean before it */
    double odd;    /* the last value, if it was considered an outlier, else 0 */
    double count;  /* number of values */
};

struct estimate {
    struct estimate_rate rates[ESTIMATE_KINDS];
    struct estimate_cost snapshot;                 /* V */
    struct estimate_cost delay;                    /* D */
    struct estimate_cost restores[ESTIMATE_KINDS]; /* Td after a failure of that kind */
};

/* The present number of units that fail independently of each other. */
struct estimate_units {
    double hosts, processes;
};

/* ---- What is known beforehand -------------------------------------------------------------- */

/* Resets the kind's rate to a prior of so many lives (more than 0) with a mean in seconds:
 * ESTIMATE_GIVEN_LIVES for --mtbf.  If the mean is not positive and finite, or there are no lives,
 * the rate is unknown. */
void estimate_prior(struct estimate *estimate, enum estimate_kind kind, double mean_life,
                    double lives);

/* The same from earlier jobs: so many failures in so many unit seconds (none count as half a
 * failure, as in Jeffreys' prior), with a weight of at most ESTIMATE_HISTORY_MOST lives.  Without
 * unit seconds the rate is unknown. */
void estimate_prior_of_history(struct estimate *estimate, enum estimate_kind kind, double failures,
                               double exposure);

/* Sets a guess of a cost, by image size and the time to read it for a restore, which the first
 * value replaces.  Ignored if there is a value already. */
void estimate_guess(struct estimate_cost *cost, double seconds);

/* ---- What is observed ---------------------------------------------------------------------- */

/* Adds time for which units were watched, whether or not one of them failed at its end: to be
 * called when their number changes, before a failure is added, and before estimates are read.
 * Hosts count for HOST, PREEMPTION and SPLIT, processes for PROCESS.  Invalid numbers are
 * ignored. */
void estimate_watch(struct estimate *estimate, struct estimate_units units, double seconds);

/* Adds a failure from which the job has to recover.  Simultaneous failures count as one. */
void estimate_failed(struct estimate *estimate, enum estimate_kind kind);

/* Adds a value of V, D or Td; where ranks or hosts differ, the mean over them.  Ignored when
 * negative or not finite. */
void estimate_take(struct estimate_cost *cost, double seconds);

/* ---- What follows -------------------------------------------------------------------------- */

/* The model of the present job: the sum of the known rates, and the mean of Td weighted by rate.
 * An unknown Td is replaced by that of the kind with most values, else by 0.  Returns whether any
 * rate is known, by observation, from the user or from earlier jobs; if not, the rate is 0.  The
 * model is written in either case. */
bool estimate_model(const struct estimate *estimate, struct estimate_units units,
                    struct interval_model *model);

/* An estimate for reports: the mean life of one unit in seconds, with credible bounds (5 % and 95 %
 * of the Gamma posterior), and the observations it rests on. */
struct estimate_life {
    bool known;       /* a failure, or a prior */
    double mean;      /* INFINITY when not known */
    double low, high; /* if not known: low is what 95 % would have outlived, high INFINITY */
    double seen;      /* failures observed */
    double watched;   /* unit seconds observed */
};
struct estimate_life estimate_life(const struct estimate *estimate, enum estimate_kind kind);

/* The same for the whole job: mean time between failures of any kind.  The bounds are those of a
 * Gamma distribution with the mean and the variance of the sum of the kinds. */
struct estimate_life estimate_job_life(const struct estimate *estimate,
                                       struct estimate_units units);

/* The quantile of a Gamma distribution with this shape and scale 1: 0 for a share of 0 or less,
 * INFINITY for 1 or more.  To 1e-9 of the value for shapes from 0.01 to 10^6. */
double estimate_gamma_quantile(double shape, double share);

/* ---- Outside ------------------------------------------------------------------------------- */

/* The whole estimate as a list of numbers, in a fixed order. */
#define ESTIMATE_NUMBERS (5 * ESTIMATE_KINDS + 4 * (2 + ESTIMATE_KINDS))

void estimate_to_numbers(const struct estimate *estimate, double numbers[ESTIMATE_NUMBERS]);

/* -EINVAL, and nothing is written, unless there are ESTIMATE_NUMBERS of them (a list of a later
 * version may be longer), and all of them are finite, from 0 to 1e18, and consistent. */
int estimate_from_numbers(struct estimate *estimate, const double *numbers, size_t count);

#endif
