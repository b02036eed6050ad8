/* Sample sort with regular samples; buckets go by messages of the sizes that an all-to-all has
 * told. samplesort [NUMBERS OF EACH PROCESS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

static void sort(unsigned *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, by_value);
}

static unsigned *allocate(int count)
{
    return malloc((size_t)(count > 0 ? count : 1) * sizeof(unsigned));
}

/* The least value of every bucket but the first. */
static void choose(const unsigned *own, int count, unsigned *limits, int size)
{
    unsigned *samples = allocate(size), *all = allocate(size * size);

    for (int i = 0; i < size; i++)
        samples[i] = own[(long)i * count / size];
    MPI_Allgather(samples, size, MPI_UNSIGNED, all, size, MPI_UNSIGNED, MPI_COMM_WORLD);
    sort(all, size * size);
    for (int i = 1; i < size; i++)
        limits[i - 1] = all[i * size];
    free(samples);
    free(all);
}

int main(int argc, char **argv)
{
    int rank, size, count = argc > 1 ? atoi(argv[1]) : 20000, total = 0, least, most;
    int gives[256], gets[256];
    unsigned *own, *bucket, *here, limits[256], state;
    unsigned long sum = 0, sums;
    MPI_Request requests[256];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 256)
        MPI_Abort(MPI_COMM_WORLD, 2);
    own = allocate(count);
    state = 12345u + 999u * (unsigned)rank;
    for (int i = 0; i < count; i++)
        own[i] = (state = state * 1664525u + 1013904223u) >> 4;
    sort(own, count);
    choose(own, count, limits, size);
    for (int to = 0, i = 0; to < size; to++) {
        int first = i;

        while (i < count && (to == size - 1 || own[i] < limits[to]))
            i++;
        gives[to] = i - first;
    }
    MPI_Alltoall(gives, 1, MPI_INT, gets, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        total += gets[i];
    here = allocate(total);
    bucket = own;
    for (int to = 0; to < size; to++) {
        MPI_Isend(bucket, gives[to], MPI_UNSIGNED, to, 7, MPI_COMM_WORLD, &requests[to]);
        bucket += gives[to];
    }
    for (int from = 0, used = 0; from < size; from++) {
        MPI_Recv(here + used, gets[from], MPI_UNSIGNED, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        used += gets[from];
    }
    MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
    sort(here, total);
    for (int i = 0; i < total; i++)
        sum += (unsigned long)here[i] * (unsigned long)(i % 11 + 1);
    MPI_Reduce(&total, &least, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&total, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &sums, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d numbers sorted, digest %lu, %d to %d in a process\n", count * size, sums, least,
               most);
    free(own);
    free(here);
    MPI_Finalize();
    return 0;
}
