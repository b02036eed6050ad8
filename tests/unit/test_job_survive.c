/* test_job_survive.c - the job machine of bsprun: hosts are lost whose processes can be restarted
 * alone on others, in the same term. */
#include <check.h>

#include "tests/unit/job_play.h"
#include "tests/unit/suite.h"

static struct coord_outcome loss(void)
{
    return (struct coord_outcome){
        .status = 1, .cause = WIRE_CAUSE_HOST_LOST, .pid = COORD_NOBODY, .text = ""};
}

/* Host 4 is that of Processor Zero; the processes of the others can be restarted elsewhere. */
static void start_running(void)
{
    start_three(CONFIG(.own = JOB_NO_HOST, .retry_ms = 1000));
    EVENT(RUNNING, .term = 1);
    EVENT(BEARABLE, .term = 1, .host = 2, .bears = true);
    EVENT(BEARABLE, .term = 1, .host = 9, .bears = true);
    expect("");
}

START_TEST(the_term_goes_on)
{
    start_running();
    EVENT(AGENT_LOST, .host = 2, .usable = true, .unheard = true);
    ck_assert_int_eq(effects.items[0].kind, JOB_EFFECT_LOST_TO_ZERO);
    ck_assert_uint_eq(effects.items[0].host, 2);
    EVENT(SURVIVED, .term = 1, .host = 2);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_RUNNING);
    ck_assert(!job_machine_member(machine, 2));
    EVENT(AGENT_LOST, .host = 9);
    ck_assert_int_eq(effects.items[0].kind, JOB_EFFECT_LOST_TO_ZERO);
    EVENT(SURVIVED, .term = 1, .host = 9);
    EVENT(CLOSING, .term = 1);
    expect("C");
    EVENT(ENDED, .term = 1, .outcome = {.status = 0});
    expect("F");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 0);
}
END_TEST

/* A lost host is tried again, as always, and processes come to it in the next term. */
START_TEST(it_comes_back)
{
    start_running();
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("lw");
    EVENT(SURVIVED, .term = 1, .host = 2);
    EVENT(TIMER, .now_ms = 1000);
    expect("A");
    EVENT(AGENT_UP, .host = 2, .now_ms = 1001);
    expect("S");
    ck_assert(effects.items[0].move);
    EVENT(TERM_OVER, .term = 1, .outcome = {.cause = WIRE_CAUSE_MOVED});
    expect("E");
    ck_assert(job_machine_member(machine, 2));
}
END_TEST

/* Whoever has reserved hosts for that does not wait. */
START_TEST(a_spare_comes)
{
    start(CONFIG(.host_count = 3, .spares = 1, .own = JOB_NO_HOST));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(REGISTERED, .host = 4);
    EVENT(RUNNING, .term = 1);
    EVENT(BEARABLE, .term = 1, .host = 2, .bears = true);
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("l");
    EVENT(SURVIVED, .term = 1, .host = 2);
    expect("A");
    ck_assert_uint_eq(effects.items[0].host, 9);
    EVENT(SURVIVED, .term = 1, .host = 2); /* of another host that has got processes */
    expect("");
    EVENT(AGENT_UP, .host = 9);
    expect("S");
    ck_assert(effects.items[0].move);
}
END_TEST

/* Processor Zero says that the term is over: that is answer enough, and the host is replaced. */
START_TEST(the_term_is_over)
{
    start_running();
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    EVENT(TERM_OVER, .term = 1, .outcome = loss());
    expect("A!");
    ck_assert_uint_eq(effects.items[0].host, 2);
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 1);
    EVENT(AGENT_UP, .host = 2);
    expect("E");
    EVENT(AGENT_LOST, .host = 2, .usable = true); /* nothing is known of the new term */
    expect("A!");
}
END_TEST

