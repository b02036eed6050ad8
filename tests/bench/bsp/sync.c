/* sync.c - the empty superstep. */
#include "tests/bench/bsp/world.h"

static void empty_supersteps(void *context, long supersteps)
{
    (void)context;
    for (long s = 0; s < supersteps; s++)
        bsp_sync();
}

int main(int argc, char **argv)
{
    struct bench_options options = bench_parse(argc, argv);
    struct bench_world world = bsp_world();
    bench_measure(&world, &options, "sync", "bsp_sync", 0, empty_supersteps, NULL);
    bsp_end();
    return 0;
}
