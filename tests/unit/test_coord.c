/* test_coord.c - Processor Zero: golden traces of jobs, and how they end. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

/* ---- Golden traces ------------------------------------------------------------------------ */

START_TEST(a_job_on_one_host)
{
    start(1, CONFIG());
    host_ready(0, 2);
    registered(0, 2);
    ranks_ready(0, 2);
    arrived(0, 1000, WIRE_BARRIER_END);
    exited(0, 1, 0);
    exited(0, 0, 7);
    exited(0, 0, 7);
    expect_trace("event HOST_READY term 3 host 0 slots 2\n"
                 "event REGISTERED term 3 host 0 wanted 2\n"
                 "  WAITING -> PLACING\n"
                 "  effect PLACE term 3 processes 2\n"
                 "event RANKS_READY term 3 host 0 count 2\n"
                 "  PLACING -> RUNNING\n"
                 "  effect RUN term 3 processes 2 consult never\n"
                 "event ARRIVED term 3 host 0 superstep 1000 bsp_end\n"
                 "  RUNNING -> ENDING\n"
                 "  effect RELEASE term 3 superstep 1000 decision end consult never\n"
                 "event RANK_EXITED term 3 host 0 pid 1 status 0\n"
                 "event RANK_EXITED term 3 host 0 pid 0 status 7\n"
                 "  ENDING -> ENDED\n"
                 "  effect END term 3\n"
                 "  effect FINISH term 3\n"
                 "event RANK_EXITED term 3 host 0 pid 0 status 7\n"
                 "  dropped\n");
    expect_outcome(7, WIRE_CAUSE_NONE, COORD_NOBODY);
    ck_assert_uint_eq(coord_outcome(coord).superstep, 1000);
}
END_TEST

START_TEST(abort_at_superstep_3)
{
    struct coord_config config = {.abort_at = 3, .stop_grace_ms = 500};
    start_running(2, config);
    arrived(0, 3, WIRE_BARRIER_SYNC);
    killed(0, 1, 9);
    stopped(0);
    expect_trace("event ARRIVED term 3 host 0 superstep 3 bsp_sync\n"
                 "  RUNNING -> ABORTING\n"
                 "  effect RELEASE term 3 superstep 3 decision abort consult never\n"
                 "  effect STOP_RANKS term 3\n"
                 "  effect SET_TIMER term 3 500 ms\n"
                 "event RANK_EXITED term 3 host 0 pid 1 signal 9\n"
                 "  dropped\n"
                 "event RANKS_STOPPED term 3 host 0\n"
                 "  ABORTING -> ABORTED\n"
                 "  effect END term 3\n"
                 "  effect CANCEL_TIMER term 3\n"
                 "  effect FINISH term 3\n");
    expect_outcome(1, WIRE_CAUSE_DECIDED, COORD_NOBODY);
    ck_assert_str_eq(coord_outcome(coord).text, "told to abort at the end of superstep 3");
}
END_TEST

START_TEST(barriers_of_two_hosts)
{
    start(2, CONFIG(.consult_every = 1));
    host_ready(7, 1);
    registered(7, 0);
    host_ready(0, 1);
    ranks_ready(7, 2);
    ranks_ready(0, 2);
    SAY(ARRIVE, .arrive.host = 0);
    SAY(ARRIVE, .arrive.host = 7);
    arrived(7, 1, WIRE_BARRIER_END);
    arrived(0, 1, WIRE_BARRIER_END);
    expect_trace("event HOST_READY term 3 host 7 slots 1\n"
                 "event REGISTERED term 3 host 7 wanted 0\n"
                 "event HOST_READY term 3 host 0 slots 1\n"
                 "  WAITING -> PLACING\n"
                 "  effect PLACE term 3 processes 4\n"
                 "event RANKS_READY term 3 host 7 count 2\n"
                 "event RANKS_READY term 3 host 0 count 2\n"
                 "  PLACING -> RUNNING\n"
                 "  effect RUN term 3 processes 4 consult 0\n"
                 "event ARRIVED term 3 host 0 superstep 0 bsp_sync\n"
                 "event ARRIVED term 3 host 7 superstep 0 bsp_sync\n"
                 "  effect RELEASE term 3 superstep 0 decision go consult 1\n"
                 "event ARRIVED term 3 host 7 superstep 1 bsp_end\n"
                 "event ARRIVED term 3 host 0 superstep 1 bsp_end\n"
                 "  RUNNING -> ENDING\n"
                 "  effect RELEASE term 3 superstep 1 decision end consult never\n");
    /* Process 0 is where the registration came from. */
    ck_assert_uint_eq(host_of(0), 7);
    ck_assert_uint_eq(host_of(3), 0);
}
END_TEST

