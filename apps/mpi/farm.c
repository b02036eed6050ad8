/* A farm: the master hands out tasks to whoever asks, and sums what comes back.  farm [TASKS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { RESULT = 1, TASK, END };

/* Steps of Collatz's sequence. */
static long steps_from(long number)
{
    long steps = 0;

    for (; number != 1; steps++)
        number = number % 2 ? 3 * number + 1 : number / 2;
    return steps;
}

static void work(void)
{
    long result[2] = {0, 0};

    for (;;) {
        MPI_Status status;
        long task;

        MPI_Send(result, 2, MPI_LONG, 0, RESULT, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == END)
            return;
        result[0] = task;
        result[1] = steps_from(task);
    }
}

static void direct(int workers, long tasks)
{
    long next = 1, sum = 0, longest = 0, of = 0;

    while (workers > 0) {
        MPI_Status status;
        long result[2];

        MPI_Recv(result, 2, MPI_LONG, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        sum += result[1];
        if (result[1] > longest || (result[1] == longest && result[0] < of)) {
            longest = result[1];
            of = result[0];
        }
        if (next <= tasks) {
            MPI_Send(&next, 1, MPI_LONG, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
            next++;
        } else {
            MPI_Send(&next, 0, MPI_LONG, status.MPI_SOURCE, END, MPI_COMM_WORLD);
            workers--;
        }
    }
    printf("%ld tasks: %ld steps in all, at most %ld from %ld\n", tasks, sum, longest, of);
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "farm: at least 2 processes are needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0)
        direct(size - 1, argc > 1 ? atol(argv[1]) : 2000);
    else
        work();
    MPI_Finalize();
    return 0;
}
