/* Heat on a square, by Jacobi's iteration on a grid of processes: each has a block and exchanges
 * its edges with four neighbours.  jacobi [ORDER] [STEPS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { UP, DOWN, LEFT, RIGHT };

static int rank, size, rows, columns, height, width, n;
static double *now, *next;

static double *at(double *grid, int i, int j)
{
    return &grid[(size_t)i * (size_t)(width + 2) + (size_t)j];
}

static void choose_grid(void)
{
    for (rows = 1; (rows + 1) * (rows + 1) <= size; rows++)
        continue;
    while (size % rows != 0)
        rows--;
    columns = size / rows;
}

static int first(int part, int parts)
{
    return n / parts * part + (part < n % parts ? part : n % parts);
}

static int neighbour(int row, int column)
{
    return row < 0 || row >= rows || column < 0 || column >= columns ? MPI_PROC_NULL
                                                                     : row * columns + column;
}

static void exchange(void)
{
    int row = rank / columns, column = rank % columns, count = 0;
    int up = neighbour(row - 1, column), down = neighbour(row + 1, column);
    int left = neighbour(row, column - 1), right = neighbour(row, column + 1);
    double *out = malloc((size_t)height * 2 * sizeof *out);
    double *in = malloc((size_t)height * 2 * sizeof *in);
    MPI_Request requests[8];

    for (int i = 0; i < height; i++) {
        out[i] = *at(now, i + 1, 1);
        out[height + i] = *at(now, i + 1, width);
        in[i] = *at(now, i + 1, 0);
        in[height + i] = *at(now, i + 1, width + 1);
    }
    MPI_Irecv(at(now, 0, 1), width, MPI_DOUBLE, up, DOWN, MPI_COMM_WORLD, &requests[count++]);
    MPI_Irecv(at(now, height + 1, 1), width, MPI_DOUBLE, down, UP, MPI_COMM_WORLD,
              &requests[count++]);
    MPI_Irecv(in, height, MPI_DOUBLE, left, RIGHT, MPI_COMM_WORLD, &requests[count++]);
    MPI_Irecv(in + height, height, MPI_DOUBLE, right, LEFT, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(at(now, 1, 1), width, MPI_DOUBLE, up, UP, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(at(now, height, 1), width, MPI_DOUBLE, down, DOWN, MPI_COMM_WORLD,
              &requests[count++]);
    MPI_Isend(out, height, MPI_DOUBLE, left, LEFT, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(out + height, height, MPI_DOUBLE, right, RIGHT, MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < height; i++) {
        *at(now, i + 1, 0) = in[i];
        *at(now, i + 1, width + 1) = in[height + i];
    }
    free(out);
    free(in);
}

/* Returns the largest change. */
static double step(void)
{
    double change = 0.0, *swap;

    exchange();
    for (int i = 1; i <= height; i++)
        for (int j = 1; j <= width; j++) {
            double old = *at(now, i, j);
            double mean = 0.25 * (*at(now, i - 1, j) + *at(now, i + 1, j) + *at(now, i, j - 1) +
                                  *at(now, i, j + 1));

            *at(next, i, j) = mean;
            if (mean - old > change)
                change = mean - old;
            if (old - mean > change)
                change = old - mean;
        }
    swap = now;
    now = next;
    next = swap;
    return change;
}

/* The top edge is at 100 degrees, the others at 0. */
static void begin(void)
{
    size_t cells = (size_t)(height + 2) * (size_t)(width + 2);

    now = calloc(cells, sizeof *now);
    next = calloc(cells, sizeof *next);
    if (!now || !next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int j = 0; rank / columns == 0 && j < width + 2; j++)
        *at(now, 0, j) = *at(next, 0, j) = 100.0;
}

int main(int argc, char **argv)
{
    int steps = argc > 2 ? atoi(argv[2]) : 200;
    double change = 0.0, largest;

    n = argc > 1 ? atoi(argv[1]) : 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    choose_grid();
    height = first(rank / columns + 1, rows) - first(rank / columns, rows);
    width = first(rank % columns + 1, columns) - first(rank % columns, columns);
    begin();
    for (int i = 1; i <= steps; i++) {
        change = step();
        if (i % 50 == 0) {
            MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (rank == 0)
                printf("step %d: largest change %.17g\n", i, largest);
        }
    }
    for (int i = 0; i < size; i++) {
        double middle = *at(now, height / 2 + 1, width / 2 + 1);

        if (i == rank && rank > 0)
            MPI_Send(&middle, 1, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD);
        if (rank == 0 && i > 0)
            MPI_Recv(&middle, 1, MPI_DOUBLE, i, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0)
            printf("middle of block %d: %.17g\n", i, middle);
    }
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
