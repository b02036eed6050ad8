/* Odd-even transposition sort: neighbours merge their numbers in turn.  oddeven [NUMBERS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* Keeps the lower or the upper half of both. */
static void keep(int *own, const int *other, int *work, int count, int lower)
{
    if (lower) {
        for (int i = 0, j = 0, k = 0; k < count; k++)
            work[k] = own[i] <= other[j] ? own[i++] : other[j++];
    } else {
        for (int i = count - 1, j = count - 1, k = count - 1; k >= 0; k--)
            work[k] = own[i] >= other[j] ? own[i--] : other[j--];
    }
    memcpy(own, work, (size_t)count * sizeof *own);
}

int main(int argc, char **argv)
{
    int rank, size, count = argc > 1 ? atoi(argv[1]) : 1000;
    int *own, *other, *work, *all = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    count = count / size > 0 ? count / size : 1;
    own = malloc((size_t)count * sizeof *own);
    other = malloc((size_t)count * sizeof *own);
    work = malloc((size_t)count * sizeof *own);
    srand(17u * (unsigned)rank + 1);
    for (int i = 0; i < count; i++)
        own[i] = rand() % 100000;
    qsort(own, (size_t)count, sizeof *own, by_value);
    for (int phase = 0; phase < size; phase++) {
        int partner = (phase + rank) % 2 == 0 ? rank + 1 : rank - 1;

        if (partner < 0 || partner >= size)
            partner = MPI_PROC_NULL;
        MPI_Sendrecv(own, count, MPI_INT, partner, phase, other, count, MPI_INT, partner, phase,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (partner != MPI_PROC_NULL)
            keep(own, other, work, count, rank < partner);
    }
    if (rank == 0)
        all = malloc((size_t)count * (size_t)size * sizeof *all);
    MPI_Gather(own, count, MPI_INT, all, count, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 1; i < count * size; i++)
            if (all[i - 1] > all[i]) {
                printf("not sorted at %d\n", i);
                MPI_Abort(MPI_COMM_WORLD, 2);
            }
        printf("%d numbers sorted, from %d to %d, middle %d\n", count * size, all[0],
               all[count * size - 1], all[count * size / 2]);
        free(all);
    }
    free(own);
    free(other);
    free(work);
    MPI_Finalize();
    return 0;
}
