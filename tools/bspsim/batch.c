/* batch.c - many simulated jobs; see batch.h. */
#include "tools/bspsim/batch.h"

#include <math.h>
#include <stdlib.h>

#define NS 1e9

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* Interpolates between the two nearest values. */
static double quantile(const double *sorted, uint32_t count, double share)
{
    double place = share * (count - 1);
    uint32_t below = (uint32_t)place, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

static void add(struct batch_result *result, const struct job_result *job)
{
    uint64_t known_ns = job->saving_ns + job->down_ns + job->waiting_ns + job->useful_ns;
    result->finished += job->finished;
    result->failures += (double)job->failures;
    result->snapshots += (double)job->snapshots;
    result->restores += (double)job->restores;
    result->useful += (double)job->useful_ns / NS;
    result->saving += (double)job->saving_ns / NS;
    result->down += (double)job->down_ns / NS;
    result->waiting += (double)job->waiting_ns / NS;
    if (job->total_ns > known_ns)
        result->lost += (double)(job->total_ns - known_ns) / NS;
    observed_error_add(&result->estimate, &job->error);
}

static void conclude(struct batch_result *result, double *seconds)
{
    uint32_t runs = result->runs;
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < runs; i++)
        sum += seconds[i];
    result->seconds = sum / runs;
    for (uint32_t i = 0; i < runs; i++)
        squares += (seconds[i] - result->seconds) * (seconds[i] - result->seconds);
    result->error = runs > 1 ? sqrt(squares / (runs - 1) / runs) : 0;
    double *means[] = {&result->failures, &result->snapshots, &result->restores, &result->useful,
                       &result->saving,   &result->down,      &result->waiting,  &result->lost};
    for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
        *means[i] /= runs;
    result->utilisation = result->useful / result->seconds;
    result->utilisation_error = result->utilisation * result->error / result->seconds;
    qsort(seconds, runs, sizeof(*seconds), ascending);
    result->low = quantile(seconds, runs, 0.05);
    result->median = quantile(seconds, runs, 0.5);
    result->high = quantile(seconds, runs, 0.95);
}

bool batch_run(const struct batch_setup *setup, struct batch_result *result,
               void (*each)(void *context, uint32_t number, const struct job_result *job),
               void *context)
{
    struct batch_result got = {.runs = setup->runs};
    struct lives lives = {0};
    double *seconds = calloc(setup->runs, sizeof(*seconds));
    bool good = seconds && lives_make(&setup->law, setup->hosts, &lives);
    for (uint32_t i = 0; good && i < setup->runs; i++) {
        struct job_result job;
        job_run(&setup->job, &lives, setup->seed, i, &job);
        seconds[i] = (double)job.total_ns / NS;
        add(&got, &job);
        if (each)
            each(context, i, &job);
    }
    if (good) {
        conclude(&got, seconds);
        *result = got;
    }
    lives_free(&lives);
    free(seconds);
    return good;
}
