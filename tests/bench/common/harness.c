/* harness.c - option parsing, batch calibration and output for the benchmark programs. */
#include "tests/bench/common/harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void usage(const char *program, const char *what)
{
    fprintf(stderr,
            "%s: bad argument '%s'\n"
            "usage: %s [--reps N] [--batch-us T] [--procs P] [--sizes A,B,..] [--lines A,..] "
            "[--forms A,..]\n",
            program, what, program);
    exit(2);
}

static long parse_number(const char *program, const char *text, char **end, long maximum)
{
    errno = 0;
    long value = strtol(text, end, 10);
    if (errno != 0 || *end == text || value < 0 || value > maximum)
        usage(program, text);
    return value;
}

static void parse_sizes(struct bench_options *options, const char *program, const char *text)
{
    options->nsizes = 0;
    for (;;) {
        char *end;
        if (options->nsizes == BENCH_MAX_SIZES)
            usage(program, text);
        options->sizes[options->nsizes++] = parse_number(program, text, &end, 1L << 40);
        if (*end == '\0')
            return;
        if (*end != ',')
            usage(program, text);
        text = end + 1;
    }
}

struct bench_options bench_parse(int argc, char **argv)
{
    struct bench_options options = {
        .reps = 7, .batch_seconds = 0.05, .procs = 2, .nsizes = 1, .sizes = {1}};
    for (int i = 1; i < argc; i += 2) {
        char *end = "";
        const char *value = argv[i + 1];
        if (value == NULL)
            usage(argv[0], argv[i]);
        if (strcmp(argv[i], "--reps") == 0)
            options.reps = (int)parse_number(argv[0], value, &end, BENCH_MAX_REPS);
        else if (strcmp(argv[i], "--batch-us") == 0)
            options.batch_seconds = 1e-6 * parse_number(argv[0], value, &end, 60L * 1000 * 1000);
        else if (strcmp(argv[i], "--procs") == 0)
            options.procs = (int)parse_number(argv[0], value, &end, BENCH_MAX_PROCS);
        else if (strcmp(argv[i], "--sizes") == 0)
            parse_sizes(&options, argv[0], value);
        else if (strcmp(argv[i], "--lines") == 0)
            options.lines = value;
        else if (strcmp(argv[i], "--forms") == 0)
            options.forms = value;
        else
            usage(argv[0], argv[i]);
        if (*end != '\0')
            usage(argv[0], value);
    }
    if (options.reps < 1 || options.procs < 1)
        usage(argv[0], "0");
    return options;
}

long bench_largest(const struct bench_options *options, long minimum)
{
    long largest = minimum;
    for (int i = 0; i < options->nsizes; i++) {
        if (options->sizes[i] > largest)
            largest = options->sizes[i];
    }
    return largest;
}

static bool in_list(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (list != NULL) {
        if (strncmp(list, name, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return true;
        list = strchr(list, ',');
        if (list != NULL)
            list++;
    }
    return false;
}

bool bench_wants(const struct bench_options *options, const char *line, const char *form)
{
    return (options->lines == NULL || in_list(options->lines, line)) &&
           (options->forms == NULL || in_list(options->forms, form));
}

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_batch(const struct bench_world *world, bench_steps *steps, void *context,
                         long supersteps)
{
    world->from_zero(0);
    double start = bench_now();
    steps(context, supersteps);
    return bench_now() - start;
}

static const double TOO_SLOW_SECONDS = 0.25;

/* How the supersteps of a batch were found. */
struct calibration {
    long supersteps;
    double last_seconds; /* of the last trial batch */
    bool too_slow;
};

/* Doubles the number of supersteps until they last long enough to extrapolate.  What this runs is
 * the warm-up as well: two supersteps that are not timed at all, for buffers that alternate and
 * grow, then never less than half a batch.  Process 0's clock decides for all. */
static struct calibration calibrate(const struct bench_world *world,
                                    const struct bench_options *options, bench_steps *steps,
                                    void *context)
{
    enum verdict { MORE, ENOUGH, TOO_SLOW };
    struct calibration result = {.supersteps = 1};
    time_batch(world, steps, context, 2);
    for (;;) {
        result.last_seconds = time_batch(world, steps, context, result.supersteps);
        double ratio = options->batch_seconds / result.last_seconds;
        enum verdict verdict = ENOUGH;
        if (ratio > 2)
            verdict = MORE;
        else if (result.supersteps == 1 && result.last_seconds > TOO_SLOW_SECONDS)
            verdict = TOO_SLOW;
        verdict = (enum verdict)world->from_zero(verdict);
        if (verdict == TOO_SLOW)
            result.too_slow = true;
        if (verdict != MORE) {
            long fitting = (long)((double)result.supersteps * ratio + 0.5);
            fitting = world->from_zero(fitting);
            result.supersteps = fitting > 0 ? fitting : 1;
            return result;
        }
        result.supersteps *= 2;
    }
}

bool bench_measure(const struct bench_world *world, const struct bench_options *options,
                   const char *line, const char *form, long size, bench_steps *steps, void *context)
{
    static double seconds[BENCH_MAX_REPS];
    if (!bench_wants(options, line, form))
        return true;
    struct calibration found = calibrate(world, options, steps, context);
    int reps = found.too_slow ? 1 : options->reps;
    seconds[0] = found.last_seconds;
    for (int i = 0; i < reps && !found.too_slow; i++)
        seconds[i] = time_batch(world, steps, context, found.supersteps) / (double)found.supersteps;
    if (world->pid != 0)
        return !found.too_slow;
    printf("{\"line\":\"%s\",\"form\":\"%s\",\"size\":%ld,\"procs\":%d,\"batch\":%ld,\"seconds\":[",
           line, form, size, world->nprocs, found.supersteps);
    for (int i = 0; i < reps; i++)
        printf("%s%.4e", i > 0 ? "," : "", seconds[i]);
    printf("]}\n");
    fflush(stdout);
    return !found.too_slow;
}

void bench_expect(bool right, const char *line, const char *form, long size)
{
    if (right)
        return;
    fprintf(stderr, "benchmark %s (%s), size %ld: wrong data arrived\n", line, form, size);
    exit(3);
}

void *bench_alloc(size_t nbytes)
{
    size_t whole_pages = (nbytes + 4095) / 4096 * 4096;
    void *memory = aligned_alloc(4096, whole_pages);
    if (memory == NULL) {
        fprintf(stderr, "benchmark: no memory for %zu bytes\n", nbytes);
        exit(3);
    }
    memset(memory, 1, whole_pages);
    return memory;
}
