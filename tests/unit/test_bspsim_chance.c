/* test_bspsim_chance.c - bspsim: what is drawn has the moments that it should have, and a seed
 * repeats it. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "tests/unit/suite.h"
#include "tools/bspsim/chance.h"
#include "tools/bspsim/lives.h"

#define DRAWS 200000
#define SURE  5.0 /* standard errors */

/* As xoshiro256** was published: what follows a state of 1, 2, 3, 4. */
START_TEST(the_generator_is_the_published_one)
{
    struct chance chance = {{1, 2, 3, 4}};
    ck_assert_uint_eq(chance_bits(&chance), 11520);
    ck_assert_uint_eq(chance_bits(&chance), 0);
    ck_assert_uint_eq(chance_bits(&chance), 1509978240);
    ck_assert_uint_eq(chance_bits(&chance), UINT64_C(1215971899390074240));
}
END_TEST

/* A file of results that names its seed can be made again by every later version. */
START_TEST(a_name_stays)
{
    struct chance chance;
    chance_begin(&chance, 1, 0, 0);
    ck_assert_uint_eq(chance_bits(&chance), UINT64_C(0x6082e9993631e7d5));
    chance_begin(&chance, 7, 5, 3);
    ck_assert_uint_eq(chance_bits(&chance), UINT64_C(0xf137d53748c04902));
}
END_TEST

enum drawn { EXPONENTIAL, WEIBULL, LOGNORMAL };

static double draw(enum drawn drawn, struct chance *chance, double mean, double shape)
{
    return drawn == EXPONENTIAL ? chance_exponential(chance, mean)
           : drawn == WEIBULL   ? chance_weibull(chance, mean, shape)
                                : chance_lognormal(chance, mean, shape);
}

static double variance_of(enum drawn drawn, double shape)
{
    double one = tgamma(1 + 1 / shape);
    return drawn == EXPONENTIAL ? 1
           : drawn == WEIBULL   ? tgamma(1 + 2 / shape) / (one * one) - 1
                                : expm1(shape * shape);
}

/* The mean within some standard errors of what it should be, and the logarithms' spread as well:
 * the variance of a log-normal sample itself is far too uncertain. */
static void check_moments(enum drawn drawn, double mean, double shape, uint64_t seed)
{
    struct chance chance;
    double sum = 0, logs = 0, squares = 0;
    chance_begin(&chance, seed, (uint64_t)drawn, 0);
    for (int i = 0; i < DRAWS; i++) {
        double value = draw(drawn, &chance, mean, shape), ratio = log(value / mean);
        ck_assert(value > 0 && isfinite(value));
        sum += value / mean;
        logs += ratio;
        squares += ratio * ratio;
    }
    double error = sqrt(variance_of(drawn, shape) / DRAWS);
    ck_assert_double_eq_tol(sum / DRAWS, 1, SURE * error);
    /* Of the logarithms: pi / sqrt(6) by the shape, or sigma; their fourth moment is below 6 of the
     * variance squared. */
    double spread = drawn == EXPONENTIAL ? M_PI / sqrt(6)
                    : drawn == WEIBULL   ? M_PI / sqrt(6) / shape
                                         : shape;
    double variance = squares / DRAWS - logs / DRAWS * (logs / DRAWS);
    ck_assert_double_eq_tol(variance / (spread * spread), 1, SURE * sqrt(5.0 / DRAWS));
}

START_TEST(draws_have_their_moments)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    check_moments(EXPONENTIAL, 7200, 0, seed);
    check_moments(WEIBULL, 7200, 0.7, seed);
    check_moments(WEIBULL, 100, 1.5, seed + 1);
    check_moments(LOGNORMAL, 4000, 0.5, seed);
    check_moments(LOGNORMAL, 4000, 1, seed + 1);
}
END_TEST

/* Where the rate doubles in D, and is mu at the beginning, the failures until t are those of a
 * constant rate in D / ln 2 (2^(t / D) - 1): the second D brings twice as many as the first. */
START_TEST(rates_double)
{
    struct lives_law law = {.kind = LIVES_EXPONENTIAL, .mean = 100, .doubling = 10000};
    struct lives lives;
    double counts[2] = {0, 0};
    ck_assert(lives_make(&law, 400, &lives));
    lives_begin(&lives, 3, 0);
    for (uint32_t i = 0; i < lives.count; i++)
        for (; lives.hosts[i].down_ns < 20000000000000; lives_next(&lives, i))
            counts[lives.hosts[i].down_ns >= 10000000000000]++;
    double expected = 400 * 10000 / M_LN2 / 100;
    ck_assert_double_eq_tol(counts[0], expected, SURE * sqrt(expected));
    ck_assert_double_eq_tol(counts[1], 2 * expected, SURE * sqrt(2 * expected));
    ck_assert_double_eq_tol(lives_rate(&law, 0), 0.01, 1e-15);
    ck_assert_double_eq_tol(lives_rate(&law, 20000000000000), 0.04, 1e-12);
    lives_free(&lives);
}
END_TEST

START_TEST(lives_follow_each_other)
{
    struct lives_law law = {.kind = LIVES_WEIBULL, .mean = 50, .shape = 0.7, .repair_ns = 7};
    struct lives lives, others;
    ck_assert(lives_make(&law, 3, &lives) && lives_make(&law, 2, &others));
    lives_begin(&lives, 3, 9);
    lives_begin(&others, 3, 9);
    for (int i = 0; i < 1000; i++) {
        uint64_t down_ns = lives.hosts[1].down_ns;
        ck_assert_uint_gt(down_ns, lives.hosts[1].up_ns);
        ck_assert_uint_eq(others.hosts[1].down_ns, down_ns); /* whatever the other hosts do */
        lives_next(&lives, 1);
        lives_next(&lives, 0);
        lives_next(&others, 1);
        ck_assert_uint_eq(lives.hosts[1].up_ns, down_ns + 7);
    }
    ck_assert_uint_ne(lives.hosts[0].down_ns, lives.hosts[1].down_ns);
    lives_free(&lives);
    lives_free(&others);
    law = (struct lives_law){.kind = LIVES_EXPONENTIAL, .mean = INFINITY};
    ck_assert(lives_make(&law, 1, &lives));
    lives_begin(&lives, 1, 1);
    ck_assert_uint_eq(lives.hosts[0].down_ns, LIVES_FOR_EVER);
    lives_free(&lives);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_generator_is_the_published_one, a_name_stays,
                                  draws_have_their_moments, rates_double, lives_follow_each_other};
    return suite_run_tests("bspsim chance", tests, sizeof(tests) / sizeof(tests[0]), NULL, NULL);
}