START_TEST(two_hosts_pass_barriers_by_themselves)
{
    start(2, CONFIG(.snapshots = true, .rule = {.kind = POLICY_OFF}));
    SAY(HOST_READY, .host_ready = {.host = 7, .slots = 2, .shared = true});
    SAY(HOST_READY, .host_ready = {.host = 0, .slots = 2, .shared = true});
    registered(7, 0);
    durable(7, 0, 0);
    persisted(7, 0, 0);
    known(7, 0);
    known(0, 0);
    ranks_ready(7, 2);
    ranks_ready(0, 2);
    ck_assert_uint_eq(said()->run.consult, COORD_NEVER);
    ck_assert_int_lt(arrived(0, 0, WIRE_BARRIER_SYNC), 0);
    SAY(SAVE, .save.stop = false); /* whichever comes next: the same everywhere */
    ck_assert_int_eq(arrived(0, 41, WIRE_BARRIER_SYNC), 0);
    ck_assert_int_lt(arrived(7, 40, WIRE_BARRIER_SYNC), 0);
    ck_assert_int_eq(arrived(7, 41, WIRE_BARRIER_SYNC), 0);
    ck_assert(has_message(WIRE_RELEASE));
}
END_TEST

START_TEST(sync_here_and_end_there)
{
    start(2, CONFIG(.consult_every = 1));
    host_ready(0, 0);
    host_ready(7, 0);
    registered(0, 4);
    ranks_ready(0, 2);
    ranks_ready(7, 2);
    arrived(0, 0, WIRE_BARRIER_SYNC);
    trace_used = 0;
    arrived(7, 0, WIRE_BARRIER_END);
    expect_trace("event ARRIVED term 3 host 7 superstep 0 bsp_end\n"
                 "  RUNNING -> ABORTING\n"
                 "  effect RELEASE term 3 superstep 0 decision abort consult never\n"
                 "  effect STOP_RANKS term 3\n"
                 "  effect SET_TIMER term 3 10000 ms\n");
    expect_outcome(1, WIRE_CAUSE_MISMATCH, COORD_NOBODY);
}
END_TEST

START_TEST(a_lost_host_ends_the_job)
{
    start(3, CONFIG());
    host_ready(0, 0);
    host_ready(7, 0);
    host_ready(3, 0);
    registered(0, 8);
    ranks_ready(0, 2);
    ranks_ready(7, 2);
    ranks_ready(3, 4);
    trace_used = 0;
    lost(7);
    ck_assert(!coord_host_alive(coord, 7));
    ck_assert(coord_host_alive(coord, 3));
    stopped(0);
    stopped(7);
    lost(3);
    expect_trace("event HOST_LOST term 3 host 7\n"
                 "  RUNNING -> ABORTING\n"
                 "  effect STOP_RANKS term 3\n"
                 "  effect SET_TIMER term 3 10000 ms\n"
                 "event RANKS_STOPPED term 3 host 0\n"
                 "event RANKS_STOPPED term 3 host 7\n"
                 "  dropped\n"
                 "event HOST_LOST term 3 host 3\n"
                 "  ABORTING -> ABORTED\n"
                 "  effect END term 3\n"
                 "  effect CANCEL_TIMER term 3\n"
                 "  effect FINISH term 3\n");
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, COORD_NOBODY);
    ck_assert_str_eq(coord_outcome(coord).text, "host b was lost");
}
END_TEST

/* ---- How jobs end ------------------------------------------------------------------------- */

START_TEST(early_ends_of_processes)
{
    start_running(4, CONFIG());
    killed(0, 2, 11);
    ck_assert(has_message(WIRE_STOP_RANKS));
    expect_outcome(139, WIRE_CAUSE_RANK_SIGNALLED, 2);
    ck_assert_uint_eq(coord_outcome(coord).signal, 11);
    exited(0, 1, 1); /* the first one is blamed */
    expect_outcome(139, WIRE_CAUSE_RANK_SIGNALLED, 2);
    tear_down();

    start_running(4, CONFIG());
    exited(0, 3, 5);
    expect_outcome(5, WIRE_CAUSE_RANK_EXITED, 3);
    tear_down();

    start_running(4, CONFIG());
    exited(0, 0, 0); /* leaving early is never a success */
    expect_outcome(1, WIRE_CAUSE_RANK_EXITED, 0);
}
END_TEST

