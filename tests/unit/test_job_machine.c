/* test_job_machine.c - bsprun's job machine: terms, elections, replacements, restarts. */
#include <check.h>

#include "tests/unit/job_play.h"
#include "tests/unit/suite.h"

/* One host, term 1. */
static void start_running(struct job_machine_config config)
{
    config.host_count = 1;
    start(config);
    EVENT(AGENT_UP, .host = 4);
    expect("");
    EVENT(REGISTERED, .host = 4);
    expect("E");
    ck_assert_uint_eq(job_machine_term(machine), 1);
}

START_TEST(from_begin_to_end)
{
    start_running(CONFIG());
    ck_assert(!job_machine_restores(machine));
    EVENT(COMMITTED, .term = 1, .name = {0, 1});
    EVENT(CLOSING, .term = 1);
    expect("C");
    EVENT(ENDED, .term = 1, .outcome = {.status = 7});
    expect("F");
    ck_assert_int_eq(effects.items[0].status, 7);
    EVENT(FINISH_RECORDED);
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 7);
    EVENT(STOP, .signal = 2);
    ck_assert(effects.dropped);
}
END_TEST

START_TEST(the_first_to_come_is_elected)
{
    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_UP, .host = 4);
    expect(""); /* process 0 has not registered */
    EVENT(STOP, .signal = 2);
    expect("s");
    ck_assert_uint_eq(effects.items[0].host, 4); /* where the program runs alone */
    EVENT(REGISTERED, .host = 4);
    expect("E");
    ck_assert_uint_eq(effects.items[0].host, 2);
    ck_assert_uint_eq(job_machine_zero(machine), 2);
    ck_assert_uint_eq(job_machine_program(machine), 4);
    ck_assert(job_machine_member(machine, 4) && !job_machine_member(machine, 9));
}
END_TEST

START_TEST(the_next_is_elected_from_the_living)
{
    start(CONFIG(.host_count = 3));
    EVENT(AGENT_UP, .host = 9);
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_UP, .host = 4);
    EVENT(REGISTERED, .host = 4);
    ck_assert_uint_eq(effects.items[0].host, 9);
    EVENT(AGENT_LOST, .host = 4);
    expect("!E");
    ck_assert_uint_eq(effects.items[1].host, 9); /* it lives, and stays */
    EVENT(AGENT_LOST, .host = 9);
    expect("!E");
    ck_assert_uint_eq(effects.items[1].host, 2);
    tear_down();

    start(CONFIG(.host_count = 2, .restore = true, .last_term = 6));
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_UP, .host = 4);
    expect("E");
    ck_assert_uint_eq(effects.items[0].host, 2);
}
END_TEST

START_TEST(a_fault_opens_the_next_term)
{
    start_running(CONFIG());
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    expect("!E");
    ck_assert_uint_eq(job_machine_term(machine), 2);
    ck_assert(job_machine_restores(machine));
    EVENT(CHOSEN, .term = 1, .name = {3, 1}); /* of the old term */
    ck_assert(effects.dropped);
    EVENT(CHOSEN, .term = 2, .name = {3, 1});
    expect("R");
    EVENT(RECORDED, .term = 2, .name = {3, 1});
    expect("T");
    ck_assert(
        !coord_lineage_allows(job_machine_lineage(machine), (struct bspz_snapshot_name){4, 1}));
    EVENT(RECORDED, .term = 2, .name = {3, 1}, .error = 28);
    expect("X");
}
END_TEST

/* Three hosts in term 1. */
static void start_three(struct job_machine_config config)
{
    config.host_count = 3;
    start(config);
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_UP, .host = 9);
    EVENT(REGISTERED, .host = 4);
    expect("E");
}

