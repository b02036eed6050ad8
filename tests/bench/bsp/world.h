/* world.h - what the harness needs from BSPlib. */
#ifndef BENCH_BSP_WORLD_H
#define BENCH_BSP_WORLD_H

#include "tests/bench/common/harness.h"

#include <bsp.h>

static long bsp_world_value;

static inline long bsp_from_zero(long value)
{
    if (bsp_pid() == 0) {
        for (int i = 0; i < bsp_nprocs(); i++)
            bsp_put(i, &value, &bsp_world_value, 0, sizeof(value));
    }
    bsp_sync();
    return bsp_world_value;
}

/* Starts the SPMD part with as many processes as the launcher was asked for. */
static inline struct bench_world bsp_world(void)
{
    struct bench_world world = {.from_zero = bsp_from_zero};
    bsp_begin(bsp_nprocs());
    world.pid = bsp_pid();
    world.nprocs = bsp_nprocs();
    bsp_push_reg(&bsp_world_value, sizeof(bsp_world_value));
    bsp_sync();
    return world;
}

#endif
