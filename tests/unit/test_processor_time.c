/* test_processor_time.c - the processor time between barriers, read in a part of the supersteps. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "lib/rt/processor_time.h"
#include "tests/unit/suite.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define US            UINT64_C(1000)
#define MS            UINT64_C(1000000)

/* A process, and what is known of it. */
struct played {
    struct bspz_processor_time work;
    uint64_t now_ns, cpu_ns;
    uint64_t true_ns, counted_ns;
    uint32_t readings;
};

static uint64_t seed;

static double chance(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* The thread's clock, counted; what nobody reads is made wrong. */
static uint64_t read_clock(struct played *played)
{
    if (!bspz_processor_time_is_read(&played->work))
        return UINT64_MAX / 3;
    played->readings++;
    return played->cpu_ns;
}

/* One superstep of so much work, for which the process waits for a processor, and of a barrier in
 * which it has one, too. */
static void superstep(struct played *played, uint64_t work_ns, uint64_t stalled_ns, uint64_t met_ns)
{
    played->cpu_ns += work_ns;
    played->now_ns += work_ns + stalled_ns;
    played->true_ns += work_ns;
    played->counted_ns +=
        bspz_processor_time_end(&played->work, played->now_ns, read_clock(played));
    played->cpu_ns += met_ns / 2;
    played->now_ns += met_ns;
    bspz_processor_time_begin(&played->work, played->now_ns, read_clock(played));
}

static void begin(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    seed = ((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec) | 1;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout); /* before the processes of the tests begin */
}

START_TEST(long_work_is_exact)
{
    struct played played = {0};

    superstep(&played, 7 * MS, 0, 10 * US); /* nothing is read yet */
    for (int i = 0; i < 100; i++)
        superstep(&played, 7 * MS + (uint64_t)(chance() * 5e6), (uint64_t)(chance() * 5e7),
                  10 * US);
    ck_assert_uint_eq(played.counted_ns, played.true_ns);
    ck_assert_uint_eq(played.readings, 201); /* and the beginning of the next one */
}
END_TEST

START_TEST(short_work_is_not_read)
{
    struct played played = {0};

    for (int i = 0; i < 1000; i++)
        superstep(&played, 49 * US, 0, 10 * US);
    ck_assert_uint_eq(played.readings, 0);
    ck_assert_uint_eq(played.counted_ns, played.true_ns);
}
END_TEST

/* Work of that length, one in eight twice as long, which now and then waits for a processor for
 * several milliseconds. */
START_TEST(a_part_stands_for_all)
{
    static const uint64_t lengths_us[] = {60, 100, 500, 1000, 3000};

    for (size_t i = 0; i < LENGTH(lengths_us); i++) {
        struct played played = {0};
        uint32_t count = 0;

        for (; played.now_ns < 20 * 1000 * MS; count++)
            superstep(&played, lengths_us[i] * US * (chance() < 0.125 ? 2 : 1),
                      chance() < 0.05 ? (uint64_t)(chance() * 16e6) : 0, 20 * US);
        printf("%llu us: %.4f of the true time, %u readings in %u supersteps\n",
               (unsigned long long)lengths_us[i],
               (double)played.counted_ns / (double)played.true_ns, played.readings, count);
        ck_assert_double_eq_tol((double)played.counted_ns / (double)played.true_ns, 1, 0.03);
        ck_assert_uint_lt(played.readings, 2 * 20000 / 3);
    }
}
END_TEST

/* At most as many are counted too late as a reading stands for. */
START_TEST(what_becomes_longer_is_read_at_once)
{
    struct played played = {0};

    for (int i = 0; i < 5000; i++)
        superstep(&played, 60 * US, 0, 5 * US);
    superstep(&played, 200 * MS, 0, 5 * US);
    superstep(&played, 200 * MS, 0, 5 * US);
    played.counted_ns = played.true_ns = 0;
    for (int i = 0; i < 10; i++)
        superstep(&played, 200 * MS, 300 * MS, 5 * US);
    ck_assert_uint_eq(played.counted_ns, played.true_ns);
}
END_TEST

/* The thread of a process that was restored has another clock. */
START_TEST(another_clock)
{
    struct played played = {0};

    for (int i = 0; i < 1000; i++)
        superstep(&played, 500 * US, 0, 20 * US);
    played.cpu_ns = 0;
    bspz_processor_time_begin(&played.work, played.now_ns, read_clock(&played));
    for (int i = 0; i < 1000; i++)
        superstep(&played, 500 * US, 0, 20 * US);
    ck_assert_double_eq_tol((double)played.counted_ns / (double)played.true_ns, 1, 0.03);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {long_work_is_exact, short_work_is_not_read, a_part_stands_for_all,
                                  what_becomes_longer_is_read_at_once, another_clock};

    begin();
    return suite_run_tests("processor time", tests, LENGTH(tests), NULL, NULL);
}
