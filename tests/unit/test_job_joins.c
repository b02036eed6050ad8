/* test_job_joins.c - bsprun's job machine: hosts that are drained, removed, added, and come back.
 */
#include <check.h>

#include "tests/unit/job_play.h"
#include "tests/unit/suite.h"

static const struct coord_outcome was_moved = {
    .status = 1, .cause = WIRE_CAUSE_MOVED, .pid = COORD_NOBODY, .text = ""};

START_TEST(hosts_are_drained)
{
    struct job_machine_config config = CONFIG();
    config.max_restarts = 0;
    start_three(config);
    EVENT(USE, .host = 2, .use = JOB_USE_DRAINED);
    expect("S");
    ck_assert(effects.items[0].move && !effects.items[0].stop);
    ck_assert(job_machine_drained(machine, 2) && !job_machine_drained(machine, 4));
    /* The next term is no restart, and nothing is said of a fault. */
    EVENT(COMMITTED, .term = 1, .name = {5, 1});
    EVENT(TERM_OVER, .term = 1, .outcome = was_moved);
    expect("E");
    ck_assert(!effects.items[0].anew && job_machine_restores(machine));
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 0);
    /* Back again. */
    EVENT(USE, .host = 2, .use = JOB_USE_OPEN);
    expect("S");
    EVENT(TERM_OVER, .term = 2, .outcome = was_moved);
    expect("E");
    ck_assert(effects.items[0].anew);
    EVENT(COMMITTED, .term = 3, .name = {6, 3});
    EVENT(PLACE);
    expect("S");
    EVENT(TERM_OVER, .term = 3, .outcome = was_moved);
    ck_assert(effects.items[0].anew);
    EVENT(USE, .host = 4, .use = JOB_USE_DRAINED);
    EVENT(COMMITTED, .term = 4, .name = {7, 4});
    EVENT(TERM_OVER, .term = 4, .outcome = was_moved);
    ck_assert(!effects.items[0].anew);
    /* Not the last one. */
    EVENT(USE, .host = 2, .use = JOB_USE_DRAINED);
    ck_assert(!job_machine_can_drain(machine, 9));
    EVENT(USE, .host = 9, .use = JOB_USE_DRAINED);
    ck_assert(effects.dropped);
    EVENT(USE, .host = 77, .use = JOB_USE_DRAINED);
    ck_assert(effects.dropped);
    /* Nothing is moved once all are in bsp_end. */
    EVENT(CLOSING, .term = 5);
    EVENT(USE, .host = 2, .use = JOB_USE_OPEN);
    expect("");
}
END_TEST

START_TEST(hosts_join)
{
    start_three(CONFIG());
    EVENT(USE, .host = 4, .use = JOB_USE_REMOVED);
    EVENT(TERM_OVER, .term = 1, .outcome = was_moved);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    ck_assert_uint_eq(job_machine_term(machine), 2);
    ck_assert(!job_machine_member(machine, 4));
    /* The term goes on until its agent is up, and the next one has it. */
    EVENT(USE, .host = 4, .use = JOB_USE_OPEN);
    expect("A");
    ck_assert(effects.items[0].host == 4 && !effects.items[0].again);
    ck_assert(job_machine_joins(machine, 4) && !job_machine_member(machine, 4));
    EVENT(AGENT_UP, .host = 4);
    expect("S");
    ck_assert(effects.items[0].move && !effects.items[0].stop);
    ck_assert(job_machine_joins(machine, 4) && !job_machine_member(machine, 4));
    EVENT(TERM_OVER, .term = 2, .outcome = was_moved);
    expect("E");
    ck_assert(effects.items[0].anew);
    ck_assert(job_machine_member(machine, 4) && !job_machine_drained(machine, 4));
    /* Wanted again while it still leaves. */
    EVENT(USE, .host = 4, .use = JOB_USE_REMOVED);
    EVENT(TERM_OVER, .term = 3, .outcome = was_moved);
    EVENT(USE, .host = 4, .use = JOB_USE_OPEN);
    expect("");
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    ck_assert(effects.count == 2 && effects.items[0].kind == JOB_EFFECT_START_AGENT &&
              effects.items[1].kind == JOB_EFFECT_ELECT && !job_machine_member(machine, 4));
    EVENT(AGENT_UP, .host = 4);
    expect("S");
    EVENT(TERM_OVER, .term = 4, .outcome = was_moved);
    ck_assert(job_machine_member(machine, 4) && effects.items[0].kind == JOB_EFFECT_ELECT);
}
END_TEST

