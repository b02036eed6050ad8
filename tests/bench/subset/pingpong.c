/* Half of the time of a message there and back, by size: pingpong [MOST]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES  7
#define EACH_S 0.03 /* of one measurement, about */
#define TRIAL  20

static double round_trips(char *data, int size, int rounds, int rank)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(data, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(data, size, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(data, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, size, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - start) / rounds / 2;
}

int main(int argc, char **argv)
{
    int rank, most = argc > 1 ? atoi(argv[1]) : 1 << 22;
    char *data = malloc((size_t)most);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(data, 1, (size_t)most);
    for (int size = 1; size <= most; size *= 4) {
        double best = round_trips(data, size, TRIAL, rank);
        int rounds = (int)(EACH_S / best / 2) + 1;

        MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (int again = 0; again < TIMES; again++) {
            double took = round_trips(data, size, rounds, rank);

            best = took < best ? took : best;
        }
        if (rank == 0)
            printf("%d %.3f\n", size, best * 1e6);
    }
    MPI_Finalize();
    return 0;
}
