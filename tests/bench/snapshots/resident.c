/* resident - a BSP program with a given amount of memory per process, for measuring snapshots.
 *
 *   resident MIB KIND PERCENT SUPERSTEPS MILLISECONDS LOG
 *
 * KIND noise (does not compress) or smooth (doubles of a smooth function).  In each superstep every
 * process rewrites PERCENT of its pages, computes for about so many milliseconds without memory,
 * and synchronises.  It appends a line to LOG, which is opened and closed each time and so is no
 * part of a snapshot: "pid ospid superstep began_ns rewritten_ns entered_ns left_ns" of the
 * monotonic clock.  At the end the sum of all memory is printed, which must not depend on what was
 * killed.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bsp.h>

#define PAGE  4096
#define WORDS (PAGE / sizeof(double))

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fill_page(double *page, uint64_t number, uint64_t round, int noise)
{
    uint64_t state = number * UINT64_C(0x9e3779b97f4a7c15) + round + 1;

    for (size_t i = 0; i < WORDS; i++) {
        if (noise) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            memcpy(&page[i], &state, sizeof state);
        } else {
            page[i] = 1.0 + (double)(number % 1000) * 1e-3 + (double)(round + i) * 1e-6;
        }
    }
}

static void compute(long milliseconds)
{
    uint64_t until = now_ns() + (uint64_t)milliseconds * 1000000u;
    volatile double x = 1;

    while (now_ns() < until)
        for (int i = 0; i < 1000; i++)
            x = sqrt(x + i);
}

static uint64_t checksum(const double *memory, uint64_t pages)
{
    const unsigned char *bytes = (const unsigned char *)memory;
    uint64_t sum = 0, word;

    for (uint64_t i = 0; i < pages * PAGE; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
    }
    return sum;
}

static void note(const char *log, int superstep, const uint64_t times[4])
{
    FILE *file = fopen(log, "a");

    if (!file)
        return;
    fprintf(file, "%d %d %d %llu %llu %llu %llu\n", bsp_pid(), (int)getpid(), superstep,
            (unsigned long long)times[0], (unsigned long long)times[1],
            (unsigned long long)times[2], (unsigned long long)times[3]);
    fclose(file);
}

int main(int argc, char **argv)
{
    bsp_begin(0);
    if (argc != 7)
        bsp_abort("usage: resident MIB noise|smooth PERCENT SUPERSTEPS MILLISECONDS LOG\n");
    uint64_t pages = strtoull(argv[1], NULL, 10) * 256, next = 0;
    int noise = strcmp(argv[2], "noise") == 0, supersteps = atoi(argv[4]);
    double part = atof(argv[3]) / 100;
    double *memory = aligned_alloc(PAGE, pages * PAGE);
    uint64_t sum, *sums = calloc((size_t)bsp_nprocs(), sizeof *sums);

    for (uint64_t i = 0; i < pages; i++)
        fill_page(memory + i * WORDS, i + (uint64_t)bsp_pid() * pages, 0, noise);
    bsp_push_reg(sums, bsp_nprocs() * (int)sizeof *sums);
    bsp_sync();
    for (int superstep = 1; superstep <= supersteps; superstep++) {
        uint64_t times[4] = {now_ns()};
        uint64_t count = (uint64_t)((double)pages * part);
        uint64_t stride = count ? pages / count : 1;

        for (uint64_t i = 0; i < count; i++)
            fill_page(memory + (next + i * stride) % pages * WORDS, i, (uint64_t)superstep, noise);
        next++;
        times[1] = now_ns();
        compute(atol(argv[5]));
        times[2] = now_ns();
        bsp_sync();
        times[3] = now_ns();
        note(argv[6], superstep, times);
    }
    sum = checksum(memory, pages);
    bsp_put(0, &sum, sums, bsp_pid() * (int)sizeof sum, sizeof sum);
    bsp_sync();
    for (int i = 0; bsp_pid() == 0 && i < bsp_nprocs(); i++)
        printf("%d %016llx\n", i, (unsigned long long)sums[i]);
    bsp_end();
    return 0;
}
