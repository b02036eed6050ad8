/* interval.h - how long a job should run between two snapshots: a model of what failures and
 * snapshots cost, and its optimum.
 *
 * The job runs for T seconds of useful work, a snapshot costs it V seconds of run time, and so on.
 * A failure, which comes at the rate a whatever the job does, falls back to the newest committed
 * snapshot and costs Td seconds until the processes run again.  The utilisation is the share of the
 * time that is useful work which no failure undid.  doc/interval.md derives all that is here, says
 * by how much the answers differ, and which one decides.
 *
 * Pure functions of their arguments; only libm.  Times in seconds, rates per second.  A number of a
 * model, an interval or an amount of work that is negative or not a number counts as 0.  No result
 * is ever NaN; an interval is 0 or more, and INFINITY where no snapshot pays (a rate of 0).
 */
#ifndef COORD_INTERVAL_H
#define COORD_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct interval_model {
    double rate;    /* a: failures of the whole job per second */
    double cost;    /* V: run time that a snapshot costs the job, the pause included */
    double restore; /* Td: from a failure to the processes running again */
    double delay;   /* D: from the resume after a snapshot to its commit; the job runs meanwhile */
};

/* The principal branch of Lambert's function: the w >= -1 with w exp(w) = z.  To 1e-13 of the
 * value, close to the branch point and to 0 as well.  Of z below -1/e, and of NaN: -1; of INFINITY:
 * INFINITY.  Halley's iteration on a residual that does not cancel; initial values by the series at
 * the branch point (Corless and others 1996) and by logarithms (Fritsch and others 1973). */
double interval_lambert_w0(double z);

/* ---- Intervals: the useful run time between two snapshots ---------------------------------- */

/* Where the exact utilisation is largest, (1 + W0(-exp(-a V - 1))) / a, whatever the restore and
 * the delay.  A cost of 0: 0.  It may be shorter than the delay. */
double interval_exact(const struct interval_model *model);

/* The same where only one snapshot is written at a time: never shorter than the delay, as the next
 * one cannot begin before.  This is the interval that `--every auto` aims at. */
double interval_best(const struct interval_model *model);

/* From a start or a restore, when none is being written, to the first snapshot, where those after
 * it follow every interval_best: 1 / a - T / (exp(a (T + V)) - 1).  That is interval_best where the
 * delay does not bind, and less than it where it does. */
double interval_first(const struct interval_model *model);

/* Of Ni and Harwood, "An adaptive checkpointing scheme for peer-to-peer based volunteer computing
 * work flows" (2007): 1 / L*, L* = a / (1 + W0((V a - Td a - 1) / ((Td a + 1) e))).  Where their
 * approximation of the utilisation is largest. */
double interval_paper(const struct interval_model *model);

/* J. W. Young, "A first order approximation to the optimum checkpoint interval" (1974):
 * sqrt(2 V / a).  For V much smaller than 1 / a. */
double interval_young(const struct interval_model *model);

/* J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps"
 * (2006), M = 1 / a: sqrt(2 V M) (1 + sqrt(V / (2 M)) / 3 + V / (2 M) / 9) - V for V < 2 M, else M.
 */
double interval_daly(const struct interval_model *model);

/* ---- What an interval T brings ------------------------------------------------------------- */

/* The exact renewal value, T exp(-a D) / ((1 / a + Td) (exp(a (T + V)) - 1)): 0 to 1.  It takes T
 * as given, also one shorter than the delay. */
double interval_utilisation(const struct interval_model *model, double interval);

/* The same where failures strike during a restore, too, which then begins anew:
 * T a exp(-a (Td + D)) / (exp(a (T + V)) - 1).  The best interval is the same. */
double interval_utilisation_harsh(const struct interval_model *model, double interval);

/* Of Ni and Harwood: 1 - L (V + (Twc + Td) / c), L = 1 / T, c = 1 / (exp(a T) - 1),
 * Twc = 1 / a - c T.  It knows no delay.  At most 1, and negative where failures are frequent;
 * never infinite. */
double interval_paper_utilisation(const struct interval_model *model, double interval);

/* The expected time for so much work, from a start with nothing saved to the end of the last piece,
 * after which no snapshot is taken: exact for the model, restores undisturbed.  0 for no work;
 * INFINITY where it exceeds the range of a double. */
double interval_time(const struct interval_model *model, double interval, double work);

/* ---- How many hosts ------------------------------------------------------------------------ */

/* Below this utilisation a job hardly makes progress. */
#define INTERVAL_HARDLY 0.1

struct interval_advice {
    double utilisation;       /* with the hosts there are, at interval_best: exact */
    bool hardly;              /* ... which is below INTERVAL_HARDLY */
    uint32_t hosts;           /* where hosts times utilisation is largest; 1 to what there is */
    double utilisation_there; /* of so many hosts, each at interval_best of its rate */
    bool none;                /* that one is below INTERVAL_HARDLY, too: no number would do */
};

/* model: of a job on so many hosts, at least 1 (0 counts as 1).  What it costs to save and restore
 * is taken to be the same on fewer hosts, and the rate to be in proportion to their number. */
struct interval_advice interval_advise(const struct interval_model *model, uint32_t hosts);

#endif
