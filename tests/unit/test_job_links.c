/* test_job_links.c - bsprun's job machine: links that break, and who is left out for it. */
#include <check.h>

#include "tests/unit/job_play.h"
#include "tests/unit/suite.h"

/* Three hosts and a spare, term 1, Processor Zero on the first. */
static const struct wire_host four[] = {{4, 0, "a"}, {2, 0, "b"}, {9, 0, "c"}, {5, 0, "d"}};

static void start_four(struct job_machine_config config)
{
    config.hosts = four;
    config.host_count = 4;
    config.spares = 1;
    start_three(config);
}

static void expect_blamed(uint32_t i, uint32_t host, uint32_t peer, bool gone)
{
    ck_assert_int_eq(effects.items[i].kind, JOB_EFFECT_BLAME);
    ck_assert_uint_eq(effects.items[i].host, host);
    ck_assert_uint_eq(effects.items[i].peer, peer);
    ck_assert(effects.items[i].gone == gone);
}

START_TEST(a_link_that_broke_is_tried_again)
{
    start_four(CONFIG());
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 9);
    expect("c");
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 2);
    expect("");
    EVENT(ROLL);
    expect("b!E"); /* with all of them */
    expect_blamed(0, 9, 2, false);
    ck_assert(job_machine_member(machine, 2) && job_machine_member(machine, 9));
    ck_assert(!job_machine_member(machine, 5));
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 2);
    ck_assert(effects.dropped);
    EVENT(ROLL);
    ck_assert(effects.dropped);
    EVENT(COMMITTED, .term = 2, .name = {3, 2});
    EVENT(LINK_LOST, .term = 2, .host = 9, .peer = 2);
    EVENT(ROLL);
    expect("b!E"); /* it was good for something meanwhile */
    tear_down();

    struct job_machine_config patient = CONFIG();
    patient.max_restarts = 9;
    start_four(patient);
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 2);
    EVENT(ROLL);
    EVENT(TERM_OVER, .term = 2, .outcome = death(5));
    EVENT(LINK_LOST, .term = 3, .host = 9, .peer = 2);
    EVENT(ROLL);
    expect("b!E"); /* the term between had another fault: it may have worked in it */
}
END_TEST

START_TEST(a_link_that_stays_broken_costs_a_host)
{
    start_four(CONFIG());
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 9);
    EVENT(ROLL);
    EVENT(LINK_LOST, .term = 2, .host = 2, .peer = 9);
    expect("c");
    EVENT(ROLL);
    expect("bAd!"); /* the later one of the two; the spare instead */
    expect_blamed(0, 9, 2, true);
    ck_assert_uint_eq(effects.items[1].host, 5);
    ck_assert_uint_eq(effects.items[2].host, 9);
    EVENT(AGENT_UP, .host = 5);
    expect(""); /* what was sent away may still run */
    EVENT(AGENT_LOST, .host = 9);
    expect("E");
    ck_assert(job_machine_member(machine, 5) && !job_machine_member(machine, 9));
    EVENT(AGENT_LOST, .host = 9);
    ck_assert(effects.dropped);
    EVENT(LINK_LOST, .term = 3, .host = 2, .peer = 5);
    EVENT(ROLL);
    expect("bX"); /* no restart is left */
}
END_TEST

START_TEST(who_is_left_out)
{
    /* Not Processor Zero's, not bsprun's own, ... */
    start_four(CONFIG(.own = 9));
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 2);
    EVENT(ROLL);
    EVENT(LINK_LOST, .term = 2, .host = 9, .peer = 2);
    EVENT(ROLL);
    expect_blamed(0, 2, 9, true);
    tear_down();

    start_four(CONFIG(.own = 2));
    EVENT(LINK_LOST, .term = 1, .host = 4, .peer = 2);
    EVENT(ROLL);
    EVENT(LINK_LOST, .term = 2, .host = 4, .peer = 2);
    EVENT(ROLL);
    expect_blamed(0, 2, 4, true);
    tear_down();

    /* ... but whoever most do not hear. */
    start_four(CONFIG());
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 4);
    EVENT(ROLL);
    EVENT(LINK_LOST, .term = 2, .host = 9, .peer = 4);
    EVENT(ROLL);
    expect_blamed(0, 4, 9, true);
    ck_assert_uint_eq(effects.items[2].host, 4);
}
END_TEST

