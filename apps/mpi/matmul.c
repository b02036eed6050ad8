/* Matrix multiplication by a master and workers: the master sends each worker rows of A and all of
 * B, and collects the rows of C.  matmul [ORDER] [time] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FROM_MASTER = 1, FROM_WORKER = 2 };

static void *allocate(size_t count)
{
    void *at = malloc(count * sizeof(double));

    if (!at) {
        fprintf(stderr, "matmul: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return at;
}

/* Row by row, so that all of B's and C's rows are read in order. */
static void multiply(const double *a, const double *b, double *c, int rows, int n)
{
    memset(c, 0, (size_t)rows * (size_t)n * sizeof *c);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < n; k++) {
            double factor = a[(size_t)i * (size_t)n + (size_t)k];

            for (int j = 0; j < n; j++)
                c[(size_t)i * (size_t)n + (size_t)j] +=
                    factor * b[(size_t)k * (size_t)n + (size_t)j];
        }
}

static void work(int n)
{
    int rows, offset;
    double *a, *b = allocate((size_t)n * (size_t)n), *c;

    MPI_Recv(&offset, 1, MPI_INT, 0, FROM_MASTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&rows, 1, MPI_INT, 0, FROM_MASTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    a = allocate((size_t)rows * (size_t)n);
    c = allocate((size_t)rows * (size_t)n);
    MPI_Recv(a, rows * n, MPI_DOUBLE, 0, FROM_MASTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(b, n * n, MPI_DOUBLE, 0, FROM_MASTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    multiply(a, b, c, rows, n);
    MPI_Send(&offset, 1, MPI_INT, 0, FROM_WORKER, MPI_COMM_WORLD);
    MPI_Send(&rows, 1, MPI_INT, 0, FROM_WORKER, MPI_COMM_WORLD);
    MPI_Send(c, rows * n, MPI_DOUBLE, 0, FROM_WORKER, MPI_COMM_WORLD);
    free(a);
    free(b);
    free(c);
}

static void direct(int n, int workers, double *a, double *b, double *c)
{
    int offset = 0;

    for (int worker = 1; worker <= workers; worker++) {
        int rows = n / workers + (worker <= n % workers);

        MPI_Send(&offset, 1, MPI_INT, worker, FROM_MASTER, MPI_COMM_WORLD);
        MPI_Send(&rows, 1, MPI_INT, worker, FROM_MASTER, MPI_COMM_WORLD);
        MPI_Send(a + (size_t)offset * (size_t)n, rows * n, MPI_DOUBLE, worker, FROM_MASTER,
                 MPI_COMM_WORLD);
        MPI_Send(b, n * n, MPI_DOUBLE, worker, FROM_MASTER, MPI_COMM_WORLD);
        offset += rows;
    }
    for (int i = 0; i < workers; i++) {
        MPI_Status status;
        int rows;

        MPI_Recv(&offset, 1, MPI_INT, MPI_ANY_SOURCE, FROM_WORKER, MPI_COMM_WORLD, &status);
        MPI_Recv(&rows, 1, MPI_INT, status.MPI_SOURCE, FROM_WORKER, MPI_COMM_WORLD, &status);
        MPI_Recv(c + (size_t)offset * (size_t)n, rows * n, MPI_DOUBLE, status.MPI_SOURCE,
                 FROM_WORKER, MPI_COMM_WORLD, &status);
    }
}

static double checksum(const double *c, int n)
{
    double sum = 0.0;

    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        sum += c[i] * (double)(i % 7 + 1);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 200;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        work(n);
    } else {
        size_t count = (size_t)n * (size_t)n;
        double *a = allocate(count), *b = allocate(count), *c = allocate(count), start, end;

        for (size_t i = 0; i < count; i++) {
            a[i] = (double)(i % 13) - 6.0;
            b[i] = (double)(i % 17) - 8.0;
        }
        start = MPI_Wtime();
        if (size > 1)
            direct(n, size - 1, a, b, c);
        else
            multiply(a, b, c, n, n);
        end = MPI_Wtime();
        printf("order %d: checksum %.1f\n", n, checksum(c, n));
        if (argc > 2)
            printf("seconds %.6f\n", end - start);
        free(a);
        free(b);
        free(c);
    }
    MPI_Finalize();
    return 0;
}
