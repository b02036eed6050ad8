/* test_quiet.c - the search for processes that wait for ever, answer by answer; many of them are
 * played in tests/sim/dataspace.
 */
#include <check.h>

#include "coordinator/core/quiet.h"
#include "tests/unit/suite.h"

static struct quiet quiet;

static void set_up(void)
{
    ck_assert(quiet_begin(&quiet, 3));
    quiet.hosts[0].asked = quiet.hosts[2].asked = true; /* host 1 has no processes */
}

static void tear_down(void)
{
    quiet_end(&quiet);
}

static enum quiet_act say(uint32_t host, uint64_t round, uint64_t sent, uint64_t received)
{
    struct wire_quiet message = {.host = host,
                                 .round = round,
                                 .quiet = true,
                                 .sent = sent,
                                 .received = received,
                                 .arrived = 0,
                                 .held = WIRE_NEVER,
                                 .waits = "\n  pid 0"};

    return quiet_take(&quiet, host, &message);
}

static enum quiet_act say_busy(uint32_t host, uint64_t round)
{
    struct wire_quiet message = {.host = host, .round = round, .waits = ""};

    return quiet_take(&quiet, host, &message);
}

static void ask_twice(void)
{
    ck_assert_int_eq(say(0, 0, 5, 2), QUIET_ASK);
    ck_assert_int_eq(say(0, 1, 5, 2), QUIET_NOTHING);
    ck_assert_int_eq(say(2, 1, 2, 5), QUIET_ASK);
    ck_assert_uint_eq(quiet.round, 2);
    ck_assert_int_eq(say(0, 2, 5, 2), QUIET_NOTHING);
}

START_TEST(all_wait)
{
    ask_twice();
    ck_assert_int_eq(say(2, 2, 2, 5), QUIET_STUCK);
    ck_assert_str_eq(quiet.hosts[2].waits, "\n  pid 0");
}
END_TEST

START_TEST(one_goes_on)
{
    ask_twice();
    ck_assert_int_eq(say_busy(2, 2), QUIET_NOTHING);
    ck_assert_int_eq(say(2, 2, 2, 5), QUIET_NOTHING); /* it is not asked any more */
    ck_assert_int_eq(say(0, 0, 5, 2), QUIET_ASK);
}
END_TEST

START_TEST(a_message_between_the_questions)
{
    ask_twice();
    ck_assert_int_eq(say(2, 2, 3, 6), QUIET_NOTHING);
    ck_assert_int_eq(quiet.state, QUIET_UNKNOWN);
}
END_TEST

START_TEST(a_message_on_its_way)
{
    ck_assert_int_eq(say(0, 0, 6, 2), QUIET_ASK);
    ck_assert_int_eq(say(0, 1, 6, 2), QUIET_NOTHING);
    ck_assert_int_eq(say(2, 1, 2, 5), QUIET_NOTHING);
    ck_assert_int_eq(quiet.state, QUIET_UNKNOWN);
}
END_TEST

/* Process 0 waits at the barrier of superstep 4, and the others have reached it. */
START_TEST(a_barrier_on_its_way)
{
    struct wire_quiet first = {
        .host = 0, .round = 1, .quiet = true, .arrived = 5, .held = 4, .waits = ""};
    struct wire_quiet second = {
        .host = 2, .round = 1, .quiet = true, .arrived = 5, .held = WIRE_NEVER, .waits = ""};

    ck_assert_int_eq(say(0, 0, 0, 0), QUIET_ASK);
    ck_assert_int_eq(quiet_take(&quiet, 0, &first), QUIET_NOTHING);
    ck_assert_int_eq(quiet_take(&quiet, 2, &second), QUIET_NOTHING);
    ck_assert_int_eq(quiet.state, QUIET_UNKNOWN);
    second.arrived = 4; /* it has not */
    first.round = second.round = 2;
    ck_assert_int_eq(say(0, 0, 0, 0), QUIET_ASK);
    ck_assert_int_eq(quiet_take(&quiet, 0, &first), QUIET_NOTHING);
    ck_assert_int_eq(quiet_take(&quiet, 2, &second), QUIET_ASK);
}
END_TEST

START_TEST(who_answers_twice_or_late)
{
    ask_twice();
    ck_assert_int_eq(say(0, 2, 5, 2), QUIET_NOTHING);
    ck_assert_int_eq(say(2, 1, 2, 5), QUIET_NOTHING);
    ck_assert_int_eq(say(1, 2, 0, 0), QUIET_NOTHING); /* has no processes */
    ck_assert_int_eq(say(0, 0, 5, 2), QUIET_NOTHING); /* a question is open */
    ck_assert_int_eq(say(2, 2, 2, 5), QUIET_STUCK);
}
END_TEST

/* A host that is lost does not answer, and what it had said no longer counts. */
START_TEST(a_host_is_lost)
{
    ck_assert_int_eq(say(0, 0, 5, 2), QUIET_ASK);
    ck_assert_int_eq(say(2, 1, 2, 5), QUIET_NOTHING);
    quiet.hosts[2].asked = false;
    quiet.hosts[1].asked = true;
    quiet_restart(&quiet);
    ck_assert_int_eq(say(0, 1, 5, 2), QUIET_NOTHING);
    ck_assert_int_eq(say(0, 0, 3, 1), QUIET_ASK);
    ck_assert_int_eq(say(0, 2, 3, 1), QUIET_NOTHING);
    ck_assert_int_eq(say(1, 2, 1, 3), QUIET_ASK);
    ck_assert_int_eq(say(0, 3, 3, 1), QUIET_NOTHING);
    quiet_restart(&quiet); /* while the second question is open */
    ck_assert_int_eq(say(1, 3, 1, 3), QUIET_NOTHING);
    quiet_restart(&quiet); /* none is */
    ck_assert_int_eq(quiet.state, QUIET_UNKNOWN);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        all_wait,
        one_goes_on,
        a_message_between_the_questions,
        a_message_on_its_way,
        a_barrier_on_its_way,
        who_answers_twice_or_late,
        a_host_is_lost,
    };

    return suite_run_tests("quiet", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
