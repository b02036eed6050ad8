/* foreign.c - a program that was started by an MPI launcher instead of bsprun.  Each of the
 * processes that mpirun starts would be a job of its own, which is seldom intended. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/io.h"
#include "lib/rt/rt.h"

/* The value of the first of the variables that is a number, or -1. */
static long number_in(const char *const *names)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        char *end;
        long value;

        if (!text || *text < '0' || *text > '9')
            continue;
        value = strtol(text, &end, 10);
        if (*end == '\0')
            return value;
    }
    return -1;
}

void bspz_hint_of_mpi(void)
{
    /* Open MPI, PMI (MPICH, Intel MPI), and PMIx, which tells only the rank. */
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL};
    long size = number_in(sizes), rank = number_in(ranks);
    char text[200], count[32] = "several";

    /* One of them warns for all; without a size, rank 1 proves that there are several. */
    if (size >= 0 ? size < 2 || rank != 0 : rank != 1)
        return;
    if (size >= 0)
        snprintf(count, sizeof count, "%ld", size);
    bspz_write_all(STDERR_FILENO, text,
                   (size_t)snprintf(text, sizeof text,
                                    "bspzero: mpirun has started %s programs, each a job of "
                                    "its own: start one job of %s processes with bsprun "
                                    "-np %s\n",
                                    count, count, size >= 0 ? count : "N"));
}
