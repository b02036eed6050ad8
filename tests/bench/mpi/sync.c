/* sync.c - an empty superstep over MPI: a barrier, an empty access epoch, or the exchange of
 * counts without which a process cannot know that nothing came. */
#include "tests/bench/mpi/world.h"

#include <stdlib.h>

struct context {
    int nprocs;
    int *counts;
    MPI_Win window;
};

static void barrier(void *context, long supersteps)
{
    (void)context;
    for (long s = 0; s < supersteps; s++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void fence(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++)
        MPI_Win_fence(0, c->window);
}

static void counts(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        MPI_Alltoall(c->counts, 1, MPI_INT, c->counts + c->nprocs, 1, MPI_INT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct bench_world world = mpi_world(&argc, &argv);
    struct bench_options options = bench_parse(argc, argv);
    struct context context = {.nprocs = world.nprocs};
    int64_t *memory;
    context.counts = calloc(2 * (size_t)world.nprocs, sizeof(int));
    MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &context.window);
    MPI_Win_fence(0, context.window);
    bench_measure(&world, &options, "sync", "barrier", 0, barrier, &context);
    bench_measure(&world, &options, "sync", "fence", 0, fence, &context);
    bench_measure(&world, &options, "sync", "alltoall", 0, counts, &context);
    MPI_Win_free(&context.window);
    free(context.counts);
    MPI_Finalize();
    return 0;
}