START_TEST(requests_to_end)
{
    start_running(2, CONFIG());
    abort_job(0, 1, WIRE_CAUSE_ABORT_CALLED, 1);
    expect_outcome(1, WIRE_CAUSE_ABORT_CALLED, 1);
    ck_assert_str_eq(coord_outcome(coord).text, "a text");
    abort_job(0, 0, WIRE_CAUSE_RANK_ERROR, 9);
    ck_assert(effects.dropped);
    tear_down();

    start_running(2, CONFIG());
    abort_job(0, COORD_NOBODY, WIRE_CAUSE_RANKS_STUCK, 256);
    expect_outcome(1, WIRE_CAUSE_RANKS_STUCK, COORD_NOBODY);
    tear_down();

    start_running(2, CONFIG());
    stop(WIRE_STOP_SIGNAL, 2);
    expect_outcome(130, WIRE_CAUSE_STOPPED, COORD_NOBODY);
    ck_assert_uint_eq(coord_outcome(coord).signal, 2);
    stop(WIRE_STOP_KILL, 2);
    ck_assert(effects.dropped);
    tear_down();

    start_running(2, CONFIG());
    stop(WIRE_STOP_TIMEOUT, 0);
    expect_outcome(124, WIRE_CAUSE_TIMEOUT, COORD_NOBODY);
    tear_down();

    start_running(2, CONFIG());
    stop(WIRE_STOP_KILL, 0);
    expect_outcome(137, WIRE_CAUSE_STOPPED, COORD_NOBODY);
}
END_TEST

/* Whatever state it is in, a request to stop leads to FINISH. */
START_TEST(stop_works_in_every_state)
{
    for (int steps = 0; steps < 5; steps++) {
        start(1, CONFIG());
        if (steps > 0)
            host_ready(0, 1);
        if (steps > 1)
            registered(0, 2);
        if (steps > 2)
            ranks_ready(0, 2);
        if (steps > 3)
            arrived(0, 0, WIRE_BARRIER_END);
        stop(WIRE_STOP_SIGNAL, 15);
        if (steps > 0) {
            ck_assert_int_eq(coord_phase(coord), COORD_ABORTING);
            stopped(0);
        }
        ck_assert_int_eq(coord_phase(coord), COORD_ABORTED);
        ck_assert(has_effect(COORD_EFFECT_FINISH));
        expect_outcome(143, WIRE_CAUSE_STOPPED, COORD_NOBODY);
        tear_down();
    }
}
END_TEST

START_TEST(a_host_that_is_ready_too_late_hears_of_the_end)
{
    start(2, CONFIG());
    host_ready(0, 1);
    stop(WIRE_STOP_SIGNAL, 15);
    stopped(0);
    trace_used = 0;
    host_ready(7, 1);
    expect_trace("event HOST_READY term 3 host 7 slots 1\n"
                 "  effect END term 3\n");
    ck_assert(coord_is_addressed(coord, 7, WIRE_END));
    expect_outcome(143, WIRE_CAUSE_STOPPED, COORD_NOBODY);
}
END_TEST

/* Its processes are ended as those of others are, if it is ready before that begins. */
START_TEST(a_host_that_is_ready_as_the_job_ends_hears_of_that)
{
    for (int ready_in_time = 0; ready_in_time < 2; ready_in_time++) {
        start(2, SAVING(EVERY(1)));
        host_ready(0, 1);
        stop(WIRE_STOP_SIGNAL, 15);
        ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
        if (ready_in_time)
            host_ready(7, 1);
        SAY(CLOSED);
        ck_assert(has_message(WIRE_STOP_RANKS));
        ck_assert_int_eq(coord_is_addressed(coord, 7, WIRE_STOP_RANKS), ready_in_time);
        if (!ready_in_time)
            host_ready(7, 1);
        stopped(0);
        if (ready_in_time) {
            ck_assert_int_eq(coord_phase(coord), COORD_ABORTING);
            stopped(7);
        }
        ck_assert_int_eq(coord_phase(coord), COORD_ABORTED);
        ck_assert(has_message(WIRE_END));
        ck_assert(coord_is_addressed(coord, 7, WIRE_END));
        tear_down();
    }
}
END_TEST

