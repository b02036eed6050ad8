/* Conway's game of life on a torus; each process has some rows.  life [WIDTH] [HEIGHT] [STEPS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int width;

static int alive(const char *rows, int i, int j)
{
    return rows[(size_t)i * (size_t)width + (size_t)((j + width) % width)];
}

static void step(const char *now, char *next, int rows)
{
    for (int i = 1; i <= rows; i++)
        for (int j = 0; j < width; j++) {
            int around = 0;

            for (int di = -1; di <= 1; di++)
                for (int dj = -1; dj <= 1; dj++)
                    around += (di || dj) && alive(now, i + di, j + dj);
            next[(size_t)i * (size_t)width + (size_t)j] =
                (char)(around == 3 || (around == 2 && alive(now, i, j)));
        }
}

static void show(const char *world, int height)
{
    for (int i = 0; i < height; i++) {
        for (int j = 0; j < width; j++)
            putchar(world[i * width + j] ? '#' : '.');
        putchar('\n');
    }
}

/* How many rows, or cells, each process has, and where they begin. */
static void share(int height, int size, int *counts, int *places)
{
    for (int i = 0, row = 0; i < size; i++) {
        int rows = height / size + (i < height % size);

        counts[i] = rows;
        places[i] = row;
        row += rows;
    }
}

int main(int argc, char **argv)
{
    int rank, size, height = argc > 2 ? atoi(argv[2]) : 24, steps = argc > 3 ? atoi(argv[3]) : 40;
    int counts[1024], places[1024], rows, alive_here = 0, alive_all;
    char *world = NULL, *now, *next, *swap;
    MPI_Datatype row;

    width = argc > 1 ? atoi(argv[1]) : 32;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (height < size || size > 1024)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Type_contiguous(width, MPI_CHAR, &row);
    MPI_Type_commit(&row);
    share(height, size, counts, places);
    rows = counts[rank];
    now = calloc((size_t)(rows + 2), (size_t)width);
    next = calloc((size_t)(rows + 2), (size_t)width);
    if (rank == 0) {
        world = malloc((size_t)height * (size_t)width);
        srand(5);
        for (int i = 0; i < height * width; i++)
            world[i] = (char)(rand() % 3 == 0);
    }
    MPI_Scatterv(world, counts, places, row, now + width, rows, row, 0, MPI_COMM_WORLD);
    for (int i = 0; i < steps; i++) {
        int up = (rank + size - 1) % size, down = (rank + 1) % size;

        MPI_Sendrecv(now + width, 1, row, up, 0, now + (rows + 1) * width, 1, row, down, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(now + rows * width, 1, row, down, 1, now, 1, row, up, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        step(now, next, rows);
        swap = now;
        now = next;
        next = swap;
    }
    for (int i = width; i < (rows + 1) * width; i++)
        alive_here += now[i];
    MPI_Allreduce(&alive_here, &alive_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gatherv(now + width, rows, row, world, counts, places, row, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        show(world, height);
        printf("%d alive after %d steps\n", alive_all, steps);
        free(world);
    }
    MPI_Type_free(&row);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
