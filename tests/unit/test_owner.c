/* test_owner.c - whether the owner of a host is active, sample by sample, and what follows. */
#include <check.h>
#include <string.h>

#include "bsprun/agent/owner/activity.h"
#include "tests/unit/suite.h"

#define SECOND UINT64_C(1000)

static struct owner_activity activity;
static struct owner_sample now;

static void set_up(void)
{
    const struct owner_rule rule = {.policy = WIRE_POLICY_YIELD,
                                    .input_ms = 60 * SECOND,
                                    .load = 0.25,
                                    .quiet_ms = 30 * SECOND};

    owner_begin(&activity, &rule);
    now = (struct owner_sample){.now_ms = 1000 * SECOND, .input_age_ms = OWNER_NEVER};
}

/* A look so many seconds later, in which others have used so many milliseconds. */
static void look(uint64_t seconds, uint64_t others_ms, bool changes, enum owner_state expected)
{
    now.now_ms += seconds * SECOND;
    now.others_ms += others_ms;
    ck_assert_int_eq(owner_look(&activity, &now), changes);
    ck_assert_int_eq(activity.state, expected);
}

static void says(const char *expected)
{
    char text[64];

    owner_sign_text(&activity, text, sizeof text);
    ck_assert_str_eq(text, expected);
}

START_TEST(nobody)
{
    for (int i = 0; i < 100; i++)
        look(1, 0, false, OWNER_QUIET);
    says("");
}
END_TEST

START_TEST(input)
{
    now.input_age_ms = 60 * SECOND + 1;
    look(1, 0, false, OWNER_QUIET);
    now.input_age_ms = 60 * SECOND;
    look(1, 0, true, OWNER_ACTIVE);
    says("input 60 s ago");
    now.input_age_ms = 0;
    look(1, 0, false, OWNER_ACTIVE);
    says("input 0 s ago");
}
END_TEST

/* The time without a sign counts from the last sign, and a sign in between begins it anew. */
START_TEST(quiet_again)
{
    now.input_age_ms = 0;
    look(1, 0, true, OWNER_ACTIVE);
    now.input_age_ms = 61 * SECOND;
    look(29, 0, false, OWNER_ACTIVE);
    now.on_battery = true;
    look(1, 0, false, OWNER_ACTIVE);
    says("on battery");
    now.on_battery = false;
    look(29, 0, false, OWNER_ACTIVE);
    look(1, 0, true, OWNER_QUIET);
    look(1, 0, false, OWNER_QUIET);
    now.on_battery = true;
    look(1, 0, true, OWNER_ACTIVE);
}
END_TEST

/* On the average of five seconds, of which there have to be samples. */
START_TEST(load_of_others)
{
    for (int i = 0; i < 5; i++)
        look(1, 1000, false, OWNER_QUIET);
    look(1, 1000, true, OWNER_ACTIVE);
    says("others use 1.00 cores");
    for (int i = 0; i < 3; i++)
        look(1, 0, false, OWNER_ACTIVE);
    says("others use 0.40 cores");
    look(1, 0, false, OWNER_ACTIVE);
    says("others use 0.40 cores"); /* 0.2 is no sign */
    for (int i = 0; i < 28; i++)
        look(1, 250, false, OWNER_ACTIVE); /* nor is 0.25 */
    look(1, 250, true, OWNER_QUIET);
    look(1, 255, true, OWNER_ACTIVE);
}
END_TEST

/* A burst of less than the window, at which a user's shell looks around, is none. */
START_TEST(short_load)
{
    for (int i = 0; i < 20; i++)
        look(1, 0, false, OWNER_QUIET);
    look(1, 1000, false, OWNER_QUIET);
    for (int i = 0; i < 20; i++)
        look(1, 0, false, OWNER_QUIET);
}
END_TEST

/* An agent that did not run for long, and one that looks more often than it should. */
START_TEST(any_intervals)
{
    look(1, 0, false, OWNER_QUIET);
    look(1000, 1000, false, OWNER_QUIET);
    look(1, 900, false, OWNER_QUIET); /* of thousand and one seconds */
    look(4, 4000, true, OWNER_ACTIVE);
    for (int i = 0; i < 1000; i++) {
        now.now_ms += 10;
        ck_assert(!owner_look(&activity, &now));
        ck_assert_uint_le(activity.count, OWNER_SAMPLES);
    }
    now.now_ms += 30 * SECOND;
    ck_assert(owner_look(&activity, &now));
}
END_TEST

START_TEST(what_is_done)
{
    static const enum wire_act acts[] = {WIRE_ACT_GO_ON, WIRE_ACT_SLOW, WIRE_ACT_STOP,
                                         WIRE_ACT_LEAVE};

    for (unsigned policy = 0; policy < WIRE_POLICY_COUNT; policy++) {
        ck_assert_int_eq(owner_act((enum wire_policy)policy, OWNER_QUIET), WIRE_ACT_GO_ON);
        ck_assert_int_eq(owner_act((enum wire_policy)policy, OWNER_ACTIVE), acts[policy]);
    }
}
END_TEST

int main(void)
{
    const TTest *tests[] = {nobody,     input,         quiet_again, load_of_others,
                            short_load, any_intervals, what_is_done};

    return suite_run_tests("owner of a host", tests, sizeof tests / sizeof *tests, set_up, NULL);
}
