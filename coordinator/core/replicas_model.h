/* replicas_model.h - what replicas bring: the utilisation of a job each process of which runs on
 * several hosts, and how many replicas are worth their hosts.
 *
 * The hosts are in cells of K, and the hosts of a cell have the same processes.  The job takes a
 * snapshot after every T seconds of useful work, as in interval.h, and a host that is lost is
 * missing until then: the term that begins with the next snapshot has K hosts in each cell again,
 * which costs the job a restore from a snapshot at whose commit it waits.  It falls back to the
 * newest committed snapshot only when all hosts of a cell are lost between two snapshots.  Lives of
 * hosts are exponential, and, as in interval.h, none fails while the job is restored.  With K = 1
 * all is as in interval.h, exactly.  doc/replicas.md derives the formulas.
 *
 * Pure functions of their arguments; only libm.  Times in seconds, rates per second.  Negative
 * arguments and NaN count as 0, no cell or replica as one.  No result is ever NaN.
 */
#ifndef COORD_REPLICAS_MODEL_H
#define COORD_REPLICAS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define REPLICAS_MODEL_MOST 4u /* replicas that advice is given about */

struct replicas_model {
    double host_rate; /* failures of one host per second */
    uint32_t cells;   /* hosts that are needed without replicas */
    uint32_t replicas;
    double cost;    /* run time that a snapshot costs the job */
    double delay;   /* from the resume after a snapshot to its commit */
    double restore; /* from the loss of a cell to the processes running again */
    double replace; /* from the commit of a snapshot to the processes running again with the lost
                       hosts replaced */
};

/* The mean time to the loss of a cell if no host is ever replaced; INFINITY if none fails. */
double replicas_mean_life(const struct replicas_model *model);
/* The exact utilisation with snapshots after every `interval` seconds of useful work: 0 to 1.  The
 * interval counts as no shorter than the delay. */
double replicas_utilisation(const struct replicas_model *model, double interval);
/* The interval that maximises it, to a thousandth; INFINITY if no host fails. */
double replicas_best(const struct replicas_model *model);

struct replicas_advice {
    uint32_t replicas; /* 1 to REPLICAS_MODEL_MOST: the number with which most gets done */
    /* By number of replicas, from [1] on; 0 where the hosts do not suffice. */
    uint32_t cells[REPLICAS_MODEL_MOST + 1];
    double interval[REPLICAS_MODEL_MOST + 1], utilisation[REPLICAS_MODEL_MOST + 1];
    /* Useful work per second, in that of one host that does not fail. */
    double speed[REPLICAS_MODEL_MOST + 1];
};

/* The same hosts, with the costs of the model, in cells of 1 to REPLICAS_MODEL_MOST. */
struct replicas_advice replicas_advise(const struct replicas_model *model, uint32_t hosts);

#endif
