/* costs.c - see costs.h. */
#include "tools/bspprof/costs.h"

#include <stdio.h>

/* Of the machine that this is, and, as it is assumed, the profile was made on. */
static void find_own(uint32_t ranks, struct costs *costs)
{
    static const char *const sources[] = {
        [BSPZ_PARAMS_ASSUMED] = "assumed: this machine has not been measured",
        [BSPZ_PARAMS_DATABASE] = "this machine, by the database of bspparam",
        [BSPZ_PARAMS_ENVIRONMENT] = "BSP_SLG",
    };
    enum bspz_params_source source = bspz_params_find((int)ranks, &costs->params);
    costs->scale = 1;
    costs->scaled = source != BSPZ_PARAMS_ASSUMED;
    costs->other = false;
    snprintf(costs->where, sizeof(costs->where), "%s", sources[source]);
}

bool costs_find(const char *params, const char *machine, uint32_t ranks, struct costs *costs,
                char *error, size_t size)
{
    find_own(ranks, costs);
    if (!params && !machine)
        return true;
    double speed = costs->params.s;
    if (params) {
        if (!bspz_params_parse_slg(params, &costs->params)) {
            snprintf(error, size, "-slg %.100s: give s,l,g", params);
            return false;
        }
        snprintf(costs->where, sizeof(costs->where), "-slg");
    } else {
        if (!bspz_params_of(machine, (int)ranks, &costs->params)) {
            snprintf(error, size,
                     "-arch %.100s: the database of bspparam has no line for this machine and %u "
                     "process%s: `bspparam -all` lists what it has",
                     machine, ranks, ranks == 1 ? "" : "es");
            return false;
        }
        snprintf(costs->where, sizeof(costs->where), "%s", machine);
    }
    costs->other = true;
    costs->scale = costs->scaled ? speed / costs->params.s : 1;
    return true;
}

double costs_h(const struct costs *costs, uint64_t h)
{
    return (double)h * costs->params.g / costs->params.s * 1e3;
}

double costs_l(const struct costs *costs, uint64_t supersteps)
{
    return (double)supersteps * costs->params.l / costs->params.s * 1e3;
}

double costs_all(const struct costs *costs, const struct strata_sums *sums)
{
    return (double)sums->computing * costs->scale + costs_h(costs, sums->h) +
           costs_l(costs, sums->supersteps);
}
