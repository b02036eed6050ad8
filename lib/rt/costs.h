/* costs.h - the cheaper algorithm of a collective operation, by the cost model.
 *
 * Pure: the operations ask with the parameters that all processes agreed on, the report of -stat
 * with those of its machine.  Sizes are in bytes, costs in flops.
 */
#ifndef BSPZ_RT_COSTS_H
#define BSPZ_RT_COSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/params.h"

#pragma GCC visibility push(hidden)

/* bsp_bcast: whether to scatter pieces and exchange them, rather than send everything from the
 * root. */
bool bspz_cost_bcast_in_two(const struct bspz_params *params, int nprocs, ptrdiff_t n);

/* Supersteps of bsp_fold and bsp_scan when they combine partial results. */
int bspz_cost_fold_steps(int nprocs);
int bspz_cost_scan_steps(int nprocs);

/* Whether so many supersteps with one item each cost less than one with all items. */
bool bspz_cost_in_steps(const struct bspz_params *params, int nprocs, int steps, ptrdiff_t n);

#pragma GCC visibility pop

#endif