START_TEST(timer_gives_up)
{
    start(2, CONFIG());
    host_ready(0, 0);
    host_ready(7, 0);
    timer(COORD_TIMER_STOP);
    ck_assert(effects.dropped);
    stop(WIRE_STOP_SIGNAL, 15);
    stopped(0);
    ck_assert_uint_eq(effects.count, 0);
    timer(COORD_TIMER_STOP);
    ck_assert(has_effect(COORD_EFFECT_FINISH));
    ck_assert(!coord_host_alive(coord, 7));
    ck_assert(coord_host_alive(coord, 0));
    expect_outcome(143, WIRE_CAUSE_STOPPED, COORD_NOBODY);
}
END_TEST

static void start_ending(uint32_t processes)
{
    start_running(processes, CONFIG());
    arrived(0, 4, WIRE_BARRIER_END);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
}

START_TEST(after_bsp_end)
{
    start_ending(3);
    exited(0, 2, 0);
    exited(0, 0, 0);
    exited(0, 1, 0);
    expect_outcome(0, WIRE_CAUSE_NONE, COORD_NOBODY);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    tear_down();

    /* Others than process 0 are blamed, but its status comes first. */
    for (int of_process_0 = 0; of_process_0 < 2; of_process_0++) {
        start_ending(3);
        exited(0, 2, 9);
        exited(0, 0, of_process_0 ? 5 : 0);
        exited(0, 1, 8);
        expect_outcome(of_process_0 ? 5 : 9, WIRE_CAUSE_EXITED_AFTER_END, 2);
        ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
        tear_down();
    }

    for (int aware = 0; aware < 2; aware++) {
        start_ending(3);
        SAY(RANK_EXITED, .rank_exited = {.pid = 2, .signal = 6, .past_end = aware > 0});
        SAY(RANK_EXITED, .rank_exited = {.pid = 1, .signal = 6, .past_end = aware == 0});
        exited(0, 0, 0);
        expect_outcome(134, WIRE_CAUSE_KILLED_AFTER_END, 2);
        ck_assert(coord_outcome(coord).unaware == (aware == 0)); /* of the first one */
        tear_down();
    }

    start_ending(3);
    killed(0, 2, 6);
    killed(0, 1, 11); /* the first one is blamed */
    abort_job(0, 0, WIRE_CAUSE_ABORT_CALLED, 1);
    expect_outcome(134, WIRE_CAUSE_KILLED_AFTER_END, 2);
    tear_down();

    for (int order = 0; order < 2; order++) {
        start_ending(2);
        if (order)
            exited(0, 0, 5);
        killed(0, 1, 6);
        if (!order)
            exited(0, 0, 5);
        expect_outcome(5, WIRE_CAUSE_KILLED_AFTER_END, 1);
        tear_down();
    }

    start_ending(1);
    killed(0, 0, 11);
    expect_outcome(139, WIRE_CAUSE_KILLED_AFTER_END, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    tear_down();

    start_ending(2);
    exited(0, 1, 0);
    lost(0);
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    tear_down();

    start_ending(2);
    abort_job(0, 0, WIRE_CAUSE_ABORT_CALLED, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_ABORTING);
    expect_outcome(1, WIRE_CAUSE_ABORT_CALLED, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coord");
    TCase *jobs = tcase_create("jobs");
    tcase_add_checked_fixture(jobs, NULL, tear_down);
    tcase_add_test(jobs, a_job_on_one_host);
    tcase_add_test(jobs, abort_at_superstep_3);
    tcase_add_test(jobs, barriers_of_two_hosts);
    tcase_add_test(jobs, two_hosts_pass_barriers_by_themselves);
    tcase_add_test(jobs, sync_here_and_end_there);
    tcase_add_test(jobs, a_lost_host_ends_the_job);
    tcase_add_test(jobs, early_ends_of_processes);
    tcase_add_test(jobs, requests_to_end);
    tcase_add_test(jobs, stop_works_in_every_state);
    tcase_add_test(jobs, a_host_that_is_ready_too_late_hears_of_the_end);
    tcase_add_test(jobs, a_host_that_is_ready_as_the_job_ends_hears_of_that);
    tcase_add_test(jobs, timer_gives_up);
    tcase_add_test(jobs, after_bsp_end);
    suite_add_tcase(suite, jobs);
    return suite_run(suite);
}
