/* test_estimate.c - what a job learns: rates with priors and forgetting, costs with outliers,
 * bounds, and the list of numbers. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/estimate.h"
#include "tests/unit/suite.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define EQ(a, b)      ck_assert_double_eq_tol((a), (b), 1e-9 * fabs((double)(b)))

static const struct estimate_units eight = {8, 16};

/* ---- Rates -------------------------------------------------------------------------------- */

START_TEST(nothing_known)
{
    struct estimate estimate = {0};
    struct interval_model model = {1, 1, 1, 1};

    ck_assert(!estimate_model(&estimate, eight, &model));
    ck_assert(model.rate == 0 && model.cost == 0 && model.restore == 0 && model.delay == 0);
    estimate_watch(&estimate, eight, 1000);
    ck_assert(!estimate_model(&estimate, eight, &model));
    struct estimate_life life = estimate_life(&estimate, ESTIMATE_HOST);
    ck_assert(!life.known && isinf(life.mean) && isinf(life.high));
    EQ(life.watched, 8000);
    EQ(life.low, 8000 / -log(0.05)); /* with that mean, one in twenty would see no failure */
    EQ(estimate_life(&estimate, ESTIMATE_PROCESS).watched, 16000);
}
END_TEST

/* Lives that have not ended count as well: the likelihood is largest at failures / time. */
START_TEST(censored_lives)
{
    struct estimate estimate = {0};
    struct interval_model model;

    estimate_watch(&estimate, eight, 500);
    estimate_failed(&estimate, ESTIMATE_HOST);
    EQ(estimate_life(&estimate, ESTIMATE_HOST).mean, 4000 * 0.95);
    estimate_watch(&estimate, (struct estimate_units){7, 14}, 100);
    estimate_watch(&estimate, eight, 300);
    ck_assert(estimate_model(&estimate, eight, &model));
    EQ(model.rate, 8 / (4000 * 0.95 + 700 + 2400));
    ck_assert_double_eq(estimate_life(&estimate, ESTIMATE_HOST).seen, 1);
    EQ(estimate_life(&estimate, ESTIMATE_HOST).watched, 7100);
    /* Kinds are told apart: no process has failed, and twice as many of them live. */
    ck_assert(!estimate_life(&estimate, ESTIMATE_PROCESS).known);
    estimate_failed(&estimate, ESTIMATE_PROCESS);
    EQ(estimate_life(&estimate, ESTIMATE_PROCESS).mean, 14200 * 0.95);
    double hosts = model.rate;
    estimate_model(&estimate, eight, &model);
    EQ(model.rate, hosts + 16 / (14200 * 0.95));
    EQ(estimate_job_life(&estimate, eight).mean, 1 / model.rate);
    ck_assert_double_eq(estimate_job_life(&estimate, eight).seen, 2);
    /* Before any time has passed. */
    estimate = (struct estimate){0};
    estimate_failed(&estimate, ESTIMATE_HOST);
    ck_assert(estimate_model(&estimate, eight, &model));
    ck_assert(model.rate > 0 && isfinite(model.rate));
}
END_TEST

START_TEST(priors)
{
    struct estimate estimate = {0};
    struct interval_model model;

    estimate_prior(&estimate, ESTIMATE_HOST, 7200, ESTIMATE_GIVEN_LIVES);
    ck_assert(estimate_model(&estimate, eight, &model));
    EQ(model.rate, 8 / 7200.0);
    struct estimate_life life = estimate_life(&estimate, ESTIMATE_HOST);
    ck_assert(life.known && life.seen == 0);
    EQ(life.mean, 7200);
    EQ(life.low, 4 * 7200 / 7.75365652793); /* of Gamma(4, 4 * 7200) */
    EQ(life.high, 4 * 7200 / 1.36631839675);
    /* Lives without an end prolong it; a wrong one is outweighed. */
    estimate_watch(&estimate, eight, 3600);
    EQ(estimate_life(&estimate, ESTIMATE_HOST).mean, 7200 * 2);
    for (int i = 0; i < 40; i++) {
        estimate_watch(&estimate, eight, 100);
        estimate_failed(&estimate, ESTIMATE_HOST);
    }
    ck_assert_double_lt(estimate_life(&estimate, ESTIMATE_HOST).mean, 1300);
    /* Of earlier jobs: with failures, with too many, without any, without time. */
    estimate_prior_of_history(&estimate, ESTIMATE_HOST, 5, 50000);
    EQ(estimate_life(&estimate, ESTIMATE_HOST).mean, 10000);
    EQ(estimate.rates[ESTIMATE_HOST].failures, 5);
    estimate_prior_of_history(&estimate, ESTIMATE_HOST, 1000, 2e6);
    EQ(estimate_life(&estimate, ESTIMATE_HOST).mean, 2000);
    EQ(estimate.rates[ESTIMATE_HOST].failures, ESTIMATE_HISTORY_MOST);
    estimate_prior_of_history(&estimate, ESTIMATE_HOST, 0, 1e6);
    EQ(estimate_life(&estimate, ESTIMATE_HOST).mean, 2e6);
    estimate_prior_of_history(&estimate, ESTIMATE_HOST, 3, 0);
    ck_assert(!estimate_life(&estimate, ESTIMATE_HOST).known);
    static const double senseless[] = {0, -1, NAN, INFINITY, 1e300};
    for (size_t i = 0; i < LENGTH(senseless); i++) {
        estimate_prior(&estimate, ESTIMATE_HOST, senseless[i], 4);
        ck_assert(!estimate_model(&estimate, eight, &model));
        estimate_prior(&estimate, ESTIMATE_HOST, 4000, senseless[i]);
        ck_assert(!estimate_model(&estimate, eight, &model));
        estimate_prior_of_history(&estimate, ESTIMATE_HOST, senseless[i], senseless[i]);
        ck_assert(!estimate_model(&estimate, eight, &model));
        estimate_watch(&estimate, (struct estimate_units){senseless[i], 1}, senseless[i]);
        ck_assert(estimate_life(&estimate, ESTIMATE_HOST).watched == 8 * (3600 + 40 * 100));
    }
}
END_TEST