START_TEST(hosts_do_not_join)
{
    start_three(CONFIG());
    EVENT(USE, .host = 4, .use = JOB_USE_REMOVED);
    EVENT(TERM_OVER, .term = 1, .outcome = was_moved);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    /* Three agents that end at once, and one that is not there. */
    EVENT(USE, .host = 4, .use = JOB_USE_OPEN);
    for (int i = 0; i < 2; i++) {
        EVENT(AGENT_LOST, .host = 4, .usable = true);
        expect("A");
    }
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("");
    ck_assert(!job_machine_joins(machine, 4));
    EVENT(USE, .host = 4, .use = JOB_USE_OPEN);
    expect("A");
    EVENT(AGENT_LOST, .host = 4, .usable = false);
    expect("");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 0);
    /* One that is lost while it waits, which neither ends the term nor is a fault. */
    EVENT(USE, .host = 4, .use = JOB_USE_OPEN);
    EVENT(AGENT_UP, .host = 4);
    expect("S");
    EVENT(AGENT_LOST, .host = 4, .unheard = true);
    expect("");
    ck_assert(job_machine_state(machine) == JOB_MACHINE_RUNNING);
    EVENT(TERM_OVER, .term = 2, .outcome = was_moved);
    expect("E");
    ck_assert(!job_machine_member(machine, 4));
    /* The others are lost while it comes: the next term waits for it. */
    EVENT(USE, .host = 4, .use = JOB_USE_OPEN);
    EVENT(AGENT_LOST, .host = 2, .usable = false);
    EVENT(AGENT_LOST, .host = 9, .usable = false);
    ck_assert(job_machine_state(machine) == JOB_MACHINE_GATHERING);
    EVENT(AGENT_UP, .host = 4);
    expect("E");
}
END_TEST

/* The host was given up, but it is there; without it the job would be over. */
START_TEST(hosts_that_were_given_up_are_the_last_resort)
{
    struct job_machine_config config = CONFIG();
    config.room = 5;
    config.max_restarts = 3;
    start_three(config);
    for (uint32_t host = 7; host <= 8; host++) {
        EVENT(USE, .host = host, .use = JOB_USE_OPEN);
        for (int i = 0; i < 3; i++) {
            EVENT(AGENT_UP, .host = host);
            EVENT(AGENT_LOST, .host = host, .usable = host == 7 || i < 2);
        }
        expect("");
        ck_assert(!job_machine_joins(machine, host));
    }
    EVENT(AGENT_LOST, .host = 2, .usable = false);
    EVENT(AGENT_LOST, .host = 4, .usable = false);
    ck_assert(job_machine_state(machine) == JOB_MACHINE_RUNNING);
    EVENT(AGENT_LOST, .host = 9, .usable = false);
    ck_assert(job_machine_state(machine) == JOB_MACHINE_GATHERING);
    ck_assert_uint_eq(effects.count, 2);
    ck_assert(effects.items[0].kind == JOB_EFFECT_START_AGENT && effects.items[0].host == 7);
    ck_assert(effects.items[1].kind == JOB_EFFECT_SAY_AGAIN);
    /* It comes, or three attempts fail. */
    EVENT(AGENT_LOST, .host = 7, .usable = true);
    expect("A");
    EVENT(AGENT_LOST, .host = 7, .usable = true);
    expect("A");
    EVENT(AGENT_LOST, .host = 7, .usable = true);
    expect("X");
    ck_assert(job_machine_outcome(machine).cause == WIRE_CAUSE_HOST_LOST);
}
END_TEST

