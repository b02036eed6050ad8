/* harness.h - the measuring loop that every benchmark program shares.
 *
 * A program names a line ("put"), a form of doing it ("fence"), a size, and gives a function that
 * performs a number of supersteps.  The harness finds out how many supersteps fill a batch, runs
 * the batches and lets process 0 print one line of JSON with the seconds per superstep of each.
 * The harness knows neither BSPlib nor MPI: what it needs from them is in struct bench_world.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCH_MAX_SIZES = 64,
    BENCH_MAX_REPS = 1000,
    BENCH_MAX_PROCS = 64,
};

/* What to measure; the same on every process. */
struct bench_options {
    int reps;             /* timed batches per point */
    double batch_seconds; /* what one batch should last */
    int procs;            /* for programs that start their processes themselves */
    int nsizes;
    long sizes[BENCH_MAX_SIZES];
    const char *lines; /* comma-separated names; NULL for all */
    const char *forms; /* likewise */
};

/* The processes that measure together. */
struct bench_world {
    int pid;
    int nprocs;
    long (*from_zero)(long value); /* returns process 0's value on every process; synchronises */
};

/* Performs supersteps in a row; ends with all processes synchronised. */
typedef void bench_steps(void *context, long supersteps);

/* Reads --reps, --batch-us, --procs, --sizes, --lines and --forms; ends the program on anything
 * else. */
struct bench_options bench_parse(int argc, char **argv);

/* The largest size of the options, at least minimum. */
long bench_largest(const struct bench_options *options, long minimum);

/* Whether the options ask for this line in this form. */
bool bench_wants(const struct bench_options *options, const char *line, const char *form);

/* Measures one point and prints it.  A point whose single superstep lasts longer than a quarter
 * of a second gets one repetition only, and the answer is false: larger sizes are not worth the
 * time. Collective. */
bool bench_measure(const struct bench_world *world, const struct bench_options *options,
                   const char *line, const char *form, long size, bench_steps *steps,
                   void *context);

/* Ends the program with a message when a received value is not the expected one. */
void bench_expect(bool right, const char *line, const char *form, long size);

/* Seconds of a monotone clock. */
double bench_now(void);

/* Page-aligned memory, written once so that no first-touch fault is timed. */
void *bench_alloc(size_t nbytes);

#endif
