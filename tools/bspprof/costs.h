/* costs.h - what the BSP model says that supersteps cost on a machine: w + g h + l. */
#ifndef BSPPROF_COSTS_H
#define BSPPROF_COSTS_H

#include "lib/base/params.h"
#include "tools/bspprof/strata.h"

#define COSTS_WHERE 320u

struct costs {
    struct bspz_params params;
    double scale; /* computing takes this many times what was measured */
    bool other;   /* the machine is another one than that of the profile */
    bool scaled;  /* false: nobody knows the speed where the profile was made, so scale is 1 */
    char where[COSTS_WHERE]; /* what the parameters are those of */
};

/* The machine: by -slg (params), -arch (machine), or this one, as which the profile's machine
 * counts. On failure false and `error` of `size` bytes. */
bool costs_find(const char *params, const char *machine, uint32_t ranks, struct costs *costs,
                char *error, size_t size);

/* Nanoseconds of communicating, without and with the barriers, and of all. */
double costs_h(const struct costs *costs, uint64_t h);
double costs_l(const struct costs *costs, uint64_t supersteps);
double costs_all(const struct costs *costs, const struct strata_sums *sums);

#endif
