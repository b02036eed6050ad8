/* pool.c - a program of several threads: OpenMP has its pool in each superstep.
 *
 *   pool DIRECTORY SUPERSTEPS ASKED   by the program itself, before bsp_begin, unless ASKED is 0
 *
 * Prints how many teams there were, how many threads they had together, and a sum. */
#include <bsp.h>
#include <dirent.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/recovery/outside.h"

#define WORK 10000

static int count_threads(void)
{
    DIR *directory = opendir("/proc/self/task");
    int count = -2; /* . and .. */

    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

static long work(int s, int *members)
{
    long sum = 0;
    int here = 0;

#pragma omp parallel reduction(+ : sum, here)
    {
        here = 1;
#pragma omp for schedule(runtime)
        for (int i = 0; i < WORK; i++)
            sum += (long)i * s % 7;
    }
    *members = here;
    return sum;
}

int main(int argc, char **argv)
{
    int supersteps = argc > 2 ? atoi(argv[2]) : 0, asked = argc > 3 ? atoi(argv[3]) : 0;
    int teams = 0, threads = 0, missing = 0, members;
    long sum = 0;

    if (supersteps < 1)
        return 2;
    outside_directory = argv[1];
    if (asked > 0)
        omp_set_num_threads(asked);
    omp_set_schedule(omp_sched_dynamic, 17);
    work(0, &members); /* the pool is there before the other processes are */
    bsp_begin(bsp_nprocs());
    for (int s = 1; s <= supersteps; s++) {
        omp_sched_t kind;
        int chunk;

        outside_superstep(s);
        sum += work(s, &members);
        teams++;
        threads += members;
        missing += count_threads() < members;
        omp_get_schedule(&kind, &chunk);
        missing += kind != omp_sched_dynamic || chunk != 17;
        bsp_sync();
    }
    printf("process %d: %d teams, %d threads, %d missing, sum %ld\n", bsp_pid(), teams, threads,
           missing, sum);
    outside_end(supersteps);
    bsp_end();
    return 0;
}
