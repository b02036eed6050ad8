/* plan.h - the results of bspsim plan: intervals, their utilisation, and the best number of
 * hosts. */
#ifndef BSPSIM_PLAN_H
#define BSPSIM_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/core/interval.h"
#include "coordinator/core/replicas_model.h"
#include "tools/bspsim/batch.h"

#define PLAN_ROWS 10

struct plan_row {
    const char *name;                      /* "best", "young", "300 s": for programs */
    const char *text;                      /* for the table */
    bool automatic;                        /* --every auto, which has no fixed interval */
    double interval;                       /* seconds of useful run time between snapshots */
    double utilisation, paper_utilisation; /* the exact one, and the paper's approximation */
    double expected;                       /* seconds: the exact expectation */
    bool simulated; /* false: the simulation would take too long, or never end */
    struct batch_result result;
};

struct plan {
    struct interval_model model;
    double work, mtbf;
    uint32_t hosts;
    struct plan_row rows[PLAN_ROWS]; /* the first is the best one */
    struct interval_advice advice;
    struct replicas_advice replicas; /* on the same hosts */
};

/* plan_print.c */
void plan_print_text(const struct plan *plan, const struct batch_setup *setup);
void plan_print_json(const struct plan *plan, const struct batch_setup *setup);

/* picture.c: two pictures side by side; false: they could not be written, errno says why. */
bool plan_draw(const struct plan *plan, const char *file);

#endif
