/* test_interval.c - the model of intervals: Lambert's function, optima, utilisations, hosts. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "coordinator/core/interval.h"
#include "tests/unit/interval_harsh.h"
#include "tests/unit/suite.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* ---- Lambert's function ------------------------------------------------------------------- */

/* z as the exact binary number it is; w from 80 decimal digits. */
static const struct {
    double z, w;
} known[] = {
    {-0x1.78b56362cef38p-2, -1},
    {-0x1.78b56362cef36p-2, -0.99999997684810815},
    {-0x1.78b56362cef26p-2, -0.99999992675624017},
    {-0x1.78b56362ca8dap-2, -0.99999766839811055},
    {-0x1.78b56351a0e79p-2, -0.99992626875483637},
    {-0x1.78b52046f070bp-2, -0.99767016627205352},
    {-0x1.77af3e859fd8ep-2, -0.92802015005456751},
    {-0x1.6666666666666p-2, -0.71663881645607364},
    {-0x1.3333333333333p-2, -0.48940222718021492},
    {-0x1.0000000000000p-2, -0.3574029561813889},
    {-0x1.78b588e368f08p-3, -0.23196141176696763},
    {-0x1.78b04ab606b7bp-3, -0.2319449927060947},
    {-0x1.999999999999ap-4, -0.11183255915896297},
    {-0x1.0624dd2f1a9fcp-10, -0.0010010015026718859},
    {-0x1.12e0be826d695p-30, -1.000000001e-09},
    {-0x1.67e9c127b6e74p-532, -9.9999999999999999e-161},
    {0, 0},
    {0x0.0000000000001p-1022, 4.9406564584124654e-324},
    {0x1.87e92154ef7acp-665, 9.9999999999999998e-201},
    {0x1.19799812dea11p-40, 9.9999999999899993e-13},
    {0x1.47ae147ae147bp-7, 0.0099014738435950125},
    {0x1.0000000000000p-1, 0.35173371124919584},
    {0x1.0000000000000p+0, 0.56714329040978384},
    {0x1.fff972474538fp+0, 0.85258249062230496},
    {0x1.0000000000000p+1, 0.85260550201372554},
    {0x1.5bf0a8b145769p+1, 1},
    {0x1.4000000000000p+3, 1.7455280027406994},
    {0x1.f400000000000p+9, 5.2496028524015959},
    {0x1.2a05f20000000p+33, 20.028685413304952},
    {0x1.249ad2594c37dp+332, 224.84310644511851},
    {DBL_MAX, 703.22703310477016},
};

START_TEST(lambert_known)
{
    for (size_t i = 0; i < LENGTH(known); i++) {
        double w = interval_lambert_w0(known[i].z);
        ck_assert_msg(fabs(w - known[i].w) <= 1e-13 * fabs(known[i].w), "W0(%a) = %.17g, not %.17g",
                      known[i].z, w, known[i].w);
        /* Close to the branch point it is the distance from it that matters. */
        if (known[i].w < -0.5)
            ck_assert_msg(fabs(w - known[i].w) <= 1e-13 * (1 + known[i].w) + DBL_EPSILON,
                          "W0(%a) + 1 = %.17g", known[i].z, w + 1);
    }
    ck_assert(interval_lambert_w0(-1) == -1);
    ck_assert(interval_lambert_w0(-INFINITY) == -1);
    ck_assert(interval_lambert_w0(NAN) == -1);
    ck_assert(isinf(interval_lambert_w0(INFINITY)));
}
END_TEST

/* w exp(w) = z, and rising, over the whole branch. */
START_TEST(lambert_everywhere)
{
    double before = -1;
    for (int i = 0; i <= 40000; i++) {
        double w = -1 + pow(10, -8 + i * (10.8 / 40000)); /* 1 + w from 1e-8 to 630 */
        double z = w * exp(w), back = interval_lambert_w0(z);
        double slope = exp(w) * (1 + w);
        /* What rounding z can do to w at most, and what the iteration may add. */
        double most = 4 * DBL_EPSILON * (fabs(z) / slope) + 1e-13 * fabs(w);
        ck_assert_msg(fabs(back - w) <= most, "W0(%.17g) = %.17g, not %.17g", z, back, w);
        ck_assert(back >= before - most);
        before = back;
    }
}
END_TEST

/* ---- The optima --------------------------------------------------------------------------- */

static struct interval_model model_of(double hosts, double life)
{
    return (struct interval_model){.rate = hosts / life, .cost = 20, .restore = 50};
}

