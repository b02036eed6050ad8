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

/* The size of a window in whole pages: MPICH 4.0.2 loses data that is put into windows of any other
 * size that it allocates itself. */
static inline MPI_Aint mpi_whole_pages(size_t nbytes)
{
    return (MPI_Aint)((nbytes + 4095) / 4096 * 4096);
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