/* ---- Made-up failures ---------------------------------------------------------------------- */

static double chance(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*random >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static double exponential(uint64_t *random)
{
    return -log(chance(random));
}

/* After many failures: the relative error is some 16 %, 1 / sqrt(2 ESTIMATE_MEMORY), and the bounds
 * hold the truth nine times of ten. */
START_TEST(a_rate_that_stays)
{
    uint64_t random = 4;
    unsigned trials = 2000, held = 0;
    double squares = 0;

    for (unsigned trial = 0; trial < trials; trial++) {
        struct estimate estimate = {0};
        for (int i = 0; i < 150; i++) {
            estimate_watch(&estimate, eight, exponential(&random) * 900);
            estimate_failed(&estimate, ESTIMATE_HOST);
        }
        struct estimate_life life = estimate_life(&estimate, ESTIMATE_HOST);
        squares += pow(7200 / life.mean - 1, 2);
        held += life.low <= 7200 && life.high >= 7200;
    }
    ck_assert_double_eq_tol(sqrt(squares / trials), 0.17, 0.02);
    ck_assert_double_eq_tol((double)held / trials, 0.9, 0.03);
}
END_TEST

/* Doubling in 20 hours, of 8 hosts that lived for two hours each at first: the estimate lags by
 * what its memory holds, and no more. */
START_TEST(a_rate_that_doubles)
{
    uint64_t random = 5;
    double ratio = 0, slope = log(2) / 72000;
    unsigned trials = 300;

    for (unsigned trial = 0; trial < trials; trial++) {
        struct estimate estimate = {0};
        double now = 0, rate = 8 / 7200.0;
        while (now < 144000) {
            double next = log(exp(slope * now) + exponential(&random) * slope / rate) / slope;
            estimate_watch(&estimate, eight, next - now);
            estimate_failed(&estimate, ESTIMATE_HOST);
            now = next;
        }
        ratio += 7200 / estimate_life(&estimate, ESTIMATE_HOST).mean / exp2(now / 72000) / trials;
    }
    ck_assert_double_gt(ratio, 0.85);
    ck_assert_double_lt(ratio, 1.05);
}
END_TEST

/* ---- Costs -------------------------------------------------------------------------------- */

START_TEST(costs)
{
    struct estimate_cost cost = {0};

    estimate_guess(&cost, 7);
    ck_assert(cost.mean == 7 && cost.count == 0);
    estimate_take(&cost, 10); /* the first is taken whole */
    ck_assert(cost.mean == 10 && cost.count == 1);
    estimate_guess(&cost, 7);
    ck_assert(cost.mean == 10);
    estimate_take(&cost, 20);
    EQ(cost.mean, 15);
    estimate_take(&cost, 15);
    estimate_take(&cost, 15);
    EQ(cost.mean, 15);
    estimate_take(&cost, 1000); /* an outlier counts as 60 */
    EQ(cost.mean, 15 + 0.25 * 45);
    for (int i = 0; i < 20; i++)
        estimate_take(&cost, 15);
    ck_assert_double_eq_tol(cost.mean, 15, 0.1);
    estimate_take(&cost, 1); /* as does one below: 15 / 4 */
    ck_assert_double_eq_tol(cost.mean, 15 - 0.25 * 0.75 * 15, 0.1);
    estimate_take(&cost, 1000); /* not in the same direction */
    ck_assert_double_lt(cost.mean, 25);
    estimate_take(&cost, 900); /* but this is: the program saves more from now on */
    ck_assert(cost.mean == 900);
    double before = cost.mean, count = cost.count;
    estimate_take(&cost, NAN);
    estimate_take(&cost, -1);
    estimate_take(&cost, INFINITY);
    ck_assert(cost.mean == before && cost.count == count);
    /* The first was of a program with nothing to save yet. */
    cost = (struct estimate_cost){0};
    estimate_take(&cost, 0);
    estimate_take(&cost, 5);
    ck_assert(cost.mean == 5);
    /* Spread: values from 8 to 12. */
    uint64_t random = 3;
    cost = (struct estimate_cost){0};
    for (int i = 0; i < 1000; i++)
        estimate_take(&cost, 8 + 4 * chance(&random));
    ck_assert_double_eq_tol(cost.mean, 10, 1.5);
    ck_assert_double_eq_tol(cost.spread, 1.1, 0.6);
}
END_TEST

/* A dead process costs milliseconds, a dead host many seconds: their mean by rate. */
START_TEST(restores_by_kind)
{
    struct estimate estimate = {0};
    struct interval_model model;

    estimate_take(&estimate.snapshot, 2);
    estimate_take(&estimate.delay, 3);
    estimate_watch(&estimate, (struct estimate_units){8, 16}, 1000);
    estimate_failed(&estimate, ESTIMATE_HOST);
    for (int i = 0; i < 3; i++)
        estimate_failed(&estimate, ESTIMATE_PROCESS);
    estimate_take(&estimate.restores[ESTIMATE_HOST], 30);
    ck_assert(estimate_model(&estimate, eight, &model));
    ck_assert(model.cost == 2 && model.delay == 3);
    EQ(model.restore, 30); /* of processes nothing is known */
    estimate_guess(&estimate.restores[ESTIMATE_PROCESS], 1);
    double hosts = 8 / estimate_life(&estimate, ESTIMATE_HOST).mean;
    double processes = 16 / estimate_life(&estimate, ESTIMATE_PROCESS).mean;
    estimate_model(&estimate, eight, &model);
    EQ(model.restore, (30 * hosts + processes) / (hosts + processes));
    estimate_take(&estimate.restores[ESTIMATE_PROCESS], 0.01);
    estimate_model(&estimate, eight, &model);
    EQ(model.restore, (30 * hosts + 0.01 * processes) / (hosts + processes));
    EQ(model.rate, hosts + processes);
    /* Of fewer hosts. */
    estimate_model(&estimate, (struct estimate_units){1, 0}, &model);
    EQ(model.rate, hosts / 8);
    EQ(model.restore, 30);
    /* Surer of both together than of the one that failed once. */
    struct estimate_life job = estimate_job_life(&estimate, eight);
    struct estimate_life host = estimate_life(&estimate, ESTIMATE_HOST);
    ck_assert_double_lt(job.high / job.mean, host.high / host.mean);
    ck_assert(job.low < job.mean && job.mean < job.high);
    EQ(job.watched, 1000);
}
END_TEST

/* ---- Bounds and numbers --------------------------------------------------------------------- */

START_TEST(gamma_quantiles)
{
    static const struct {
        double shape, low, middle, high; /* to 12 digits, from 40 */
    } rows[] = {
        {0.5, 0.00196607000001, 0.22746821156, 1.92072941035},
        {1, 0.0512932943876, 0.69314718056, 2.99573227355},
        {4, 1.36631839675, 3.67206074885, 7.75365652793},
        {20, 13.2546515983, 19.6676724233, 27.8792396394},
        {39.5, 29.7611469438, 39.1671713769, 50.3743093732},
        {150, 130.43906194, 149.666798675, 170.697556054},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        ck_assert_double_eq_tol(estimate_gamma_quantile(rows[i].shape, 0.05) / rows[i].low, 1,
                                1e-9);
        ck_assert_double_eq_tol(estimate_gamma_quantile(rows[i].shape, 0.5) / rows[i].middle, 1,
                                1e-9);
        ck_assert_double_eq_tol(estimate_gamma_quantile(rows[i].shape, 0.95) / rows[i].high, 1,
                                1e-9);
    }
    ck_assert(estimate_gamma_quantile(4, 0) == 0);
    ck_assert(estimate_gamma_quantile(4, NAN) == 0);
    ck_assert(estimate_gamma_quantile(NAN, 0.5) == 0);
    ck_assert(isinf(estimate_gamma_quantile(4, 1)));
    for (double shape = 0.01; shape < 1.1e6; shape *= 1.7) {
        double before = 0;
        for (double share = 0.01; share < 1; share += 0.07) {
            double x = estimate_gamma_quantile(shape, share);
            ck_assert(x >= before && isfinite(x));
            before = x;
        }
    }
    /* Of a large shape it is nearly normal. */
    ck_assert_double_eq_tol(estimate_gamma_quantile(1e6, 0.95), 1e6 + 1644.85 + 0.57, 0.05);
}
END_TEST

START_TEST(as_numbers)
{
    struct estimate estimate = {0}, back;
    double numbers[ESTIMATE_NUMBERS + 1];

    estimate_prior(&estimate, ESTIMATE_HOST, 7200, 4);
    estimate_watch(&estimate, eight, 12.5);
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        for (unsigned i = 0; i <= kind; i++) {
            estimate_failed(&estimate, (enum estimate_kind)kind);
            estimate_take(&estimate.restores[kind], 1 + i + 10 * kind);
        }
    estimate_take(&estimate.snapshot, 0.25);
    estimate_take(&estimate.delay, 1.25);
    estimate_to_numbers(&estimate, numbers);
    for (size_t i = 0; i < ESTIMATE_NUMBERS; i++)
        ck_assert(isfinite(numbers[i]));
    memset(&back, 0x55, sizeof(back));
    ck_assert_int_eq(estimate_from_numbers(&back, numbers, ESTIMATE_NUMBERS), 0);
    ck_assert_mem_eq(&back, &estimate, sizeof(back));
    numbers[ESTIMATE_NUMBERS] = NAN; /* of a later version */
    ck_assert_int_eq(estimate_from_numbers(&back, numbers, ESTIMATE_NUMBERS + 1), 0);
    /* What a peer or a file may bring. */
    static const double bad[] = {NAN, INFINITY, -1e-9, 1.1e18};
    for (size_t i = 0; i < ESTIMATE_NUMBERS; i++)
        for (size_t j = 0; j < LENGTH(bad); j++) {
            double good = numbers[i];
            numbers[i] = bad[j];
            ck_assert_int_eq(estimate_from_numbers(&back, numbers, ESTIMATE_NUMBERS), -EINVAL);
            numbers[i] = good;
        }
    ck_assert_mem_eq(&back, &estimate, sizeof(back));
    ck_assert_int_eq(estimate_from_numbers(&back, numbers, ESTIMATE_NUMBERS - 1), -EINVAL);
    numbers[1] = 0; /* failures without their squares */
    ck_assert_int_eq(estimate_from_numbers(&back, numbers, ESTIMATE_NUMBERS), -EINVAL);
    memset(numbers, 0, sizeof(numbers));
    ck_assert_int_eq(estimate_from_numbers(&back, numbers, ESTIMATE_NUMBERS), 0);
    ck_assert(!estimate_life(&back, ESTIMATE_HOST).known);
}
END_TEST

/* Whatever numbers pass, what follows from them is defined. */
START_TEST(any_numbers)
{
    uint64_t random = 9;
    static const double some[] = {0, 0, 1, 4, 1e-18, 1e18, 5e-324, 7200};

    for (int trial = 0; trial < 20000; trial++) {
        double numbers[ESTIMATE_NUMBERS];
        struct estimate estimate;
        struct interval_model model;
        for (size_t i = 0; i < ESTIMATE_NUMBERS; i++)
            numbers[i] = some[(size_t)(chance(&random) * LENGTH(some))];
        if (estimate_from_numbers(&estimate, numbers, ESTIMATE_NUMBERS) < 0)
            continue;
        estimate_watch(&estimate, eight, 1e17);
        estimate_failed(&estimate, ESTIMATE_SPLIT);
        estimate_take(&estimate.snapshot, 1e18);
        estimate_model(&estimate, eight, &model);
        double utilisation = interval_utilisation(&model, interval_best(&model));
        if (!(model.rate >= 0 && model.restore >= 0 && utilisation >= 0 && utilisation <= 1))
            ck_abort_msg("trial %d: rate %g, restore %g: %g", trial, model.rate, model.restore,
                         utilisation);
        for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
            struct estimate_life life = estimate_life(&estimate, (enum estimate_kind)kind);
            if (isnan(life.mean) || isnan(life.low) || isnan(life.high))
                ck_abort_msg("trial %d: kind %d: %g, %g to %g", trial, (int)kind, life.mean,
                             life.low, life.high);
        }
        struct estimate_life job = estimate_job_life(&estimate, eight);
        if (isnan(job.mean) || isnan(job.low) || isnan(job.high))
            ck_abort_msg("trial %d: %g, %g to %g", trial, job.mean, job.low, job.high);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        nothing_known, censored_lives,   priors,          a_rate_that_stays, a_rate_that_doubles,
        costs,         restores_by_kind, gamma_quantiles, as_numbers,        any_numbers,
    };
    return suite_run_tests("estimate", tests, LENGTH(tests), NULL, NULL);
}
