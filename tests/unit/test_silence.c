/* test_silence.c - what an agent concludes from not hearing bsprun, look by look. */
#include <check.h>

#include "bsprun/agent/silence.h"
#include "tests/unit/suite.h"

#define BOUND 9000u
#define MS    UINT64_C(1000000)
#define NEVER INT64_MAX

static struct silence silence;

static void set_up(void)
{
    silence_begin(&silence, BOUND, 0);
}

static void look(uint64_t at_ms, int64_t unheard_ms, enum silence_step expected)
{
    ck_assert_int_eq(silence_look(&silence, at_ms * MS, unheard_ms), expected);
}

START_TEST(cut_off_after_two_thirds)
{
    look(5999, NEVER, SILENCE_WAIT);
    look(6000, NEVER, SILENCE_LOOK_AGAIN);
    look(6001, NEVER, SILENCE_CUT_OFF);
    look(6002, NEVER, SILENCE_WAIT); /* once */
}
END_TEST

/* An agent that did not run for long finds signs of life when it reads. */
START_TEST(what_came_meanwhile_counts)
{
    look(20000, 10, SILENCE_LOOK_AGAIN);
    silence_heard(&silence, 20001 * MS);
    look(20001, 10, SILENCE_WAIT);
    look(26000, NEVER, SILENCE_WAIT);
    look(26001, NEVER, SILENCE_LOOK_AGAIN);
    look(26002, NEVER, SILENCE_CUT_OFF);
}
END_TEST

START_TEST(leaves_when_the_kernel_is_silent_too)
{
    look(6000, 6000, SILENCE_LOOK_AGAIN);
    look(6001, 6001, SILENCE_CUT_OFF);
    look(15001, 8999, SILENCE_WAIT); /* the kernel has answered */
    look(15000, 15000, SILENCE_WAIT);
    look(15001, 15001, SILENCE_LEAVE);
    look(16000, -1, SILENCE_WAIT); /* no connection that could be left */
}
END_TEST

START_TEST(heard_again_before_it_leaves)
{
    look(6000, NEVER, SILENCE_LOOK_AGAIN);
    look(6001, NEVER, SILENCE_CUT_OFF);
    silence_heard(&silence, 7000 * MS);
    look(12999, NEVER, SILENCE_WAIT);
    look(13000, NEVER, SILENCE_LOOK_AGAIN);
    look(13001, NEVER, SILENCE_CUT_OFF);
}
END_TEST

START_TEST(looks_twelve_times_in_the_bound)
{
    ck_assert_uint_eq(silence_period_ms(&silence), BOUND / 12 + 1);
    silence_begin(&silence, 1, 0);
    ck_assert_uint_eq(silence_period_ms(&silence), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {cut_off_after_two_thirds, what_came_meanwhile_counts,
                                  leaves_when_the_kernel_is_silent_too,
                                  heard_again_before_it_leaves, looks_twelve_times_in_the_bound};
    return suite_run_tests("silence", tests, sizeof(tests) / sizeof(tests[0]), set_up, NULL);
}