START_TEST(hosts_are_drained)
{
    static const struct coord_outcome moved = {
        .status = 1, .cause = WIRE_CAUSE_MOVED, .pid = COORD_NOBODY, .text = ""};

    struct job_machine_config config = CONFIG();
    config.max_restarts = 0;
    start_three(config);
    EVENT(USE, .host = 2, .use = JOB_USE_DRAINED);
    expect("S");
    ck_assert(effects.items[0].move && !effects.items[0].stop);
    ck_assert(job_machine_drained(machine, 2) && !job_machine_drained(machine, 4));
    /* The next term is no restart, and nothing is said of a fault. */
    EVENT(COMMITTED, .term = 1, .name = {5, 1});
    EVENT(TERM_OVER, .term = 1, .outcome = moved);
    expect("E");
    ck_assert(!effects.items[0].anew && job_machine_restores(machine));
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 0);
    /* Back again. */
    EVENT(USE, .host = 2, .use = JOB_USE_OPEN);
    expect("S");
    EVENT(TERM_OVER, .term = 2, .outcome = moved);
    expect("E");
    ck_assert(effects.items[0].anew);
    EVENT(COMMITTED, .term = 3, .name = {6, 3});
    EVENT(PLACE);
    expect("S");
    EVENT(TERM_OVER, .term = 3, .outcome = moved);
    ck_assert(effects.items[0].anew);
    EVENT(USE, .host = 4, .use = JOB_USE_DRAINED);
    EVENT(COMMITTED, .term = 4, .name = {7, 4});
    EVENT(TERM_OVER, .term = 4, .outcome = moved);
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

static const struct coord_outcome was_moved = {
    .status = 1, .cause = WIRE_CAUSE_MOVED, .pid = COORD_NOBODY, .text = ""};

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
    static const struct coord_outcome moved = {
        .status = 1, .cause = WIRE_CAUSE_MOVED, .pid = COORD_NOBODY, .text = ""};

    start_three(CONFIG());
    EVENT(PLACE);
    EVENT(COMMITTED, .term = 1, .name = {5, 1});
    EVENT(TERM_OVER, .term = 1, .outcome = moved);
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

START_TEST(faults_are_counted_between_commits)
{
    start_running(CONFIG());
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    EVENT(TERM_OVER, .term = 2, .outcome = death(5));
    EVENT(COMMITTED, .term = 3, .name = {4, 3});
    EVENT(TERM_OVER, .term = 3, .outcome = death(5));
    EVENT(TERM_OVER, .term = 4, .outcome = death(5));
    expect("!E");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 2);
    ck_assert_uint_eq(job_machine_fault(machine).repeats, 4);
    EVENT(TERM_OVER, .term = 5, .outcome = death(5));
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 139);
    ck_assert_uint_eq(job_machine_outcome(machine).signal, 11);
    ck_assert(job_machine_outcome(machine).again);
}
END_TEST

START_TEST(agents_are_replaced)
{
    start_running(CONFIG());
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("A!");
    EVENT(AGENT_UP, .host = 4);
    expect("E");
    EVENT(AGENT_LOST, .host = 4);
    expect("X"); /* nobody is left */
    tear_down();

    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 2);
    EVENT(REGISTERED, .host = 2);
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 2, .unheard = true, .now_ms = 50);
    expect("A!");
    ck_assert_uint_eq(effects.items[0].host, 9);
    EVENT(AGENT_UP, .host = 9, .now_ms = 60);
    expect("w"); /* the lost one may still compute */
    ck_assert_uint_eq(effects.items[0].milliseconds, 90);
    EVENT(TIMER, .now_ms = 150);
    expect("E");
    ck_assert_uint_eq(effects.items[0].host, 4);
}
END_TEST

START_TEST(what_is_not_recovered)
{
    start_running(CONFIG());
    EVENT(CLOSING, .term = 1);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("X");
    tear_down();

    start_running(CONFIG());
    EVENT(STOP, .signal = 2, .how = WIRE_STOP_SIGNAL);
    expect("s");
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 130);
    tear_down();

    start_running(CONFIG());
    EVENT(COMMITTED, .term = 1, .name = {0, 1});
    EVENT(SAVE, .stop = true, .signal = 15, .grace_ms = 9);
    expect("S");
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    expect("X");
    ck_assert_int_eq(effects.items[0].status, JOB_STATUS_SAVED);
    tear_down();

    struct job_machine_config plain = CONFIG();
    plain.snapshots = false;
    start_running(plain);
    EVENT(ENDED, .term = 1, .outcome = death(5));
    expect("X");
    ck_assert(!job_machine_outcome(machine).again);
}
END_TEST

