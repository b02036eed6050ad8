/* recover.c - processes that work and put what they have found: recover ROUNDS MICROSECONDS
 * apart|ring. Each round takes so long; `apart` nobody waits for another, in a `ring` each for the
 * one before it.  Each shows how long it took, and the sum of what it has got. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <volpex.h>

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int tag_of(char tag[32], int pid, int round)
{
    return snprintf(tag, 32, "%d %d", pid, round);
}

int main(int argc, char **argv)
{
    int rounds = argc > 3 ? atoi(argv[1]) : 100, pid, to;
    unsigned pause = argc > 3 ? (unsigned)atoi(argv[2]) : 1000;
    unsigned long sum = 0;
    double begun;
    char tag[32];

    volpex_init(argc, argv);
    pid = volpex_getProcId();
    to = argc > 3 && strcmp(argv[3], "ring") == 0 ? (pid + 1) % volpex_getNumProc() : pid;
    begun = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < rounds; i++) {
        int value = i * 8 + pid;

        usleep(pause);
        volpex_put(tag, tag_of(tag, to, i), &value, sizeof value);
        volpex_get(tag, tag_of(tag, pid, i), &value, sizeof value);
        sum = sum * 31 + (unsigned long)value;
    }
    fprintf(stderr, "pid %d took %.6f, computed %.6f\n", pid, seconds(CLOCK_MONOTONIC) - begun,
            seconds(CLOCK_PROCESS_CPUTIME_ID));
    printf("pid %d: %lu\n", pid, sum);
    volpex_finalize();
    return 0;
}