START_TEST(who_does_not_answer_is_what_was_lost)
{
    start_four(CONFIG());
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 9);
    EVENT(TERM_OVER, .term = 1, .outcome = {.cause = WIRE_CAUSE_HOST_LOST});
    expect("");
    EVENT(AGENT_LOST, .host = 9);
    expect("A!");
    EVENT(ROLL);
    ck_assert(effects.dropped);
    EVENT(AGENT_UP, .host = 5);
    expect("E");

    EVENT(TERM_OVER, .term = 2, .outcome = {.cause = WIRE_CAUSE_HOST_LOST});
    expect("c");
    EVENT(ROLL);
    expect("b!E");
    expect_blamed(0, JOB_NO_HOST, JOB_NO_HOST, false);
}
END_TEST

START_TEST(who_does_not_hear_bsprun)
{
    start_four(CONFIG());
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 2);
    expect("c");
    EVENT(ROLL);
    expect("b!E");
    expect_blamed(0, 2, 2, false);
    tear_down();

    struct job_machine_config plain = CONFIG();
    plain.snapshots = false;
    start_four(plain);
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 2);
    EVENT(ROLL);
    expect("bl");
    ck_assert_uint_eq(effects.items[1].host, 2);
}
END_TEST

START_TEST(links_of_what_is_not_rolled_back)
{
    struct job_machine_config plain = CONFIG();
    plain.snapshots = false;
    start_four(plain);
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 9);
    EVENT(ROLL);
    expect("bl"); /* Processor Zero ends the job */
    ck_assert_uint_eq(effects.items[1].host, 9);
    EVENT(ENDED, .term = 1, .outcome = {.status = 1, .cause = WIRE_CAUSE_HOST_LOST});
    expect("c");
    EVENT(ROLL);
    expect("X"); /* said once */
    tear_down();

    start_four(CONFIG());
    EVENT(CLOSING, .term = 1);
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 9);
    EVENT(ROLL);
    expect(""); /* nothing goes over it any more */
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 4);
    EVENT(ROLL);
    expect("bl");
    ck_assert_uint_eq(effects.items[1].host, 9);
}
END_TEST

START_TEST(a_link_lost_while_bsp_end_is_agreed_upon)
{
    /* Processor Zero has ended the term before CLOSED came to it: nobody has left bsp_end. */
    start_four(CONFIG());
    EVENT(COMMITTED, .term = 1, .name = {0, 1});
    EVENT(CLOSING, .term = 1);
    expect("C");
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 4);
    expect("c");
    EVENT(TERM_OVER, .term = 1, .outcome = {.cause = WIRE_CAUSE_HOST_LOST});
    EVENT(ROLL);
    expect("b!E");
    ck_assert(!job_machine_closed(machine));
    tear_down();

    /* The roll was over before TERM_OVER came. */
    start_four(CONFIG());
    EVENT(COMMITTED, .term = 1, .name = {0, 1});
    EVENT(CLOSING, .term = 1);
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 4);
    EVENT(ROLL);
    expect("bl");
    EVENT(TERM_OVER, .term = 1, .outcome = {.cause = WIRE_CAUSE_HOST_LOST});
    expect("c");
    EVENT(ROLL);
    expect("b!E");
    tear_down();

    /* No restart is left: it is not the end of the job that is to blame. */
    struct job_machine_config once = CONFIG();
    once.max_restarts = 0;
    start_four(once);
    EVENT(COMMITTED, .term = 1, .name = {0, 1});
    EVENT(CLOSING, .term = 1);
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    expect("X");
    ck_assert(!job_machine_closed(machine));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("job machine");
    TCase *tests = tcase_create("links");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, a_link_that_broke_is_tried_again);
    tcase_add_test(tests, a_link_that_stays_broken_costs_a_host);
    tcase_add_test(tests, who_is_left_out);
    tcase_add_test(tests, who_does_not_answer_is_what_was_lost);
    tcase_add_test(tests, who_does_not_hear_bsprun);
    tcase_add_test(tests, links_of_what_is_not_rolled_back);
    tcase_add_test(tests, a_link_lost_while_bsp_end_is_agreed_upon);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