START_TEST(before_the_first_term)
{
    start(CONFIG(.host_count = 1));
    EVENT(STOP, .signal = 2);
    expect("X"); /* there is not even an agent */
    ck_assert_int_eq(effects.items[0].status, 130);
    tear_down();

    start(CONFIG(.host_count = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(SAVE);
    expect("");
    EVENT(SAVE, .stop = true, .signal = 15);
    expect("s"); /* its agent ends the program, which may take it a while */
    EVENT(STOP, .signal = 2, .how = WIRE_STOP_KILL);
    expect("s");
    ck_assert_int_eq(effects.items[0].how, WIRE_STOP_KILL);
    EVENT(ENDED, .term = 0, .outcome = {.status = 143, .cause = WIRE_CAUSE_STOPPED});
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 143);
    tear_down();

    start(CONFIG(.host_count = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(ENDED, .term = 0, .outcome = {.status = 5});
    expect("X"); /* a program that gave up, which is nothing to record */
    tear_down();

    start_running(CONFIG());
    EVENT(ENDED, .term = 0, .outcome = death(0)); /* its agent had not heard of the election */
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 139);
    tear_down();

    start(CONFIG(.host_count = 1, .restore = true, .last_term = 6));
    EVENT(AGENT_UP, .host = 4);
    EVENT(ENDED, .term = 6, .outcome = {.status = 5});
    ck_assert(effects.dropped);
}
END_TEST

START_TEST(hosts_that_cannot_be_started)
{
    start(CONFIG(.host_count = 2));
    ck_assert_uint_eq(job_machine_zero(machine), 4);
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 2);
    expect("X"); /* fewer hosts are not what was asked for */
    tear_down();

    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_LOST, .host = 4);
    expect("A");
    ck_assert_uint_eq(effects.items[0].host, 9);
    ck_assert_uint_eq(job_machine_zero(machine), 9); /* it begins the program instead */
    EVENT(AGENT_UP, .host = 9);
    EVENT(REGISTERED, .host = 9);
    expect("E");
    EVENT(AGENT_LOST, .host = 9, .usable = true);
    expect("A!"); /* from now on a job goes on with what there is */
    EVENT(AGENT_LOST, .host = 9);
    expect("E");
    ck_assert_uint_eq(effects.items[0].host, 2);
    tear_down();

    start(CONFIG(.host_count = 2, .spares = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(REGISTERED, .host = 4);
    expect("E");
    EVENT(AGENT_LOST, .host = 4);
    expect("A!");
    for (int again = 2; again <= 3; again++) {
        EVENT(AGENT_LOST, .host = 2, .usable = true);
        expect("A"); /* a spare is tried three times, as every host */
    }
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("X");
    tear_down();

    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 4);
    expect("X"); /* the program may have done anything there */
    tear_down();

    start(CONFIG(.host_count = 2, .restore = true, .last_term = 6));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 4, .usable = true);
    expect("A");
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_LOST, .host = 2);
    expect("E"); /* an old one goes on with what there is */
}
END_TEST

START_TEST(restarted)
{
    start(CONFIG(.host_count = 1, .restore = true, .wanted = 12, .last_term = 6));
    EVENT(AGENT_UP, .host = 4);
    expect("E");
    ck_assert_uint_eq(job_machine_term(machine), 7);
    ck_assert_uint_eq(job_machine_wanted(machine), 12);
    EVENT(TERM_OVER, .term = 7, .outcome = death(12));
    ck_assert_uint_eq(job_machine_wanted(machine), 12);
    EVENT(RECORDED, .term = 8, .name = {12, 3});
    ck_assert_uint_eq(job_machine_wanted(machine), COORD_NEVER);
    struct coord_outcome bad = death(12);
    bad.bad = (struct bspz_snapshot_name){12, 3};
    EVENT(TERM_OVER, .term = 8, .outcome = bad);
    const struct bspz_snapshot_name *avoid;
    ck_assert_uint_eq(job_machine_avoid(machine, &avoid), 1);
    ck_assert_uint_eq(avoid[0].superstep, 12);
    tear_down();

    start(CONFIG(.host_count = 1, .restore = true, .finished = true, .finished_status = 3));
    expect("X");
    ck_assert_int_eq(effects.items[0].status, 3);
}
END_TEST

