/* test_job_zero.c - the job machine of bsprun: another Processor Zero in the same term, where
 * processes have replicas; what is asked of one after the other. */
#include <check.h>

#include "tests/unit/job_play.h"
#include "tests/unit/suite.h"

/* Host 4 is that of Processor Zero; the processes run. */
static void start_running(void)
{
    start_three(CONFIG(.replicas = true, .own = JOB_NO_HOST));
    EVENT(RUNNING, .term = 1, .replicas = true);
    ck_assert_uint_eq(job_machine_zero(machine), 4);
}

START_TEST(its_host_is_lost)
{
    start_running();
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("O");
    ck_assert_uint_eq(effects.items[0].host, 2);
    ck_assert_uint_eq(job_machine_zero(machine), 2);
    ck_assert_uint_eq(job_machine_term(machine), 1);
    ck_assert(!job_machine_member(machine, 4));
    EVENT(AGENT_LOST, .host = 9);
    expect("l"); /* the new one decides about that */
    ck_assert_uint_eq(effects.items[0].host, 9);
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_GATHERING); /* nobody is left */
}
END_TEST

START_TEST(one_after_the_other)
{
    start_running();
    EVENT(AGENT_LOST, .host = 4);
    EVENT(AGENT_LOST, .host = 2);
    expect("O");
    ck_assert_uint_eq(job_machine_zero(machine), 9);
}
END_TEST

/* Hosts 4 and 2, and a spare, 9. */
static void start_with_a_spare(void)
{
    start(CONFIG(.host_count = 3, .spares = 1, .replicas = true, .own = JOB_NO_HOST));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(REGISTERED, .host = 4);
    expect("E");
    EVENT(RUNNING, .term = 1, .replicas = true);
}

static void expect_spare(uint32_t at)
{
    ck_assert_int_eq(effects.items[at].kind, JOB_EFFECT_START_AGENT);
    ck_assert_uint_eq(effects.items[at].host, 9);
    EVENT(AGENT_UP, .host = 9);
    expect("S"); /* it gets replicas at the next snapshot */
    ck_assert(effects.items[0].move);
    EVENT(TERM_OVER, .term = 1, .outcome = {.cause = WIRE_CAUSE_MOVED});
    expect("E");
    ck_assert(job_machine_member(machine, 9));
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 0);
}

START_TEST(a_spare_comes)
{
    start_with_a_spare();
    EVENT(AGENT_LOST, .host = 2);
    expect("lA");
    expect_spare(1);
    tear_down();

    start_with_a_spare(); /* in the place of Processor Zero's host */
    EVENT(AGENT_LOST, .host = 4);
    expect("OA");
    expect_spare(1);
    tear_down();

    start_with_a_spare(); /* ... which nobody hears any more */
    EVENT(LINK_LOST, .term = 1, .host = 4, .peer = 4);
    EVENT(ROLL, .term = 1);
    expect("bdOA");
    expect_spare(3);
    tear_down();

    start_with_a_spare(); /* nothing begins any more */
    EVENT(CLOSING, .term = 1);
    EVENT(AGENT_LOST, .host = 2);
    expect("l");
    EVENT(AGENT_LOST, .host = 4);
    ck_assert(!job_machine_joins(machine, 9));
}
END_TEST

/* Hosts that can be used again are tried if no spare comes. */
START_TEST(a_spare_does_not_come)
{
    start(CONFIG(.host_count = 3, .spares = 1, .replicas = true, .own = JOB_NO_HOST,
                 .retry_ms = 1000));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(REGISTERED, .host = 4);
    EVENT(RUNNING, .term = 1, .replicas = true);
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("lA");
    EVENT(AGENT_LOST, .host = 9);
    expect("w");
    EVENT(TIMER, .now_ms = 1000);
    expect("A");
    ck_assert_uint_eq(effects.items[0].host, 2);
}
END_TEST

/* All hosts have what their processes are made of. */
START_TEST(while_they_are_made)
{
    start_three(CONFIG(.replicas = true, .own = JOB_NO_HOST));
    EVENT(PLACED, .term = 1, .replicas = true);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("O");
    ck_assert_uint_eq(job_machine_term(machine), 1);
}
END_TEST

/* Before that there is nothing to go on with. */
START_TEST(before_they_are_made)
{
    start_three(CONFIG(.replicas = true, .own = JOB_NO_HOST));
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_GATHERING);
    EVENT(AGENT_UP, .host = 4);
    ck_assert_uint_eq(job_machine_term(machine), 2);
    EVENT(RUNNING, .term = 1, .replicas = true); /* late */
    EVENT(AGENT_LOST, .host = job_machine_zero(machine), .usable = true);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_GATHERING);
}
END_TEST

