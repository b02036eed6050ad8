/* world.h - what the harness needs from MPI. */
#ifndef BENCH_MPI_WORLD_H
#define BENCH_MPI_WORLD_H

#include "tests/bench/common/harness.h"

#include <mpi.h>

static inline long mpi_from_zero(long value)
{
    MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return value;
}

static inline struct bench_world mpi_world(int *argc, char ***argv)
{
    struct bench_world world = {.from_zero = mpi_from_zero};
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.pid);
    MPI_Comm_size(MPI_COMM_WORLD, &world.nprocs);
    return world;
}

#endif
