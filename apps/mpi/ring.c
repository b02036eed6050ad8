/* A token that grows goes around the processes.  ring [ROUNDS] [MOST] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 10,
                    most = argc > 2 ? atoi(argv[2]) : 100000;
    unsigned char *token;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    token = calloc((size_t)most, 1);
    for (int round = 0, length = 1; round < rounds; round++) {
        int next = (rank + 1) % size, before = (rank + size - 1) % size;
        MPI_Request request;
        MPI_Status status;

        if (rank == 0) {
            MPI_Isend(token, length, MPI_BYTE, next, round, MPI_COMM_WORLD, &request);
            MPI_Probe(before, round, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &length);
            unsigned char *came = malloc((size_t)length);
            MPI_Recv(came, length, MPI_BYTE, before, round, MPI_COMM_WORLD, &status);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            memcpy(token, came, (size_t)length);
            free(came);
        } else {
            MPI_Recv(token, most, MPI_BYTE, before, round, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &length);
            for (int i = 0; i < length; i++)
                token[i] = (unsigned char)(token[i] + rank + i);
            MPI_Ssend(token, length, MPI_BYTE, next, round, MPI_COMM_WORLD);
        }
        if (rank == 0) {
            unsigned sum = 0;

            for (int i = 0; i < length; i++)
                sum = 31 * sum + token[i];
            printf("round %d: %d bytes, digest %u\n", round, length, sum);
        }
        length = length * 4 < most ? length * 4 : most;
    }
    free(token);
    MPI_Finalize();
    return 0;
}