START_TEST(a_host_that_does_not_come_costs_no_restart)
{
    start(CONFIG(.host_count = 3, .restore = true, .last_term = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_LOST, .host = 9); /* nothing has run there that would have to be put back */
    expect("E");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 0);
    EVENT(TERM_OVER, .term = 2, .outcome = death(5));
    expect("!E");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 1);
    EVENT(TERM_OVER, .term = 3, .outcome = death(6));
    expect("!E");
    ck_assert_uint_eq(job_machine_fault(machine).restarts, 2); /* of 2 */
    EVENT(TERM_OVER, .term = 4, .outcome = death(7));
    expect("X");
    tear_down();

    /* It is what the job ends of where there is nothing else to go on with. */
    start(CONFIG(.host_count = 1, .restore = true, .last_term = 1));
    EVENT(AGENT_LOST, .host = 4);
    expect("X");
    ck_assert_int_eq(job_machine_outcome(machine).cause, WIRE_CAUSE_HOST_LOST);
}
END_TEST

START_TEST(lost_while_bsp_end_is_agreed_upon)
{
    /* Processor Zero decides what comes of it: when that is a rollback, the host is replaced. */
    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(REGISTERED, .host = 4);
    EVENT(COMMITTED, .term = 1, .name = {0, 1});
    EVENT(CLOSING, .term = 1);
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    expect("");
    EVENT(TERM_OVER, .term = 1, .outcome = {.cause = WIRE_CAUSE_HOST_LOST});
    expect("c");
    EVENT(ROLL);
    expect("bA!");
    ck_assert_uint_eq(effects.items[1].host, 2);
    EVENT(AGENT_UP, .host = 2);
    expect("E");

    EVENT(CLOSING, .term = 2);
    EVENT(AGENT_LOST, .host = 2);
    expect("");
    EVENT(TERM_OVER, .term = 2, .outcome = death(5));
    expect("A!");
    ck_assert_uint_eq(effects.items[0].host, 9); /* the spare */
    tear_down();

    /* Many are: not all of them in one step. */
    struct wire_host many[20];
    for (uint32_t i = 0; i < 20; i++)
        many[i] = (struct wire_host){.host = i};
    struct job_machine_config wide = CONFIG(.host_count = 20);
    wide.hosts = many;
    start(wide);
    for (uint32_t i = 0; i < 20; i++)
        EVENT(AGENT_UP, .host = i);
    EVENT(REGISTERED, .host = 0);
    EVENT(CLOSING, .term = 1);
    for (uint32_t i = 1; i < 20; i++)
        EVENT(AGENT_LOST, .host = i, .usable = true);
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    expect("AAAAAAAA!");
    EVENT(AGENT_UP, .host = 1);
    expect("AAAAAAAA");
    EVENT(AGENT_UP, .host = 2);
    expect("AAA");
    for (uint32_t i = 3; i < 20; i++)
        EVENT(AGENT_UP, .host = i);
    expect("E");
    ck_assert(job_machine_member(machine, 19));
    tear_down();

    /* When it is the end, it is not. */
    start(CONFIG(.host_count = 3, .spares = 1));
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(REGISTERED, .host = 4);
    EVENT(CLOSING, .term = 1);
    EVENT(AGENT_LOST, .host = 2, .usable = true);
    EVENT(ENDED, .term = 1, .outcome = {.status = 0});
    expect("F");
}
END_TEST

static void expect_reason(const char *text)
{
    char reason[JOB_REASON_MAX];
    expect("X");
    ck_assert_int_ne(effects.items[0].status, 0);
    ck_assert_str_eq(job_machine_reason(machine, reason), text);
    tear_down();
}