START_TEST(without_replicas)
{
    start_three(CONFIG(.own = JOB_NO_HOST));
    EVENT(RUNNING, .term = 1);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_GATHERING);
}
END_TEST

/* They are wanted, and there are too few hosts: agents know of none, and await no successor. */
START_TEST(without_the_replicas_that_are_wanted)
{
    start_three(CONFIG(.replicas = true, .own = JOB_NO_HOST));
    EVENT(PLACED, .term = 1);
    EVENT(RUNNING, .term = 1);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_GATHERING);
    EVENT(AGENT_UP, .host = 4);
    EVENT(RUNNING, .term = 2, .replicas = true);
    EVENT(AGENT_LOST, .host = job_machine_zero(machine), .usable = true);
    expect("O");
}
END_TEST

/* What the former one was asked for is asked again, until it is done. */
START_TEST(requests_are_repeated)
{
    start_running();
    EVENT(SAVE, .signal = 10);
    expect("S");
    EVENT(AGENT_LOST, .host = 4);
    expect("OS");
    ck_assert_uint_eq(effects.items[1].host, 2);
    ck_assert(!effects.items[1].stop && !effects.items[1].move);
    EVENT(COMMITTED, .term = 1, .name = {7, 1});
    EVENT(SAVE, .stop = true, .signal = 15, .grace_ms = 9);
    EVENT(AGENT_LOST, .host = 2);
    expect("OS");
    ck_assert(effects.items[1].stop && effects.items[1].signal == 15);
    ck_assert_uint_eq(effects.items[1].milliseconds, 9);
}
END_TEST

static void expect_asked(uint32_t at)
{
    ck_assert_int_eq(effects.items[at].kind, JOB_EFFECT_SAVE);
    ck_assert_uint_eq(effects.items[at].host, job_machine_zero(machine));
    ck_assert_uint_eq(effects.items[at].term, job_machine_term(machine));
    ck_assert(!effects.items[at].stop && !effects.items[at].move);
}

START_TEST(the_next_term_owes_the_snapshot)
{
    start_three(CONFIG(.own = JOB_NO_HOST));
    EVENT(SAVE, .signal = 10);
    expect("S");
    ck_assert(job_machine_owes_snapshot(machine));
    EVENT(TERM_OVER, .term = 1, .outcome = death(3));
    expect("!ES");
    expect_asked(2);
    EVENT(COMMITTED, .term = 2, .name = {4, 2});
    ck_assert(!job_machine_owes_snapshot(machine));
    EVENT(TERM_OVER, .term = 2, .outcome = death(5));
    expect("!E");
}
END_TEST

START_TEST(asked_for_between_terms)
{
    start_three(CONFIG(.own = JOB_NO_HOST));
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_GATHERING);
    EVENT(SAVE, .signal = 10);
    expect("");
    EVENT(AGENT_UP, .host = 2);
    expect("ES");
    expect_asked(1);
}
END_TEST

/* The one that was being written then is none of what has been computed since. */
START_TEST(a_snapshot_that_was_taken_before)
{
    start_three(CONFIG(.own = JOB_NO_HOST));
    EVENT(SAVE, .signal = 10, .now_ms = 1000);
    EVENT(COMMITTED, .term = 1, .name = {7, 1}, .now_ms = 1500, .age_ms = 600);
    ck_assert(job_machine_owes_snapshot(machine));
    EVENT(COMMITTED, .term = 1, .name = {8, 1}, .now_ms = 1700, .age_ms = 700);
    ck_assert(!job_machine_owes_snapshot(machine));
}
END_TEST

START_TEST(a_stop_is_repeated)
{
    start_running();
    EVENT(SAVE, .signal = 10);
    EVENT(STOP, .how = WIRE_STOP_SIGNAL, .signal = 2);
    EVENT(AGENT_LOST, .host = 4);
    expect("Os");
    ck_assert_uint_eq(effects.items[1].signal, 2);
}
END_TEST

/* Past bsp_end nothing is rolled back, and nothing has to be. */
START_TEST(after_the_agreement_on_the_end)
{
    start_running();
    EVENT(CLOSING, .term = 1);
    expect("C");
    EVENT(AGENT_LOST, .host = 4);
    expect("O");
    EVENT(CLOSING, .term = 1);
    expect("C");
    ck_assert_uint_eq(effects.items[0].host, 2);
    EVENT(ENDED, .term = 1, .outcome = {.pid = COORD_NOBODY, .text = ""});
    expect("F");
}
END_TEST

/* When the processes are being ended, as bsp_abort was called, there is nothing to go on with; and
 * when they may have left bsp_end, nothing to go back to. */
START_TEST(after_the_agreement_to_stop)
{
    start_running();
    EVENT(CLOSING, .term = 1, .cut_short = true);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_OVER);
}
END_TEST

