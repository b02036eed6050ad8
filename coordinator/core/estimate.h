/* estimate.h - what a job learns of failures and of the costs of snapshots while it runs.
 *
 * A struct estimate is a flat set of plain numbers: it is copied by assignment, begins as all zeros
 * (nothing known), goes over the wire and into a file as ESTIMATE_NUMBERS doubles, and is updated
 * by the functions below, which are pure: no clock, no I/O.  Times in seconds.
 *
 * Rates.  For each kind of failure the rate of one unit (a host, a process) is the maximum of the
 * likelihood over the lives that were watched, those that still last included: failures divided by
 * the time for which units were watched.  What is known beforehand is a Gamma prior: so many lives
 * of such a mean.  With each failure of a kind everything that was known of the kind before loses
 * 1 / ESTIMATE_MEMORY of its weight; time in which nothing fails keeps its full weight.  So the
 * estimate rests on about the last ESTIMATE_MEMORY failures, whatever the rate, and follows one
 * that changes.
 *
 * Costs.  The mean of the first few values, then exponentially smoothed.  A value that differs from
 * the mean by more than a factor of ESTIMATE_ODD moves it as one at that factor would, until
 * another one differs in the same direction: then it is no outlier, and the mean begins anew from
 * it.
 */
#ifndef COORD_ESTIMATE_H
#define COORD_ESTIMATE_H

#include "coordinator/core/interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESTIMATE_MEMORY       20.0 /* failures of a kind, see above */
#define ESTIMATE_ODD          4.0
#define ESTIMATE_GIVEN_LIVES  4.0  /* how many lives a mean counts for that the user gave */
#define ESTIMATE_HISTORY_MOST 10.0 /* how many lives of earlier jobs count at most */
#define ESTIMATE_LOW          0.05 /* bounds below are these quantiles */
#define ESTIMATE_HIGH         0.95

enum estimate_kind {
    ESTIMATE_HOST,       /* a host that was lost for good; per host */
    ESTIMATE_PROCESS,    /* a process that died on a host that lives; per process */
    ESTIMATE_PREEMPTION, /* a host that was taken away with notice; per host */
    ESTIMATE_SPLIT,      /* a host that was cut off and lived; per host */
    ESTIMATE_KINDS
};

/* Of one kind, per unit. */
struct estimate_rate {
    double failures; /* weighted; the prior's lives included */
    double squares;  /* the sum of the squares of those weights */
    double exposure; /* unit seconds, weighted; the prior's included */
    double seen;     /* failures that were observed, whole */
    double watched;  /* unit seconds that were observed, whole */
};

struct estimate_cost {
    double mean;   /* the estimate; with count 0 a guess, or 0: nothing known */
    double spread; /* smoothed absolute difference of a value from the mean before it */
    double odd;    /* the last value, if it was taken for an outlier, else 0 */
    double count;  /* values taken, whole */
};

struct estimate {
    struct estimate_rate rates[ESTIMATE_KINDS];
    struct estimate_cost snapshot;                 /* V */
    struct estimate_cost delay;                    /* D */
    struct estimate_cost restores[ESTIMATE_KINDS]; /* Td after a failure of that kind */
};

/* How many units fail independently of each other at present. */
struct estimate_units {
    double hosts, processes;
};

/* "host", "process", "preemption", "network split". */
const char *estimate_kind_name(enum estimate_kind kind);

/* ---- What is known beforehand -------------------------------------------------------------- */

/* Forgets what is known of the kind's rate and begins with so many lives (more than 0) of a mean of
 * so many seconds: ESTIMATE_GIVEN_LIVES of --mtbf.  A mean that is not positive and finite, or no
 * lives: nothing is known. */
void estimate_prior(struct estimate *estimate, enum estimate_kind kind, double mean_life,
                    double lives);

/* The same from earlier jobs: so many failures in so many unit seconds, also none in some (which
 * count as half a failure, as in Jeffreys' prior); they count for ESTIMATE_HISTORY_MOST lives at
 * most.  Without unit seconds nothing is known. */
void estimate_prior_of_history(struct estimate *estimate, enum estimate_kind kind, double failures,
                               double exposure);

/* What a cost would be, from the image size and a reading of it for a restore; replaced whole by
 * the first value that is taken.  Ignored when one was taken already. */
void estimate_guess(struct estimate_cost *cost, double seconds);

/* ---- What is observed ---------------------------------------------------------------------- */

/* So many units lived for so long, whether one of them failed then or not: call it when their
 * number changes, before a failure is told, and before estimates are asked for.  Hosts count for
 * HOST, PREEMPTION and SPLIT, processes for PROCESS.  Senseless numbers change nothing. */
void estimate_watch(struct estimate *estimate, struct estimate_units units, double seconds);

/* A failure from which the job has to recover.  What fails together is one. */
void estimate_failed(struct estimate *estimate, enum estimate_kind kind);

/* One value: V of a snapshot, D, or Td.  Where ranks or hosts differ, the mean over them.  Ignored
 * when negative or not finite. */
void estimate_take(struct estimate_cost *cost, double seconds);

/* ---- What follows -------------------------------------------------------------------------- */

/* Of the job as it is now: all kinds that are known of added up, Td their mean by rate.  A Td of
 * which nothing is known is that of the kind of which most is known, else 0.  Returns whether
 * anything is known of failures: one was observed, given, or told of by earlier jobs; if not, the
 * rate is 0.  The model is written in either case. */
bool estimate_model(const struct estimate *estimate, struct estimate_units units,
                    struct interval_model *model);

/* How sure, for people: the mean life of one unit in seconds, with credible bounds (5 % and 95 % of
 * the Gamma posterior), and what it rests on. */
struct estimate_life {
    bool known;       /* a failure, or a prior */
    double mean;      /* INFINITY when not known */
    double low, high; /* not known: low is what 95 % would have outlived, high INFINITY */
    double seen;      /* failures observed */
    double watched;   /* unit seconds observed */
};
struct estimate_life estimate_life(const struct estimate *estimate, enum estimate_kind kind);

/* The same of the whole job: mean time between failures of any kind.  The bounds are those of a
 * Gamma distribution with the mean and the variance of the sum of the kinds. */
struct estimate_life estimate_job_life(const struct estimate *estimate,
                                       struct estimate_units units);

/* The quantile of a Gamma distribution with this shape and scale 1: 0 for a share of 0 or less,
 * INFINITY for 1 or more.  To 1e-9 of the value for shapes from 0.01 to 10^6. */
double estimate_gamma_quantile(double shape, double share);

/* ---- Outside ------------------------------------------------------------------------------- */

/* All of it as a list of numbers, in an order that stays. */
#define ESTIMATE_NUMBERS (5 * ESTIMATE_KINDS + 4 * (2 + ESTIMATE_KINDS))

void estimate_to_numbers(const struct estimate *estimate, double numbers[ESTIMATE_NUMBERS]);

/* -EINVAL, and nothing is written, unless there are ESTIMATE_NUMBERS of them (a list of a later
 * version may be longer), and all of them are finite, from 0 to 1e18, and go together. */
int estimate_from_numbers(struct estimate *estimate, const double *numbers, size_t count);

#endif
