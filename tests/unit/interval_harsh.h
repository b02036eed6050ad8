/* interval_harsh.h - what an interval brings if failures also strike during a restore, which then
 * begins anew: T a exp(-a (Td + D)) / (exp(a (T + V)) - 1).  The best interval is the same. */
#ifndef TESTS_UNIT_INTERVAL_HARSH_H
#define TESTS_UNIT_INTERVAL_HARSH_H

#include <math.h>

#include "coordinator/core/interval.h"

static inline double interval_utilisation_harsh(const struct interval_model *model, double interval)
{
    double restores = model->rate * model->restore;

    return interval_utilisation(model, interval) * (1 + restores) * exp(-restores);
}

#endif
