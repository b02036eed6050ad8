/* Pi by the midpoint rule: every process has each p-th interval.  pi [INTERVALS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    long n = 1000000;
    double h, sum = 0.0, pi;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && argc > 1)
        n = atol(argv[1]);
    MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    h = 1.0 / (double)n;
    for (long i = rank; i < n; i += size) {
        double x = h * ((double)i + 0.5);

        sum += 4.0 / (1.0 + x * x);
    }
    sum *= h;
    MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi is approximately %.10f with %ld intervals and %d processes\n", pi, n, size);
    MPI_Finalize();
    return 0;
}
