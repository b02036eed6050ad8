/* burner.c - a program that computes: burner SUPERSTEPS MICROSECONDS [KIBIBYTES [PERCENT]]
 *
 * Each process needs so much processor time in each superstep, of a quick machine's core, changes
 * so many percent of the pages of its state of so many KiB, and gives its neighbour a digest of it.
 * Process 0 prints a digest of all in the end, which depends on every superstep of every process,
 * and on stderr how long the median and the longest three supersteps were.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <bsp.h>

#define STEPS_PER_US 400u
#define PAGE_WORDS   512u

static uint64_t mix(uint64_t digest, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++) {
        digest ^= digest << 13;
        digest ^= digest >> 7;
        digest ^= digest << 17;
    }
    return digest;
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int longest_first(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left < right) - (left > right);
}

static void tell_times(double *times, unsigned long count)
{
    if (count < 3)
        return;
    qsort(times, count, sizeof *times, longest_first);
    fprintf(stderr, "supersteps: median %.1f ms, longest %.1f %.1f %.1f ms\n", times[count / 2],
            times[0], times[1], times[2]);
}

int main(int argc, char **argv)
{
    unsigned long supersteps = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long work = argc > 2 ? strtoul(argv[2], NULL, 10) * STEPS_PER_US : 0;
    size_t words = (argc > 3 ? strtoul(argv[3], NULL, 10) : 64) * 128;
    size_t pages = words / PAGE_WORDS, share = argc > 4 ? strtoul(argv[4], NULL, 10) : 100;
    uint64_t left = 0;

    bsp_begin(bsp_nprocs());
    int p = bsp_nprocs(), pid = bsp_pid();
    uint64_t *state = calloc(words, sizeof *state);
    uint64_t digest = (uint64_t)pid + 1;
    double *times = calloc(supersteps + 1, sizeof *times), begun = now_ms();

    if (!state || !times)
        bsp_abort("no memory");
    for (size_t i = 0; i < words; i++)
        state[i] = digest + i * UINT64_C(0x9e3779b97f4a7c15);
    bsp_push_reg(&left, sizeof left);
    bsp_sync();
    for (unsigned long i = 0; i < supersteps; i++) {
        digest = mix(digest ^ left ^ (i + 1) << 32, work);
        for (size_t j = 0; j < pages * share / 100; j++) {
            uint64_t *page = state + (i * (pages * share / 100) + j) % pages * PAGE_WORDS;
            digest += (page[i % PAGE_WORDS] += digest + j) >> 7;
        }
        bsp_put((pid + 1) % p, &digest, &left, 0, sizeof digest);
        bsp_sync();
        double now = now_ms();
        times[i] = now - begun;
        begun = now;
    }
    uint64_t *all = calloc((size_t)p, sizeof *all);
    bsp_push_reg(all, (size_t)p * sizeof *all);
    bsp_sync();
    bsp_put(0, &digest, all, pid * (int)sizeof digest, sizeof digest);
    bsp_sync();
    for (int i = 0; pid == 0 && i < p; i++)
        digest = mix(digest ^ all[i], 1);
    if (pid == 0) {
        printf("%016llx\n", (unsigned long long)digest);
        tell_times(times, supersteps);
    }
    bsp_end();
    return 0;
}