/* It is not asked about what it would be asked in vain. */
START_TEST(not_asked)
{
    start_running();
    EVENT(AGENT_LOST, .host = 4, .usable = true); /* Processor Zero's own */
    expect("A!");
    tear_down();

    start_running();
    EVENT(BEARABLE, .term = 1, .host = 2, .bears = false);
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("A!");
    tear_down();

    start_running();
    EVENT(BEARABLE, .term = 2, .host = 2, .bears = false);
    ck_assert(effects.dropped); /* of another term */
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    EVENT(TERM_OVER, .term = 1, .outcome = death(5)); /* something else happened first */
    expect("A!");
    tear_down();

    start_running(); /* without an answer, as that is lost, too */
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("AA!");
}
END_TEST

/* ---- Processor Zero's own host --------------------------------------------------------------- */

static void lose_zero(void)
{
    start_running();
    EVENT(BEARABLE, .term = 1, .host = 4, .bears = true);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
}

START_TEST(another_processor_zero)
{
    lose_zero();
    ck_assert_int_eq(effects.items[0].kind, JOB_EFFECT_TAKE_OVER);
    ck_assert_uint_eq(effects.items[0].peer, 4);
    ck_assert_uint_eq(job_machine_zero(machine), 2);
    ck_assert(!job_machine_goes_on(machine, 4));
    ck_assert(job_machine_goes_on(machine, 9));
    EVENT(SURVIVED, .term = 1, .host = 4);
    ck_assert_int_eq(job_machine_state(machine), JOB_MACHINE_RUNNING);
    EVENT(BEARABLE, .term = 1, .host = 2, .bears = true);
    EVENT(AGENT_LOST, .host = 2); /* that one, too */
    ck_assert_int_eq(effects.items[0].kind, JOB_EFFECT_TAKE_OVER);
    ck_assert_uint_eq(job_machine_zero(machine), 9);
    EVENT(SURVIVED, .term = 1, .host = 2);
    EVENT(CLOSING, .term = 1);
    expect("C");
    EVENT(ENDED, .term = 1, .outcome = {.status = 0});
    expect("F");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 0);
}
END_TEST

/* What the former one was asked for is asked again. */
START_TEST(a_snapshot_is_asked_for_again)
{
    start_running();
    EVENT(BEARABLE, .term = 1, .host = 4, .bears = true);
    EVENT(SAVE);
    expect("S");
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    ck_assert_int_eq(effects.items[0].kind, JOB_EFFECT_TAKE_OVER);
    ck_assert_int_eq(effects.items[1].kind, JOB_EFFECT_SAVE);
}
END_TEST

START_TEST(the_new_one_ends_the_term)
{
    lose_zero();
    EVENT(TERM_OVER, .term = 1, .outcome = loss());
    expect("A!");
    ck_assert_uint_eq(effects.items[0].host, 4);
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 1);
    EVENT(AGENT_UP, .host = 4);
    expect("E");
    tear_down();

    lose_zero(); /* the new one is lost, too, before it could say anything */
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("AA!");
    tear_down();

    lose_zero(); /* another one is, and nobody has said that it could be */
    EVENT(AGENT_LOST, .host = 9, .usable = true);
    expect("AA!");
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 9);
    expect("E");
}
END_TEST

/* It would not know enough. */
START_TEST(no_other_one)
{
    start_running();
    EVENT(BEARABLE, .term = 1, .host = 4, .bears = true);
    EVENT(AGENT_LOST, .host = 2, .usable = true); /* another loss is being handled */
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("AA!");
    tear_down();

    start_running();
    EVENT(BEARABLE, .term = 1, .host = 4, .bears = true);
    EVENT(CLOSING, .term = 1); /* processes may have left */
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    ck_assert_int_ne(effects.items[0].kind, JOB_EFFECT_TAKE_OVER);
    ck_assert_int_ne(job_machine_state(machine), JOB_MACHINE_RUNNING);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_term_goes_on,
                                  it_comes_back,
                                  a_spare_comes,
                                  the_term_is_over,

                                  not_asked,
                                  another_processor_zero,
                                  a_snapshot_is_asked_for_again,
                                  the_new_one_ends_the_term,
                                  no_other_one};

    return suite_run_tests("job_survive", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