#define NEAR(value, expected, digits)                                                              \
    ck_assert_double_eq_tol((value), (expected), 0.5000001 * pow(10, -(digits)))

/* A snapshot of 20 s, a restore of 50 s, 8 hosts. */
START_TEST(values_to_check)
{
    static const struct {
        double life, paper, paper_utilisation, utilisation;
    } rows[] = {
        {4000, 124.0, 0.590, 0.676},
        {7200, 173.1, 0.721, 0.761},
        {14400, 252.5, 0.817, 0.835},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct interval_model model = model_of(8, rows[i].life);
        double paper = interval_paper(&model), exact = interval_exact(&model);
        NEAR(paper, rows[i].paper, 1);
        NEAR(interval_paper_utilisation(&model, paper), rows[i].paper_utilisation, 3);
        NEAR(interval_utilisation(&model, exact), rows[i].utilisation, 3);
    }
    struct interval_model many = model_of(32, 4000);
    ck_assert_double_lt(interval_paper_utilisation(&many, interval_paper(&many)), 0);
    NEAR(interval_utilisation(&many, interval_exact(&many)), 0.38, 2);
}
END_TEST

/* 1 + (u - 1) exp(u) = x, of which the paper's and the exact optimum are u / a; so both are found
 * without Lambert's function, by halving. */
