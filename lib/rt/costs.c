/* costs.c - the cost model behind the choice between algorithms, see costs.h. */
#include "lib/rt/costs.h"

/* The cost of a superstep in which a process sends `messages` messages of n bytes. */
static double bspz_cost_superstep(const struct bspz_params *params, ptrdiff_t messages, ptrdiff_t n)
{
    double words = (double)n / 4 + params->n_half;

    return (double)messages * words * params->g + params->l;
}

bool bspz_cost_bcast_in_two(const struct bspz_params *params, int nprocs, ptrdiff_t n)
{
    double one = bspz_cost_superstep(params, nprocs - 1, n);
    double two = 2 * bspz_cost_superstep(params, nprocs - 1, n / nprocs);

    return two < one;
}

/* The supersteps of an algorithm with log2 p of them, rounded up. */
static int doublings(int nprocs)
{
    int steps = 0;

    for (int reach = 1; reach < nprocs; reach *= 2)
        steps++;
    return steps;
}

int bspz_cost_scan_steps(int nprocs)
{
    return doublings(nprocs);
}

/* Two more than log p if p is not a power of two. */
int bspz_cost_fold_steps(int nprocs)
{
    bool power_of_two = (nprocs & (nprocs - 1)) == 0;

    return power_of_two ? doublings(nprocs) : doublings(nprocs) + 1;
}

/* At least one superstep, even for a single process: it delivers earlier messages. */
bool bspz_cost_in_steps(const struct bspz_params *params, int nprocs, int steps, ptrdiff_t n)
{
    return steps > 0 &&
           steps * bspz_cost_superstep(params, 1, n) < bspz_cost_superstep(params, nprocs - 1, n);
}
