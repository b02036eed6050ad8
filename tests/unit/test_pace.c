/* test_pace.c - supersteps that become longer are noticed soon, and others are not. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "coordinator/core/pace.h"
#include "tests/unit/suite.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define MS            UINT64_C(1000000)
#define GLANCE_MS     250.0
#define NEVER         1000000u

/* A job, and the time in it. */
struct played {
    struct pace pace;
    double now_ms, end_ms; /* of this superstep */
    uint64_t superstep;
};

static uint64_t seed;

static double chance(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* Supersteps from `ms` by up to `wobble` of that, longer and shorter.  Returns the glances until a
 * change is noticed, NEVER: it is not in so many. */
static uint32_t play(struct played *played, uint32_t glances, double ms, double wobble)
{
    for (uint32_t glance = 0; glance < glances; glance++) {
        played->now_ms += GLANCE_MS;
        while (played->end_ms <= played->now_ms) {
            played->superstep++;
            played->end_ms += ms * (1 + wobble * (2 * chance() - 1));
        }
        if (pace_glance(&played->pace, (uint64_t)(played->now_ms * (double)MS), played->superstep))
            return glance;
    }
    return NEVER;
}

static void begin(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    seed = ((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec) | 1;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout); /* before the processes of the tests begin */
}

/* Short and long supersteps, also those between two glances. */
static const double lengths_ms[] = {0.05, 1, 10, 100, 130, 240, 260, 400, 1000, 7000};

START_TEST(three_times_as_long)
{
    for (size_t i = 0; i < LENGTH(lengths_ms); i++) {
        struct played played = {0};
        double ms = lengths_ms[i];
        uint32_t before = (uint32_t)(20 * fmax(ms / GLANCE_MS, 1));

        ck_assert_uint_eq(play(&played, before, ms, 0.05), NEVER);
        uint32_t after = play(&played, 1000, 3 * ms, 0.05);
        printf("%g ms: %u glances\n", ms, after + 1);
        /* Three glances, or before the first of the longer ones has ended. */
        ck_assert_uint_le(after, 2 + (uint32_t)(4 * ms / GLANCE_MS));
        ck_assert_uint_eq(play(&played, before, 3 * ms, 0.05), NEVER);
    }
}
END_TEST

START_TEST(half_as_long_again)
{
    struct played played = {0};

    ck_assert_uint_eq(play(&played, 100, 10, 0.05), NEVER);
    ck_assert_uint_le(play(&played, 100, 15, 0.05), 8);
}
END_TEST

/* As long as they were, or shorter; by chance hardly ever, in more than four hours. */
START_TEST(no_change)
{
    uint32_t noticed = 0;

    for (size_t i = 0; i < LENGTH(lengths_ms); i++)
        for (double then = 0.5; then < 1.1; then += 0.25) {
            struct played played = {0};
            noticed += play(&played, 2000, lengths_ms[i], 0.2) < NEVER;
            noticed += play(&played, 200, then * lengths_ms[i], 0.2) < NEVER;
        }
    printf("noticed %u times by chance\n", noticed);
    ck_assert_uint_le(noticed, 3);
}
END_TEST

/* A disturbance between two glances. */
START_TEST(one_glance_is_not_enough)
{
    struct played played = {0};

    for (uint32_t times = 0; times < 20; times++) {
        ck_assert_uint_eq(play(&played, 20, 10, 0.1), NEVER);
        played.end_ms += GLANCE_MS;
    }
}
END_TEST

/* Those that are long and short by turns cause ever fewer looks. */
START_TEST(by_turns)
{
    struct played played = {0};
    uint32_t noticed = 0, glances = 0;

    while (glances < 2400) { /* ten minutes */
        uint32_t after = play(&played, 12, glances / 12 % 2 == 0 ? 10 : 50, 0.05);
        noticed += after < NEVER;
        glances += after < NEVER ? after + 1 : 12;
    }
    printf("noticed %u times\n", noticed);
    ck_assert_uint_ge(noticed, 1);
    ck_assert_uint_le(noticed, 60);
    /* And when that is over the next change is noticed as soon as any. */
    play(&played, 400, 10, 0.05);
    ck_assert_uint_eq(play(&played, 400, 10, 0.05), NEVER);
    ck_assert_uint_le(play(&played, 400, 30, 0.05), 2);
}
END_TEST

/* Time that is skipped is not that of supersteps; a clock that goes back is none at all. */
START_TEST(skipped)
{
    struct played played = {0};

    ck_assert_uint_eq(play(&played, 100, 100, 0.05), NEVER);
    for (uint32_t times = 0; times < 20; times++) {
        pace_skip(&played.pace);
        played.now_ms += 5000;
        played.end_ms += 5000;
        ck_assert_uint_eq(play(&played, 20, 100, 0.05), NEVER);
    }
    ck_assert(!pace_glance(&played.pace, 1, played.superstep));
    ck_assert(!pace_glance(&played.pace, 1, 0));
    ck_assert(!pace_glance(&played.pace, 1, UINT64_MAX));
    ck_assert(!pace_glance(&played.pace, UINT64_MAX, UINT64_MAX));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {three_times_as_long,      half_as_long_again, no_change,
                                  one_glance_is_not_enough, by_turns,           skipped};

    begin();
    return suite_run_tests("pace", tests, LENGTH(tests), NULL, NULL);
}