START_TEST(hosts_are_admitted)
{
    struct job_machine_config config = CONFIG();
    config.room = 4;
    start_three(config);
    EVENT(USE, .host = 7, .use = JOB_USE_DRAINED);
    ck_assert(effects.dropped);
    EVENT(USE, .host = 7, .use = JOB_USE_OPEN);
    expect("A");
    ck_assert(effects.items[0].host == 7 && job_machine_joins(machine, 7));
    /* One more than there is room for. */
    EVENT(USE, .host = 8, .use = JOB_USE_OPEN);
    ck_assert(effects.dropped);
    /* A fault comes first. */
    EVENT(AGENT_UP, .host = 7);
    expect("S");
    EVENT(AGENT_LOST, .host = 9, .usable = false);
    ck_assert(effects.items[effects.count - 1].kind == JOB_EFFECT_ELECT &&
              effects.items[effects.count - 1].anew);
    ck_assert(job_machine_member(machine, 7) && !job_machine_member(machine, 9));
    /* From then on it is as the others. */
    EVENT(USE, .host = 7, .use = JOB_USE_REMOVED);
    EVENT(TERM_OVER, .term = 2, .outcome = was_moved);
    ck_assert(effects.items[0].kind == JOB_EFFECT_DISMISS && effects.items[0].host == 7);
}
END_TEST

START_TEST(lost_hosts_are_tried_again)
{
    struct job_machine_config config = CONFIG();
    config.retry_ms = 60000;
    config.room = 4;
    start_three(config);
    EVENT(AGENT_LOST, .host = 9, .usable = false, .now_ms = 1000);
    expect("!Ew");
    ck_assert_uint_eq(effects.items[2].milliseconds, 60000);
    EVENT(TIMER, .now_ms = 60999);
    expect("w");
    EVENT(TIMER, .now_ms = 61000);
    expect("A");
    ck_assert(effects.items[0].host == 9 && effects.items[0].again);
    /* Each time after twice as much. */
    EVENT(AGENT_LOST, .host = 9, .usable = false, .now_ms = 62000);
    expect("w");
    ck_assert_uint_eq(effects.items[0].milliseconds, 120000);
    EVENT(TIMER, .now_ms = 200000);
    expect("A");
    EVENT(AGENT_UP, .host = 9, .now_ms = 201000);
    expect("S");
    EVENT(TERM_OVER, .term = 2, .outcome = was_moved, .now_ms = 202000);
    expect("E");
    ck_assert(job_machine_member(machine, 9) && effects.items[0].anew);
    /* Not what was removed. */
    EVENT(USE, .host = 9, .use = JOB_USE_REMOVED, .now_ms = 203000);
    EVENT(TERM_OVER, .term = 3, .outcome = was_moved, .now_ms = 204000);
    EVENT(AGENT_LOST, .host = 9, .usable = true, .now_ms = 205000);
    expect("E");
    /* Nor one whose place another has taken: as many take part as at the beginning. */
    EVENT(AGENT_LOST, .host = 2, .usable = false, .now_ms = 206000);
    expect("!Ew");
    EVENT(USE, .host = 9, .use = JOB_USE_OPEN, .now_ms = 207000);
    EVENT(USE, .host = 7, .use = JOB_USE_OPEN, .now_ms = 207000);
    expect("A");
    EVENT(TIMER, .now_ms = 900000);
    expect("");
}
END_TEST

/* For their owners: without processes, but not forgotten. */
START_TEST(hosts_that_are_left)
{
    struct job_machine_config config = CONFIG();
    config.retry_ms = 60000;
    start_three(config);
    EVENT(USE, .host = 9, .use = JOB_USE_LEFT, .now_ms = 1000);
    expect("S");
    ck_assert(job_machine_drained(machine, 9) && !job_machine_removed(machine, 9));
    EVENT(TERM_OVER, .term = 1, .outcome = was_moved, .now_ms = 1001);
    expect("E");
    EVENT(AGENT_LOST, .host = 9, .usable = false, .now_ms = 2000);
    expect("!Ew");
    EVENT(TIMER, .now_ms = 62000);
    expect("A");
    EVENT(AGENT_UP, .host = 9, .now_ms = 62001);
    expect("S");
    EVENT(TERM_OVER, .term = 3, .outcome = was_moved, .now_ms = 62002);
    expect("E");
    ck_assert(job_machine_member(machine, 9) && job_machine_drained(machine, 9));
    /* Those that the user has drained are. */
    EVENT(USE, .host = 9, .use = JOB_USE_DRAINED, .now_ms = 62003);
    EVENT(AGENT_LOST, .host = 9, .usable = false, .now_ms = 62004);
    expect("!E");
}
END_TEST