START_TEST(all_are_lost_after_the_end)
{
    struct coord_outcome lost = {.cause = WIRE_CAUSE_HOST_LOST, .pid = COORD_NOBODY, .text = ""};

    start_running();
    EVENT(CLOSING, .term = 1);
    EVENT(AGENT_LOST, .host = 4);
    expect("O");
    EVENT(TERM_OVER, .term = 1, .outcome = lost);
    EVENT(ROLL);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_OVER);
}
END_TEST

/* Processor Zero has lost a host before it was placed, and so has the term. */
START_TEST(it_has_ended_the_term)
{
    struct coord_outcome lost = {.cause = WIRE_CAUSE_HOST_LOST, .pid = COORD_NOBODY, .text = ""};

    start_three(CONFIG(.replicas = true, .own = JOB_NO_HOST));
    EVENT(LINK_LOST, .term = 1, .host = 4, .peer = 9);
    EVENT(TERM_OVER, .term = 1, .outcome = lost);
    EVENT(ROLL);
    ck_assert_uint_eq(job_machine_term(machine), 2);
}
END_TEST

/* Others do not hear it, but bsprun does: it leaves. */
START_TEST(it_is_cut_off)
{
    start_running();
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 4);
    expect("c");
    EVENT(ROLL);
    expect("w"); /* others may say the same */
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 4);
    expect("c");
    EVENT(ROLL);
    expect("");
    EVENT(TIMER, .now_ms = 20);
    expect("w");
    EVENT(TIMER, .now_ms = 51);
    expect("bdO");
    ck_assert_uint_eq(effects.items[1].host, 4);
    ck_assert_uint_eq(effects.items[2].host, 2);
    EVENT(AGENT_LOST, .host = 4);
    ck_assert(effects.dropped);
}
END_TEST

/* One link is lost: the other end of it is given up, not Processor Zero. */
/* It is the one whose link was broken for that, not a later one in the list that has broken it. */
START_TEST(one_is_too_far_behind)
{
    start_running();
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 9);
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 2, .behind = true);
    EVENT(ROLL);
    expect("bl");
    ck_assert_uint_eq(effects.items[1].host, 2);
    ck_assert(!job_machine_goes_on(machine, 2) && job_machine_goes_on(machine, 9));
    tear_down();

    start_running(); /* even Processor Zero */
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 4, .behind = true);
    EVENT(ROLL);
    EVENT(TIMER, .now_ms = 51);
    ck_assert_uint_ne(job_machine_zero(machine), 4);
    ck_assert(job_machine_goes_on(machine, 9));
}
END_TEST

START_TEST(another_is_cut_off)
{
    start_running();
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 4);
    EVENT(ROLL);
    EVENT(TIMER, .now_ms = 51);
    expect("bl");
    ck_assert(!job_machine_goes_on(machine, 9));
    ck_assert_uint_eq(effects.items[1].host, 9);
    ck_assert_uint_eq(job_machine_zero(machine), 4);
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 2);
    ck_assert(effects.dropped);
    EVENT(AGENT_LOST, .host = 4);
    expect("O");
    ck_assert_uint_eq(job_machine_zero(machine), 2);
}
END_TEST

/* Two at a time: it is decided about both. */
START_TEST(two_are_cut_off)
{
    start_running();
    EVENT(LINK_LOST, .term = 1, .host = 9, .peer = 4);
    EVENT(ROLL);
    EVENT(LINK_LOST, .term = 1, .host = 2, .peer = 2); /* does not hear bsprun */
    EVENT(ROLL);
    EVENT(TIMER, .now_ms = 51);
    expect("bll");
    ck_assert(!job_machine_goes_on(machine, 9) && !job_machine_goes_on(machine, 2));
}
END_TEST

START_TEST(it_does_not_hear_bsprun)
{
    start_running();
    EVENT(LINK_LOST, .term = 1, .host = 4, .peer = 4);
    expect("c");
    EVENT(ROLL);
    expect("bdO");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {its_host_is_lost,
                                  one_after_the_other,
                                  a_spare_comes,
                                  a_spare_does_not_come,
                                  while_they_are_made,
                                  before_they_are_made,
                                  without_replicas,
                                  without_the_replicas_that_are_wanted,
                                  requests_are_repeated,
                                  the_next_term_owes_the_snapshot,
                                  asked_for_between_terms,
                                  a_snapshot_that_was_taken_before,
                                  a_stop_is_repeated,
                                  after_the_agreement_on_the_end,
                                  after_the_agreement_to_stop,
                                  all_are_lost_after_the_end,
                                  it_has_ended_the_term,
                                  it_is_cut_off,
                                  one_is_too_far_behind,
                                  another_is_cut_off,
                                  two_are_cut_off,
                                  it_does_not_hear_bsprun};

    return suite_run_tests("job_zero", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
