/* test_replicas_model.c - what replicas bring: against the model without them, and against jobs
 * that are played host by host, from a seed of the clock. */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "coordinator/core/interval.h"
#include "coordinator/core/replicas_model.h"
#include "tests/unit/suite.h"

#define CYCLES 200000
#define MODELS 12

static uint64_t draw(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double uniform(uint64_t *seed)
{
    return (double)(draw(seed) >> 11) * 0x1p-53;
}

static double between(uint64_t *seed, double low, double high)
{
    return exp(log(low) + uniform(seed) * (log(high) - log(low)));
}

/* ---- One job, host by host ---------------------------------------------------------------- */

/* When the first cell is lost, and when the first host. */
static double lose_cell(const struct replicas_model *model, uint64_t *seed, double *first)
{
    double cell_lost = INFINITY;

    *first = INFINITY;
    for (uint32_t cell = 0; cell < model->cells; cell++) {
        double last = 0;
        for (uint32_t i = 0; i < model->replicas; i++) {
            double life = -log1p(-uniform(seed)) / model->host_rate;
            last = life > last ? life : last;
            *first = life < *first ? life : *first;
        }
        cell_lost = last < cell_lost ? last : cell_lost;
    }
    return cell_lost;
}

/* The utilisation of CYCLES cycles one after the other, and its standard error by batches. */
static double play(const struct replicas_model *model, double interval, uint64_t *seed,
                   double *error)
{
    enum { BATCHES = 50 };
    double cycle = interval + model->cost, sum = 0, squares = 0;
    bool open = false; /* the last snapshot is not committed yet */

    for (int batch = 0; batch < BATCHES; batch++) {
        double time = 0, useful = 0, first;
        for (int i = 0; i < CYCLES / BATCHES; i++) {
            double lost = lose_cell(model, seed, &first);
            if (lost < cycle) {
                useful -= open && lost < model->delay ? interval : 0;
                time += lost + model->restore;
                open = false;
                continue;
            }
            useful += interval;
            open = first >= cycle;
            time += cycle + (open ? 0 : model->delay + model->replace);
        }
        sum += useful / time;
        squares += useful / time * useful / time;
    }
    double mean = sum / BATCHES;
    *error = sqrt((squares / BATCHES - mean * mean) / (BATCHES - 1));
    return mean;
}

static struct replicas_model make_up(uint64_t *seed, uint32_t replicas)
{
    return (struct replicas_model){.host_rate = 1 / between(seed, 100, 10000),
                                   .cells = 1 + (uint32_t)(draw(seed) % 20),
                                   .replicas = replicas,
                                   .cost = between(seed, 0.1, 30),
                                   .delay = between(seed, 0.1, 10),
                                   .restore = between(seed, 1, 60),
                                   .replace = between(seed, 1, 30)};
}

START_TEST(as_played)
{
    uint64_t begin = (uint64_t)time(NULL), seed = begin;

    for (int i = 0; i < MODELS; i++) {
        struct replicas_model model = make_up(&seed, 1 + (uint32_t)i % REPLICAS_MODEL_MOST);
        double life = replicas_mean_life(&model), error;
        double interval = model.delay + between(&seed, 0.1, 2) * life;
        double played = play(&model, interval, &seed, &error);
        double computed = replicas_utilisation(&model, interval);
        ck_assert_msg(fabs(played - computed) <= 6 * error + 1e-5,
                      "seed %llu, model %d, %u replicas: %.6f computed, %.6f +- %.6f played",
                      (unsigned long long)begin, i, model.replicas, computed, played, error);
    }
    printf("first seed %llu\n", (unsigned long long)begin);
}
END_TEST

/* ---- Without replicas --------------------------------------------------------------------- */

START_TEST(as_without)
{
    uint64_t begin = (uint64_t)time(NULL), seed = begin;

    for (int i = 0; i < 300; i++) {
        struct replicas_model model = make_up(&seed, 1);
        struct interval_model without = {.rate = model.cells * model.host_rate,
                                         .cost = model.cost,
                                         .restore = model.restore,
                                         .delay = model.delay};
        double interval = model.delay + between(&seed, 0.1, 3 / without.rate);
        double expected = interval_utilisation(&without, interval);
        ck_assert_msg(fabs(replicas_utilisation(&model, interval) - expected) < 1e-9 * expected,
                      "seed %llu, model %d", (unsigned long long)begin, i);
        /* The maximum is flat: what counts is what the interval brings. */
        double best = interval_utilisation(&without, interval_best(&without));
        ck_assert_msg(replicas_utilisation(&model, replicas_best(&model)) > best * (1 - 1e-5),
                      "seed %llu, model %d: the best is missed", (unsigned long long)begin, i);
    }
}
END_TEST

/* ---- What is known by other means --------------------------------------------------------- */

START_TEST(mean_lives)
{
    /* Of one cell the mean of the greatest of K lives: 1 + 1/2 + ... + 1/K. */
    double sum = 0;
    for (uint32_t replicas = 1; replicas <= 4; replicas++) {
        sum += 1.0 / replicas;
        struct replicas_model one = {.host_rate = 0.5, .cells = 1, .replicas = replicas};
        ck_assert_double_eq_tol(replicas_mean_life(&one), 2 * sum, 1e-6);
    }
    /* Of many cells of two: sqrt(pi / N) / 2 (the birthday problem), as N grows. */
    struct replicas_model many = {.host_rate = 1, .cells = 1000000, .replicas = 2};
    ck_assert_double_eq_tol(replicas_mean_life(&many) * 1000, sqrt(M_PI) / 2, 2e-3);
    struct replicas_model calm = {.cells = 5, .replicas = 2};
    ck_assert(isinf(replicas_mean_life(&calm)) && isinf(replicas_best(&calm)));
    ck_assert(replicas_utilisation(&calm, INFINITY) == 1);
}
END_TEST

START_TEST(best_is_best)
{
    uint64_t begin = (uint64_t)time(NULL), seed = begin;

    for (int i = 0; i < 200; i++) {
        struct replicas_model model = make_up(&seed, 1 + (uint32_t)i % REPLICAS_MODEL_MOST);
        double best = replicas_utilisation(&model, replicas_best(&model));
        for (int n = 0; n < 100; n++) {
            double interval = between(&seed, 0.1, 100 * replicas_mean_life(&model));
            ck_assert_msg(replicas_utilisation(&model, interval) <= best * (1 + 1e-5),
                          "seed %llu, model %d: %g s are better than %g s",
                          (unsigned long long)begin, i, interval, replicas_best(&model));
        }
    }
}
END_TEST

START_TEST(harsh_numbers)
{
    static const double numbers[] = {0, 1e-300, 1e-9, 1, 1e9, 1e300, INFINITY, NAN, -1};
    enum { COUNT = sizeof numbers / sizeof numbers[0] };

    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < COUNT; b++)
            for (int c = 0; c < COUNT; c++)
                for (uint32_t replicas = 0; replicas <= 4; replicas++) {
                    struct replicas_model model = {.host_rate = numbers[a],
                                                   .cells = b == 0   ? 0
                                                            : b == 1 ? UINT32_MAX
                                                                     : 7,
                                                   .replicas = replicas,
                                                   .cost = numbers[b],
                                                   .delay = numbers[(b + c) % COUNT],
                                                   .restore = numbers[c],
                                                   .replace = numbers[(a + c) % COUNT]};
                    double value = replicas_utilisation(&model, numbers[c]);
                    ck_assert(value >= 0 && value <= 1);
                    ck_assert(replicas_best(&model) >= 0);
                    ck_assert(replicas_mean_life(&model) >= 0);
                    struct replicas_advice advice = replicas_advise(&model, 3);
                    ck_assert(advice.replicas >= 1 && advice.replicas <= 3);
                }
}
END_TEST

/* Where snapshots hardly get anything done replicas do, and where nothing fails they only cost. */
START_TEST(advice)
{
    struct replicas_model often = {
        .host_rate = 1.0 / 300, .cost = 20, .delay = 10, .restore = 50, .replace = 30};
    struct replicas_advice advice = replicas_advise(&often, 32);
    ck_assert(advice.utilisation[1] < INTERVAL_HARDLY);
    ck_assert_uint_gt(advice.replicas, 1);
    ck_assert(advice.speed[advice.replicas] > 2 * advice.speed[1]);
    ck_assert_uint_eq(advice.cells[3], 10);

    struct replicas_model rarely = often;
    rarely.host_rate = 1.0 / 1e6;
    ck_assert_uint_eq(replicas_advise(&rarely, 32).replicas, 1);
    advice = replicas_advise(&often, 2);
    ck_assert(advice.cells[2] == 1 && advice.cells[3] == 0 && advice.utilisation[3] == 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {as_played,    as_without,    mean_lives,
                                  best_is_best, harsh_numbers, advice};

    return suite_run_tests("replicas_model", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