START_TEST(every_end_has_a_reason)
{
    start_running(CONFIG());
    EVENT(ENDED, .term = 1, .outcome = {.status = 7, .pid = COORD_NOBODY});
    EVENT(FINISH_RECORDED);
    expect_reason("process 0 ended with status 7");

    struct job_machine_config once = CONFIG();
    once.max_restarts = 0;
    start_running(once);
    EVENT(TERM_OVER, .term = 1, .outcome = death(5));
    expect_reason("process 1 was killed by signal 11; no restart is left (of 0)");

    start_running(CONFIG());
    EVENT(AGENT_LOST, .host = 4);
    expect_reason("a host was lost");

    start(CONFIG(.host_count = 1, .restore = true, .last_term = 6));
    EVENT(AGENT_UP, .host = 4);
    EVENT(ENDED, .term = 7,
          .outcome = {.status = 1, .cause = WIRE_CAUSE_NOTHING_SAVED, .pid = COORD_NOBODY});
    expect_reason("there is no snapshot to go on from");

    start(CONFIG(.host_count = 1));
    EVENT(STOP, .signal = 2);
    expect_reason("the job was stopped by signal 2");

    start_running(CONFIG());
    EVENT(ENDED, .term = 1, .outcome = {.status = 1, .cause = WIRE_CAUSE_REFUSED, .pid = 3});
    expect_reason("process 3: a process cannot be captured");

    for (enum wire_cause cause = WIRE_CAUSE_NONE; cause < WIRE_CAUSE_COUNT; cause++) {
        char reason[JOB_REASON_MAX];
        start(CONFIG(.host_count = 1));
        EVENT(AGENT_UP, .host = 4);
        EVENT(ENDED, .term = 0, .outcome = {.status = 1, .cause = cause, .pid = COORD_NOBODY});
        expect("X");
        ck_assert_str_ne(job_machine_reason(machine, reason), "");
        tear_down();
    }
}
END_TEST

START_TEST(senseless)
{
    struct job_machine_config config = CONFIG();
    ck_assert_ptr_null(job_machine_new(&config, &effects));
    config.host_count = config.spares = 1;
    ck_assert_ptr_null(job_machine_new(&config, &effects));
    config.spares = 0;
    config.snapshots = false;
    config.restore = true;
    ck_assert_ptr_null(job_machine_new(&config, &effects));
    ck_assert_str_eq(job_machine_state_name(JOB_MACHINE_GATHERING), "GATHERING");
    job_machine_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("job machine");
    TCase *tests = tcase_create("jobs");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, from_begin_to_end);
    tcase_add_test(tests, the_first_to_come_is_elected);
    tcase_add_test(tests, the_next_is_elected_from_the_living);
    tcase_add_test(tests, a_fault_opens_the_next_term);
    tcase_add_test(tests, hosts_are_drained);
    tcase_add_test(tests, places_outlast_a_fault);
    tcase_add_test(tests, hosts_are_removed);
    tcase_add_test(tests, hosts_join);
    tcase_add_test(tests, hosts_do_not_join);
    tcase_add_test(tests, hosts_are_admitted);
    tcase_add_test(tests, an_agent_that_ends_while_it_waits);
    tcase_add_test(tests, a_fence_for_hosts_that_leave);
    tcase_add_test(tests, the_last_host_is_not_removed);
    tcase_add_test(tests, lost_hosts_are_tried_again);
    tcase_add_test(tests, faults_are_counted_between_commits);
    tcase_add_test(tests, agents_are_replaced);
    tcase_add_test(tests, what_is_not_recovered);
    tcase_add_test(tests, before_the_first_term);
    tcase_add_test(tests, hosts_that_cannot_be_started);
    tcase_add_test(tests, restarted);
    tcase_add_test(tests, a_host_that_does_not_come_costs_no_restart);
    tcase_add_test(tests, lost_while_bsp_end_is_agreed_upon);
    tcase_add_test(tests, every_end_has_a_reason);
    tcase_add_test(tests, senseless);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
