/* Measures s, l, g and n_half of the machine it runs on.
 *
 * s is the rate of y := a x + y on vectors that stay in the cache, all processes at once, until the
 * last one is done: where processes share cores, the first one may be done long before.  l is
 * the time of an empty superstep, g the time per 32-bit word of a total exchange in large blocks,
 * both counted in flops of that rate.  For n_half the same number of words is sent in messages of
 * n = 1 .. 32 words to places that do not adjoin: the cost per word follows g + b/n, a line
 * through the measurements gives b, and n_half = b/g.
 *
 * Every figure is the median of several batches; process 0 measures the time and sets the length of
 * a batch for all.
 */
#include "tools/bspparam/probe.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/bsp.h"

enum {
    BATCHES = 7,
    FIGURES = 8, /* figures that share the allotted time */
    VECTOR = 1024,
    BLOCK_WORDS = 65536,     /* words each process sends in an exchange by blocks */
    SCATTERED_WORDS = 4096,  /* ... and by small messages */
    LARGEST_MESSAGE_LOG = 5, /* messages of 1, 2, 4 .. 32 words */
};

struct probe {
    double batch_seconds;
    int processes, pid;
    int message_words;
    uint32_t *source, *target;
    double *x, *y;
};

static struct probe probe;
static long agreed;

static void compute(void)
{
    for (int i = 0; i < VECTOR; i++)
        probe.y[i] = 0.5 * probe.x[i] + probe.y[i];
}

static void superstep_empty(void)
{
    bsp_sync();
}

/* The k-th destination; the process itself only if p is 1. */
static int partner(int k)
{
    if (probe.processes == 1)
        return 0;
    return (probe.pid + 1 + k % (probe.processes - 1)) % probe.processes;
}

static int partners(void)
{
    return probe.processes > 1 ? probe.processes - 1 : 1;
}

static void superstep_blocks(void)
{
    int words = BLOCK_WORDS / partners();

    for (int k = 0; k < partners(); k++)
        bsp_put(partner(k), probe.source, probe.target,
                (ptrdiff_t)probe.pid * words * (ptrdiff_t)sizeof(uint32_t),
                (ptrdiff_t)(words * sizeof(uint32_t)));
    bsp_sync();
}

/* A gap of one word after every message prevents messages from being merged. */
static void superstep_scattered(void)
{
    int n = probe.message_words;

    for (int k = 0; k < SCATTERED_WORDS / n; k++)
        bsp_put(partner(k), probe.source + k, probe.target,
                (ptrdiff_t)k * (n + 1) * (ptrdiff_t)sizeof(uint32_t),
                (ptrdiff_t)(n * sizeof(uint32_t)));
    bsp_sync();
}

/* Process 0's number, on every process. */
static long agree(long number)
{
    if (probe.pid == 0)
        for (int pid = 0; pid < probe.processes; pid++)
            bsp_put(pid, &number, &agreed, 0, sizeof(number));
    bsp_sync();
    return agreed;
}

static double time_batch(void (*step)(void), long count)
{
    bsp_sync();
    double start = bsp_time();
    for (long i = 0; i < count; i++)
        step();
    if (step == compute)
        bsp_sync();
    return bsp_time() - start;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Seconds that one step takes: the median of several batches. */
static double time_step(void (*step)(void))
{
    double samples[BATCHES];
    long count = 1;

    for (;;) {
        double seconds = time_batch(step, count);
        long next = agree(seconds < probe.batch_seconds ? 2 * count : 0);
        if (next == 0)
            break;
        count = next;
    }
    for (int i = 0; i < BATCHES; i++)
        samples[i] = time_batch(step, count) / (double)count;
    qsort(samples, BATCHES, sizeof(samples[0]), compare_doubles);
    return samples[BATCHES / 2];
}

/* b/g of the line g + b x through the points (x[i], y[i]), at least 1. */
static int fit_n_half(const double *x, const double *y, int count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;

    for (int i = 0; i < count; i++) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    double slope = (count * sxy - sx * sy) / (count * sxx - sx * sx);
    double constant = (sy - slope * sx) / count;
    if (!(slope > 0) || !(constant > 0))
        return 1;
    double n_half = round(slope / constant);
    return n_half < 1 ? 1 : n_half > 1e6 ? 1000000 : (int)n_half;
}

static int measure_n_half(double empty)
{
    double inverse[LARGEST_MESSAGE_LOG + 1], cost[LARGEST_MESSAGE_LOG + 1];

    for (int i = 0; i <= LARGEST_MESSAGE_LOG; i++) {
        probe.message_words = 1 << i;
        inverse[i] = 1.0 / probe.message_words;
        cost[i] = (time_step(superstep_scattered) - empty) / SCATTERED_WORDS;
    }
    return fit_n_half(inverse, cost, LARGEST_MESSAGE_LOG + 1);
}

static void allocate_areas(void)
{
    /* Large enough for both exchanges: a block per process, a gap per small message. */
    size_t words = 2 * (size_t)BLOCK_WORDS + 2 * (size_t)SCATTERED_WORDS;

    probe.source = calloc(words, sizeof(*probe.source));
    probe.target = calloc(words, sizeof(*probe.target));
    probe.x = calloc(VECTOR, sizeof(*probe.x));
    probe.y = calloc(VECTOR, sizeof(*probe.y));
    if (!probe.source || !probe.target || !probe.x || !probe.y)
        bsp_abort("out of memory");
    for (int i = 0; i < VECTOR; i++)
        probe.x[i] = 1.0 / (i + 1);
    bsp_push_reg(probe.target, words * sizeof(*probe.target));
    bsp_push_reg(&agreed, sizeof(agreed));
    bsp_sync();
}

void probe_machine(double seconds)
{
    bsp_begin(0);
    probe.processes = bsp_nprocs();
    probe.pid = bsp_pid();
    probe.batch_seconds = seconds / (FIGURES * (BATCHES + 2));
    allocate_areas();

    double step = time_step(compute);
    double flops_per_second = 2.0 * VECTOR / step;
    double empty = time_step(superstep_empty);
    double blocks = time_step(superstep_blocks);
    int n_half = measure_n_half(empty);
    double words = (double)(BLOCK_WORDS / partners()) * partners();
    double per_word = blocks > empty ? (blocks - empty) / words : blocks / words;

    if (probe.pid == 0) {
        printf("%.6g %.6g %.6g %d\n", flops_per_second / 1e6, empty * flops_per_second,
               per_word * flops_per_second, n_half);
        fflush(stdout);
    }
    bsp_end();
}

void probe_check(void)
{
    bsp_begin(0);
    bsp_sync();
    bsp_end();
}