START_TEST(hosts_that_are_away)
{
    struct job_machine_config config = CONFIG();
    config.retry_ms = 60000;
    start_three(config);
    /* It is lost, and while its agent is being started it turns out to be no longer the job's. */
    EVENT(AGENT_LOST, .host = 9, .usable = true, .now_ms = 1000);
    ck_assert(job_machine_awaits(machine, 9) && !job_machine_awaits(machine, 2));
    EVENT(AGENT_LOST, .host = 9, .away = true, .now_ms = 1100);
    expect("E");
    ck_assert(!job_machine_awaits(machine, 9) && !job_machine_drained(machine, 9));
    EVENT(TIMER, .now_ms = 900000);
    expect("");
    /* By request it is tried, and may turn out to be away again. */
    EVENT(USE, .host = 9, .use = JOB_USE_OPEN, .now_ms = 900001);
    expect("A");
    ck_assert(job_machine_awaits(machine, 9));
    EVENT(AGENT_LOST, .host = 9, .away = true, .now_ms = 900002);
    expect("");
    EVENT(TIMER, .now_ms = 9000000);
    expect("");
    /* It comes back; from then on it is as the others. */
    EVENT(USE, .host = 9, .use = JOB_USE_OPEN, .now_ms = 9000001);
    EVENT(AGENT_UP, .host = 9, .now_ms = 9000002);
    expect("S");
    EVENT(TERM_OVER, .term = 2, .outcome = was_moved, .now_ms = 9000003);
    EVENT(AGENT_LOST, .host = 9, .usable = false, .now_ms = 9000004);
    expect("!Ew");
}
END_TEST

START_TEST(an_agent_that_ends_while_it_waits)
{
    struct job_machine_config config = CONFIG();
    config.room = 4;
    config.retry_ms = 1000;
    start_three(config);
    EVENT(USE, .host = 7, .use = JOB_USE_OPEN);
    for (int i = 0; i < 2; i++) {
        EVENT(AGENT_UP, .host = 7);
        expect("S");
        EVENT(AGENT_LOST, .host = 7, .usable = true);
        expect("A");
    }
    EVENT(AGENT_UP, .host = 7);
    EVENT(AGENT_LOST, .host = 7, .usable = true);
    expect("");
    ck_assert(!job_machine_joins(machine, 7) && !job_machine_spare(machine, 7));
    /* It has never taken part, so that it is not tried again when another one is lost. */
    EVENT(USE, .host = 9, .use = JOB_USE_REMOVED);
    EVENT(TERM_OVER, .term = 1, .outcome = was_moved);
    EVENT(AGENT_LOST, .host = 9, .usable = true);
    expect("E");
}
END_TEST

/* A removed host that is not heard of may still compute. */
START_TEST(a_fence_for_hosts_that_leave)
{
    struct job_machine_config config = CONFIG();
    config.fence_ms = 5000;
    start_three(config);
    EVENT(USE, .host = 9, .use = JOB_USE_REMOVED);
    EVENT(TERM_OVER, .term = 1, .outcome = was_moved, .now_ms = 1000);
    EVENT(AGENT_LOST, .host = 9, .unheard = true, .now_ms = 2000);
    expect("w");
    ck_assert_uint_eq(effects.items[0].milliseconds, 5000);
    EVENT(TIMER, .now_ms = 7000);
    expect("E");
}
END_TEST

START_TEST(the_last_host_is_not_removed)
{
    start_three(CONFIG());
    EVENT(USE, .host = 2, .use = JOB_USE_REMOVED);
    EVENT(USE, .host = 9, .use = JOB_USE_REMOVED);
    EVENT(AGENT_LOST, .host = 4, .usable = false);
    expect("!E");
    ck_assert(job_machine_member(machine, 2) && job_machine_member(machine, 9));
}
END_TEST

