/* bsp_s, bsp_l, bsp_g and bsp_nhalf: the parameters of this process's machine, looked up once. */
#include <stdlib.h>

#include "include/bsp_level1.h"
#include "lib/rt/level1/collective.h"
#include "lib/rt/rt.h"

/* Replicas of a process must not differ in what they find, as their hosts may. */
void bspz_machine_params(struct bspz_params *params)
{
    const char *slg = getenv("BSP_SLG");

    if (!bspz_rt.board || !(bspz_rt.board->flags & BSPZ_BOARD_REPLICAS))
        bspz_params_find(bsp_nprocs(), params);
    else if (!slg || !bspz_params_parse_slg(slg, params))
        *params = bspz_params_assumed;
}

static const struct bspz_params *parameters(const char *function, int line, const char *file)
{
    static struct bspz_params params;
    static int known_for; /* processes */

    if (bspz_rt.life == BSPZ_LIFE_BEFORE)
        bspz_fail_outside(function, line, file);
    if (known_for != bsp_nprocs()) {
        bspz_machine_params(&params);
        known_for = bsp_nprocs();
    }
    return &params;
}

double bsp_s_cpp(int line, const char *file)
{
    return parameters("bsp_s", line, file)->s * 1e6; /* kept in Mflop/s */
}

double bsp_l_cpp(int line, const char *file)
{
    return parameters("bsp_l", line, file)->l;
}

double bsp_g_cpp(int line, const char *file)
{
    return parameters("bsp_g", line, file)->g;
}

int bsp_nhalf_cpp(int line, const char *file)
{
    return parameters("bsp_nhalf", line, file)->n_half;
}