static double by_halving(double x)
{
    double low = 0, high = 50;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (middle * exp(middle) - expm1(middle) < x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

START_TEST(optima_are_optima)
{
    for (double rate = 1e-6; rate < 2; rate *= 3)
        for (double cost = 0.01; cost < 1e4; cost *= 4) {
            struct interval_model model = {rate, cost, 50, 3};
            double exact = interval_exact(&model), paper = interval_paper(&model);
            if (rate * cost > 1e-5) {
                ck_assert_double_eq_tol(exact * rate / by_halving(-expm1(-rate * cost)), 1, 1e-9);
                ck_assert_double_eq_tol(paper * rate / by_halving(rate * cost / (1 + rate * 50)), 1,
                                        1e-9);
            }
            double best = interval_utilisation(&model, exact);
            double papers = interval_paper_utilisation(&model, paper);
            for (double factor = 0.5; factor < 2; factor += 0.1) {
                ck_assert_double_le(interval_utilisation(&model, factor * exact), best * 1.000001);
                ck_assert_double_le(interval_utilisation_harsh(&model, factor * exact),
                                    interval_utilisation_harsh(&model, exact) * 1.000001);
                if (papers > -1e6)
                    ck_assert_double_le(interval_paper_utilisation(&model, factor * paper),
                                        papers + 1e-6 * (1 + fabs(papers)));
            }
        }
}
END_TEST

START_TEST(young_and_daly)
{
    struct interval_model model = model_of(8, 4000);
    NEAR(interval_young(&model), 141.421356, 6); /* sqrt(2 * 20 * 500) */
    NEAR(interval_daly(&model), 128.402, 3);     /* hence close to the exact one */
    NEAR(interval_exact(&model), 128.41, 2);
    model.cost = 999.999; /* the end of the domain of Daly's is at V = 2 / a */
    NEAR(interval_daly(&model), 1000 * (1 + 1 / 3.0 + 1 / 9.0) - 1000, 2);
    model.cost = 1000;
    NEAR(interval_daly(&model), 500, 9);
    model.cost = 1e9;
    NEAR(interval_daly(&model), 500, 9);
    NEAR(interval_exact(&model), 500, 9); /* it tends to that as well */
    /* Where failures are rare all are the same. */
    model = (struct interval_model){1e-9, 1, 5, 0};
    double young = interval_young(&model);
    ck_assert_double_eq_tol(interval_exact(&model) / young, 1, 1e-4);
    ck_assert_double_eq_tol(interval_paper(&model) / young, 1, 1e-4);
    ck_assert_double_eq_tol(interval_daly(&model) / young, 1, 1e-4);
}
END_TEST

START_TEST(the_delay)
{
    struct interval_model model = model_of(8, 7200), at_once = model;
    model.delay = 90;
    ck_assert_double_eq(interval_exact(&model), interval_exact(&at_once));
    ck_assert_double_eq(interval_best(&model), interval_exact(&model));
    ck_assert_double_eq(interval_first(&model), interval_exact(&model));
    ck_assert_double_eq_tol(interval_utilisation(&model, 170),
                            interval_utilisation(&at_once, 170) * exp(-0.1), 1e-12);
    model.delay = 400; /* longer than the optimum: the next one waits for it */
    ck_assert_double_eq(interval_best(&model), 400);
    /* The first after a restore waits for none, where kept work is largest: between the two. */
    double first = interval_first(&model), after = 400 / expm1(model.rate * 420);
    ck_assert_double_eq_tol(first, 900 - after, 1e-9);
    ck_assert(first > interval_exact(&model) && first < 400);
    for (double other = 100; other < 500; other += 10)
        ck_assert_double_le(exp(-model.rate * other) * (other + after),
                            exp(-model.rate * first) * (first + after));
    /* Its sum: the mean number of commits in the life of a run. */
    double sum = 0, cycle = 400 + 20, rate = model.rate;
    for (int n = 1; n < 1000; n++)
        sum += exp(-rate * (n * cycle + model.delay));
    ck_assert_double_eq_tol(interval_utilisation(&model, 400), 400 * sum / (1 / rate + 50), 1e-12);
}
END_TEST

/* ---- Time --------------------------------------------------------------------------------- */

/* The expected time by brute force: from a start with so many pieces left the chain is solved from
 * the end.  Commits within a run at i cycles + delay; a failure falls back to the last of them. */
static double solved(const struct interval_model *model, double interval, double last, int pieces)
{
    double time[64] = {0}, a = model->rate, cycle = interval + model->cost;
    for (int left = 0; left <= pieces; left++) {
        double end = left * cycle + last;
        /* Expected time until the run ends or fails, and a restore if it fails. */
        double fixed = -expm1(-a * end) / a - expm1(-a * end) * model->restore, again = 0;
        for (int done = 0; done <= left; done++) {
            double from = done > 0 ? fmin(done * cycle + model->delay, end) : 0;
            double to = done < left ? fmin((done + 1) * cycle + model->delay, end) : end;
            double chance = exp(-a * from) - exp(-a * to);
            if (done == 0)
                again = chance;
            else
                fixed += chance * time[left - done];
        }
        time[left] = fixed / (1 - again);
    }
    return time[pieces];
}

START_TEST(expected_time)
{
    static const double delays[] = {0, 3, 60, 119, 130, 400};
    struct interval_model model = model_of(8, 4000);
    for (size_t i = 0; i < LENGTH(delays); i++)
        for (int pieces = 0; pieces < 20; pieces += 3)
            for (double last = 10; last <= 120; last += 55) {
                model.delay = delays[i];
                ck_assert_double_eq_tol(interval_time(&model, 120, pieces * 120 + last) /
                                            solved(&model, 120, last, pieces),
                                        1, 1e-9);
            }
    /* Much work takes as long as the utilisation says. */
    ck_assert_double_eq_tol(interval_time(&model, 120, 1e9) * interval_utilisation(&model, 120),
                            1e9, 1e4);
    /* No failures: the work, and a snapshot after each piece but the last. */
    struct interval_model calm = {0, 20, 50, 5};
    ck_assert_double_eq(interval_time(&calm, 100, 1000), 1000 + 9 * 20);
    ck_assert_double_eq(interval_time(&calm, INFINITY, 1000), 1000);
    ck_assert_double_eq(interval_time(&calm, 5000, 1000), 1000);
    ck_assert_double_eq(interval_time(&calm, 100, 0), 0);
    /* Snapshots that cost nothing, all the time: what is being restored, and the delay. */
    struct interval_model free_ones = {0.002, 0, 50, 0};
    ck_assert_double_eq_tol(interval_time(&free_ones, 0, 1000), 1000 * 1.1, 1e-9);
    ck_assert_double_eq_tol(interval_time(&free_ones, 1e-3, 1000), 1000 * 1.1, 1e-2);
    free_ones.delay = 100;
    ck_assert_double_eq_tol(interval_time(&free_ones, 0, 1000),
                            interval_time(&free_ones, 1e-3, 1000), 1e-2);
}
END_TEST

/* ---- How many hosts ------------------------------------------------------------------------ */

static uint32_t by_trial(const struct interval_model *model, uint32_t hosts)
{
    double most = 0;
    uint32_t best = 1;
    for (uint32_t k = 1; k <= hosts; k++) {
        struct interval_model less = *model;
        less.rate = model->rate * k / hosts;
        double gain = k * interval_utilisation(&less, interval_best(&less));
        if (gain > most) {
            most = gain;
            best = k;
        }
    }
    return best;
}

START_TEST(how_many_hosts)
{
    for (double life = 100; life < 1e6; life *= 2.7)
        for (double delay = 0; delay < 300; delay += 70) {
            struct interval_model model = {500 / life, 20, 50, delay};
            struct interval_advice advice = interval_advise(&model, 500);
            ck_assert_uint_eq(advice.hosts, by_trial(&model, 500));
            ck_assert(advice.utilisation_there >= advice.utilisation);
            ck_assert(advice.hardly == (advice.utilisation < 0.1));
        }
    struct interval_model model = model_of(300, 4000);
    struct interval_advice advice = interval_advise(&model, 300);
    ck_assert(advice.hardly && !advice.none);
    ck_assert_double_lt(advice.utilisation, 0.1);
    ck_assert_double_gt(advice.utilisation_there, 0.1);
    model = model_of(1, 20); /* not even one */
    advice = interval_advise(&model, 1);
    ck_assert(advice.hardly && advice.none);
    ck_assert_uint_eq(advice.hosts, 1);
    model = (struct interval_model){0, 20, 50, 1};
    advice = interval_advise(&model, 4000000000u);
    ck_assert(!advice.hardly && !advice.none);
    ck_assert_uint_eq(advice.hosts, 4000000000u);
    ck_assert_double_eq(advice.utilisation, 1);
    ck_assert_uint_eq(interval_advise(&model, 0).hosts, 1);
    model.rate = 1e300; /* everything underflows */
    advice = interval_advise(&model, 1000);
    ck_assert(advice.none && advice.hosts == 1);
}
END_TEST

/* ---- Bad input ---------------------------------------------------------------------------- */

static bool is_defined(const struct interval_model *model, double interval)
{
    double intervals[] = {interval_exact(model),
                          interval_first(model),
                          interval_best(model),
                          interval_paper(model),
                          interval_young(model),
                          interval_daly(model),
                          interval};
    bool good = true;
    for (size_t i = 0; i < LENGTH(intervals); i++) {
        double value = interval_utilisation(model, intervals[i]);
        double paper = interval_paper_utilisation(model, intervals[i]);
        good = good && (i == 6 || intervals[i] >= 0) && value >= 0 && value <= 1 && paper <= 1 &&
               paper >= -DBL_MAX &&
               interval_time(model, intervals[i], 1000) >= 1000 * (1 - 1e-12) &&
               interval_time(model, intervals[i], INFINITY) >= 1000 &&
               interval_time(model, intervals[i], NAN) == 0;
    }
    struct interval_advice advice = interval_advise(model, 1000);
    good = good && interval_first(model) <= interval_best(model);
    return good && advice.utilisation >= 0 && advice.utilisation_there <= 1 && advice.hosts >= 1 &&
           advice.hosts <= 1000;
}

START_TEST(nothing_undefined)
{
    static const double odd[] = {0,       -1,   NAN, INFINITY, -INFINITY, 5e-324, 1e-300, 1e-17,
                                 DBL_MIN, 1e-3, 1,   1e3,      1e17,      1e100,  1e300,  DBL_MAX};
    size_t n = LENGTH(odd);
    for (size_t i = 0; i < n * n * n * n; i++) {
        struct interval_model model = {odd[i % n], odd[i / n % n], odd[i / n / n % n],
                                       odd[i / n / n / n]};
        if (!is_defined(&model, odd[i * 7 % n]))
            ck_abort_msg("%g %g %g %g, %g", model.rate, model.cost, model.restore, model.delay,
                         odd[i * 7 % n]);
    }
    struct interval_model model = {0, 20, 50, 1};
    ck_assert(isinf(interval_best(&model)) && isinf(interval_paper(&model)));
    ck_assert_double_eq(interval_utilisation(&model, 180), 0.9);
    model = (struct interval_model){0.001, 0, 50, 0};
    ck_assert_double_eq(interval_best(&model), 0);
    ck_assert_double_eq_tol(interval_utilisation(&model, 0), 1 / 1.05, 1e-12);
    /* Rates as small as numbers get: still sqrt(2 V / a). */
    model = (struct interval_model){1e-310, 1e-10, 50, 0};
    ck_assert_double_eq_tol(interval_exact(&model) / 1.41421356237e150, 1, 1e-3);
    ck_assert_double_eq_tol(interval_paper(&model) / 1.41421356237e150, 1, 1e-3);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        lambert_known, lambert_everywhere, values_to_check, optima_are_optima, young_and_daly,
        the_delay,     expected_time,      how_many_hosts,  nothing_undefined,
    };
    return suite_run_tests("interval", tests, LENGTH(tests), NULL, NULL);
}