/* A rollback to the snapshot at which processes were placed anew does not undo that. */
START_TEST(places_outlast_a_fault)
{
    start_three(CONFIG());
    EVENT(PLACE);
    EVENT(COMMITTED, .term = 1, .name = {5, 1});
    EVENT(TERM_OVER, .term = 1, .outcome = was_moved);
    ck_assert(effects.items[0].anew);
    EVENT(TERM_OVER, .term = 2, .outcome = {.status = 137, .again = true, .text = ""});
    ck_assert(effects.items[effects.count - 1].kind == JOB_EFFECT_ELECT &&
              effects.items[effects.count - 1].anew);
    EVENT(COMMITTED, .term = 3, .name = {6, 3});
    EVENT(TERM_OVER, .term = 3, .outcome = {.status = 137, .again = true, .text = ""});
    ck_assert(effects.items[effects.count - 1].kind == JOB_EFFECT_ELECT &&
              !effects.items[effects.count - 1].anew);
}
END_TEST

START_TEST(hosts_are_removed)
{
    start_three(CONFIG());
    EVENT(USE, .host = 4, .use = JOB_USE_REMOVED);
    expect("S");
    EVENT(TERM_OVER, .term = 1, .outcome = {.cause = WIRE_CAUSE_MOVED, .text = ""});
    expect("d"); /* and waits for its end */
    ck_assert_uint_eq(effects.items[0].host, 4);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("E");
    ck_assert(!job_machine_member(machine, 4) && job_machine_zero(machine) != 4);
    tear_down();

    /* Between two terms: at once. */
    start_three(CONFIG());
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("A!");
    EVENT(USE, .host = 9, .use = JOB_USE_REMOVED);
    EVENT(AGENT_UP, .host = 2);
    expect("d");
    EVENT(AGENT_LOST, .host = 9);
    expect("E");
    tear_down();

    /* Before the first: process 0 stays where it is until the first barrier. */
    start(CONFIG(.host_count = 2));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(USE, .host = 4, .use = JOB_USE_REMOVED);
    expect("");
    EVENT(REGISTERED, .host = 4);
    expect("ES");
    ck_assert(effects.items[1].move);
    EVENT(TERM_OVER, .term = 1, .outcome = {.cause = WIRE_CAUSE_MOVED, .text = ""});
    expect("d");
}
END_TEST

/* Another number of replicas takes effect with the next term: from then on Processor Zero decides
 * what the loss of a host means. */
START_TEST(replicas_are_wanted)
{
    start_three(CONFIG());
    EVENT(REPLICAS, .replicas = 2);
    expect("S");
    ck_assert(effects.items[0].move && !effects.items[0].stop);
    EVENT(TERM_OVER, .term = 1, .outcome = was_moved);
    expect("E");
    ck_assert(effects.items[0].anew);
    EVENT(COMMITTED, .term = 2, .name = {5, 2});
    EVENT(REPLICAS, .replicas = 1);
    expect("S");
    EVENT(AGENT_LOST, .host = 2, .usable = true); /* there still are replicas */
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_RUNNING);
    ck_assert_int_eq(effects.items[0].kind, JOB_EFFECT_LOST_TO_ZERO);
    EVENT(TERM_OVER, .term = 2, .outcome = was_moved);
    ck_assert_uint_eq(job_machine_term(machine), 3);
    EVENT(AGENT_LOST, .host = 9, .usable = true);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_GATHERING);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hosts of the job machine");
    TCase *tests = tcase_create("hosts");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, hosts_are_drained);
    tcase_add_test(tests, hosts_join);
    tcase_add_test(tests, hosts_do_not_join);
    tcase_add_test(tests, hosts_that_were_given_up_are_the_last_resort);
    tcase_add_test(tests, hosts_are_admitted);
    tcase_add_test(tests, lost_hosts_are_tried_again);
    tcase_add_test(tests, hosts_that_are_away);
    tcase_add_test(tests, hosts_that_are_left);
    tcase_add_test(tests, an_agent_that_ends_while_it_waits);
    tcase_add_test(tests, a_fence_for_hosts_that_leave);
    tcase_add_test(tests, the_last_host_is_not_removed);
    tcase_add_test(tests, places_outlast_a_fault);
    tcase_add_test(tests, hosts_are_removed);
    tcase_add_test(tests, replicas_are_wanted);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
