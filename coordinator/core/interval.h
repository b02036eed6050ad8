/* interval.h - how long a job should run between two snapshots: a model of the costs of failures
 * and snapshots, and its optimum.
 *
 * The job runs for T seconds of useful work, a snapshot costs it V seconds of run time, and so on.
 * After a failure, which comes at the constant rate a, the job falls back to the newest committed
 * snapshot and takes Td seconds until its processes run again.  The utilisation is the share of the
 * time spent on useful work that no failure undoes.  doc/interval.md derives the formulas, and says
 * by how much they differ and which one is used.
 *
 * Pure functions of their arguments; only libm.  Times in seconds, rates per second.  Negative
 * arguments and NaN count as 0.  No result is ever NaN; an interval is 0 or more, and INFINITY if
 * no snapshot pays (a rate of 0).
 */
#ifndef COORD_INTERVAL_H
#define COORD_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct interval_model {
    double rate;    /* a: failures of the whole job per second */
    double cost;    /* V: run time that a snapshot costs the job, including the pause */
    double restore; /* Td: from a failure to the processes running again */
    double delay;   /* D: from the resume after a snapshot to its commit; the job runs meanwhile */
};

/* The principal branch of Lambert's function: the w >= -1 with w exp(w) = z.  To 1e-13 of the
 * value, close to the branch point and to 0 as well.  -1 for z below -1/e and NaN; INFINITY for
 * INFINITY.  Halley's iteration on a residual that does not cancel; initial values by the series at
 * the branch point (Corless and others 1996) and by logarithms (Fritsch and others 1973). */
double interval_lambert_w0(double z);

/* ---- Intervals: the useful run time between two snapshots ---------------------------------- */

/* Maximises the exact utilisation: (1 + W0(-exp(-a V - 1))) / a, independent of restore and delay.
 * 0 for a cost of 0.  May be shorter than the delay. */
double interval_exact(const struct interval_model *model);

/* The same if only one snapshot is written at a time: never shorter than the delay.  `--every auto`
 * uses this interval. */
double interval_best(const struct interval_model *model);

/* The time from a start or restore to the first snapshot, if later ones follow every interval_best:
 * 1 / a - T / (exp(a (T + V)) - 1).  Equals interval_best unless that is bounded by the delay; then
 * it is shorter. */
double interval_first(const struct interval_model *model);

/* Of Ni and Harwood, "An adaptive checkpointing scheme for peer-to-peer based volunteer computing
 * work flows" (2007): 1 / L*, L* = a / (1 + W0((V a - Td a - 1) / ((Td a + 1) e))).  Maximises
 * their approximation of the utilisation. */
double interval_paper(const struct interval_model *model);

/* J. W. Young, "A first order approximation to the optimum checkpoint interval" (1974):
 * sqrt(2 V / a).  For V much smaller than 1 / a. */
double interval_young(const struct interval_model *model);

/* J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps"
 * (2006), M = 1 / a: sqrt(2 V M) (1 + sqrt(V / (2 M)) / 3 + V / (2 M) / 9) - V for V < 2 M, else M.
 */
double interval_daly(const struct interval_model *model);

/* ---- What an interval T brings ------------------------------------------------------------- */

/* The exact renewal value, T exp(-a D) / ((1 / a + Td) (exp(a (T + V)) - 1)): 0 to 1.  T may be
 * shorter than the delay. */
double interval_utilisation(const struct interval_model *model, double interval);

/* Of Ni and Harwood: 1 - L (V + (Twc + Td) / c), L = 1 / T, c = 1 / (exp(a T) - 1), Twc = 1 / a - c
 * T.  Ignores the delay.  At most 1, negative if failures are frequent; never infinite. */
double interval_paper_utilisation(const struct interval_model *model, double interval);

/* The expected time for an amount of work, from a start without a snapshot to the end, without a
 * last snapshot: exact for the model, without failures during restores. 0 for no work; INFINITY
 * beyond the range of a double. */
double interval_time(const struct interval_model *model, double interval, double work);

/* ---- How many hosts ------------------------------------------------------------------------ */

/* Below this utilisation a job hardly makes progress. */
#define INTERVAL_HARDLY 0.1

struct interval_advice {
    double utilisation; /* with all hosts, at interval_best: exact */
    bool hardly;        /* ... which is below INTERVAL_HARDLY */
    uint32_t hosts;     /* the number, from 1 to all, that maximises hosts times utilisation */
    double utilisation_there; /* of that number of hosts, at its interval_best */
    bool none;                /* that is below INTERVAL_HARDLY, too: no number suffices */
};

/* model: of a job on `hosts` hosts, at least 1 (0 counts as 1).  For fewer hosts the costs of
 * snapshot and restore are assumed to be the same, and the rate to be proportional to their
 * number. */
struct interval_advice interval_advise(const struct interval_model *model, uint32_t hosts);

#endif
