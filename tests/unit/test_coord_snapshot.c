/* test_coord_snapshot.c - Processor Zero: golden traces of snapshots. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

START_TEST(from_begin_to_end)
{
    start(1, SAVING(EVERY(2)));
    host_ready(0, 2);
    registered(0, 2);
    ranks_ready(0, 2);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    known(0, 0);
    arrived(0, 1, WIRE_BARRIER_SYNC);
    captured(0, 1);
    durable(0, 2, 1);
    durable(0, 2, 0);
    persisted(0, 2, 0);
    known(0, 2);
    arrived(0, 2, WIRE_BARRIER_END);
    SAY(CLOSED);
    expect_trace("event HOST_READY term 3 host 0 slots 2\n"
                 "event REGISTERED term 3 host 0 wanted 2\n"
                 "  WAITING -> PLACING\n"
                 "  effect PLACE term 3 processes 2 snapshot\n"
                 "event RANKS_READY term 3 host 0 count 2\n"
                 "  PLACING -> RUNNING\n"
                 "  effect RUN term 3 processes 2 consult 1\n"
                 "event IMAGE_DURABLE term 3 host 0 snapshot 0 pid 0 size 100\n"
                 "  effect PERSIST term 3 snapshot 0.3\n"
                 "event PERSISTED term 3 host 0 snapshot 0 error 0\n"
                 "  effect COMMITTED term 3 snapshot 0.3\n"
                 "event KNOWN term 3 host 0 snapshot 0 busy 0 us copied 0 us\n"
                 "  effect RETIRE term 3 snapshot 0.3\n"
                 "event ARRIVED term 3 host 0 superstep 1 bsp_sync\n"
                 "  RUNNING -> CAPTURING\n"
                 "  effect RELEASE term 3 superstep 1 decision snapshot consult never\n"
                 "event CAPTURED term 3 host 0 superstep 1\n"
                 "  CAPTURING -> RUNNING\n"
                 "  effect RESUME term 3 superstep 1 consult 3\n"
                 "event IMAGE_DURABLE term 3 host 0 snapshot 2 pid 1 size 101\n"
                 "event IMAGE_DURABLE term 3 host 0 snapshot 2 pid 0 size 100\n"
                 "  effect PERSIST term 3 snapshot 2.3\n"
                 "event PERSISTED term 3 host 0 snapshot 2 error 0\n"
                 "  effect COMMITTED term 3 snapshot 2.3\n"
                 "event KNOWN term 3 host 0 snapshot 2 busy 0 us copied 0 us\n"
                 "  effect RETIRE term 3 snapshot 2.3\n"
                 "event ARRIVED term 3 host 0 superstep 2 bsp_end\n"
                 "  RUNNING -> CLOSING\n"
                 "  effect CLOSE term 3\n"
                 "event CLOSED term 3\n"
                 "  CLOSING -> ENDING\n"
                 "  effect RELEASE term 3 superstep 2 decision end consult never\n");
    ck_assert_uint_eq(coord->ticket.images[1].facts.size, 101);
}
END_TEST

START_TEST(the_next_snapshot_waits_for_the_commit)
{
    start_with_snapshot_0(SAVING(EVERY(1)));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    captured(0, 0);
    durable(0, 1, 0);
    trace_used = 0;
    arrived(0, 1, WIRE_BARRIER_SYNC);
    durable(0, 1, 1);
    persisted(0, 1, 0);
    known(0, 1);
    expect_trace("event ARRIVED term 3 host 0 superstep 1 bsp_sync\n"
                 "  RUNNING -> HELD_BACK\n"
                 "event IMAGE_DURABLE term 3 host 0 snapshot 1 pid 1 size 101\n"
                 "  effect PERSIST term 3 snapshot 1.3\n"
                 "event PERSISTED term 3 host 0 snapshot 1 error 0\n"
                 "  effect COMMITTED term 3 snapshot 1.3\n"
                 "event KNOWN term 3 host 0 snapshot 1 busy 0 us copied 0 us\n"
                 "  HELD_BACK -> CAPTURING\n"
                 "  effect RETIRE term 3 snapshot 1.3\n"
                 "  effect RELEASE term 3 superstep 1 decision snapshot consult never\n");
}
END_TEST

START_TEST(auto_skips_while_one_is_written)
{
    start_with_snapshot_0(SAVING(.rule = {POLICY_AUTO, 0, 0.99}));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    captured(0, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    /* Nothing is asked at barriers meanwhile; and who asks gets no second one. */
    ck_assert(!has_effect(COORD_EFFECT_SET_TIMER));
    ck_assert_uint_eq(said()->resume.consult, COORD_NEVER);
    timer(COORD_TIMER_SNAPSHOT);
    ck_assert(has_message(WIRE_CONSULT));
    arrived(0, 1, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_int_eq(said()->release.decision, WIRE_DECISION_GO);
    /* When it is over the next may be due, at once or later. */
    durable(0, 1, 0);
    durable(0, 1, 1);
    persisted(0, 1, 0);
    known(0, 1);
    ck_assert(has_effect(COORD_EFFECT_SET_TIMER) || has_message(WIRE_CONSULT));
}
END_TEST

/* The processes run before snapshot 0 is committed: nothing is due before that. */
START_TEST(by_time_the_next_is_planned_when_one_is_over)
{
    start(1, SAVING(.rule = {POLICY_TIME, 50000000, 0}));
    host_ready(0, 2);
    registered(0, 2);
    ranks_ready(0, 2);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert(!has_effect(COORD_EFFECT_SET_TIMER));
    durable(0, 0, 0);
    persisted(0, 0, 0);
    known(0, 0);
    ck_assert(has_effect(COORD_EFFECT_SET_TIMER));
}
END_TEST

static void snapshot_of_two_hosts(uint64_t superstep, uint64_t busy_ns, uint64_t copied_ns)
{
    arrived(0, superstep - 1, WIRE_BARRIER_SYNC);
    arrived(7, superstep - 1, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    captured(0, superstep - 1);
    captured(7, superstep - 1);
    for (uint32_t pid = 0; pid < 4; pid++)
        durable(pid < 2 ? 0 : 7, superstep, pid);
    persisted(0, superstep, 0);
    known_with_costs(0, superstep, busy_ns, copied_ns / 2);
    ck_assert(!has_message(WIRE_RETIRE));
    known_with_costs(7, superstep, busy_ns / 2, copied_ns);
    ck_assert(has_message(WIRE_RETIRE));
}

/* How long after the snapshot the next is due. */
static uint64_t due_ms(void)
{
    ck_assert_int_eq(effects.items[effects.count - 1].kind, COORD_EFFECT_SET_TIMER);
    return effects.items[effects.count - 1].milliseconds;
}

START_TEST(costs_are_those_of_the_slowest_host)
{
    start(2, SAVING(.rule = {POLICY_AUTO, 0, 0.05, true}));
    host_ready(0, 2);
    host_ready(7, 2);
    registered(0, 4);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    known(0, 0);
    known(7, 0);
    ranks_ready(0, 2);
    play_now_ns = 1000000000;
    ranks_ready(7, 2);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    /* 3 ms so far, for nothing was shared before; the next is expected to cost twice 5 ms. */
    snapshot_of_two_hosts(1, 3000000, 2000000);
    ck_assert_uint_eq(coord_costs(coord).busy_ns, 3000000);
    ck_assert_uint_eq(coord_costs(coord).copied_ns, 2000000);
    ck_assert_uint_eq(due_ms(), 261); /* the pauses are 5 ns */
    play_now_ns += 261000000;
    timer(COORD_TIMER_SNAPSHOT);
    ck_assert(has_message(WIRE_CONSULT));
    /* 3 and 12 ms, and 12: more than had been expected. */
    snapshot_of_two_hosts(2, 9000000, 3000000);
    ck_assert_uint_eq(due_ms(), 20 * 27 + 1 - 261);
    /* A late one costs the next no time, but that between the two. */
    play_now_ns += 1000000000;
    timer(COORD_TIMER_SNAPSHOT);
    snapshot_of_two_hosts(3, 1000000, 0);
    ck_assert_uint_eq(due_ms(), 20);
}
END_TEST

START_TEST(a_snapshot_that_fails)
{
    start_with_snapshot_0(SAVING(EVERY(1)));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    trace_used = 0;
    image_failed(0, 1, 1, WIRE_CAUSE_NOT_WRITTEN);
    durable(0, 1, 0);
    captured(0, 0);
    expect_trace(
        "event IMAGE_FAILED term 3 host 0 snapshot 1 pid 1: a snapshot could not be written\n"
        "  effect ABANDON term 3 snapshot 1.3\n"
        "event IMAGE_DURABLE term 3 host 0 snapshot 1 pid 0 size 100\n"
        "  dropped\n"
        "event CAPTURED term 3 host 0 superstep 0\n"
        "  CAPTURING -> RUNNING\n"
        "  effect RESUME term 3 superstep 0 consult 1\n");
    play_now_ns = 249999999; /* not at once again */
    arrived(0, 1, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    play_now_ns = 250000000;
    take_snapshot(3);
    ck_assert_int_eq(coord_ticket(coord, NULL), COORD_TICKET_PERSISTING);
    persisted(0, 3, ENOSPC);
    ck_assert(has_message(WIRE_ABANDON));
    ck_assert_uint_eq(coord->committed.superstep, 0);
    play_now_ns += 499999999;
    arrived(0, 3, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    save_now(false); /* unless the user asks */
    take_snapshot(5);
    persisted(0, 5, 0);
    known(0, 5);
    take_snapshot(6); /* as before */
    ck_assert_int_eq(coord_ticket(coord, NULL), COORD_TICKET_PERSISTING);
    tear_down();

    start_with_snapshot_0(SAVING(EVERY(1), .stop_on_failure = true));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    image_failed(0, 1, 0, WIRE_CAUSE_RANK_SIGNALLED); /* its writer: no reason to stop */
    captured(0, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    arrived(0, 1, WIRE_BARRIER_SYNC);
    image_failed(0, 2, 1, WIRE_CAUSE_REFUSED);
    expect_outcome(1, WIRE_CAUSE_REFUSED, 1);
    ck_assert_str_eq(coord_outcome(coord).text, "no room");
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
}
END_TEST

/* Snapshots of the job have been possible. */
START_TEST(a_snapshot_that_fails_late)
{
    for (int stop = 0; stop < 2; stop++) {
        start_with_snapshot_0(
            SAVING(EVERY(1), .stop_on_failure = true, .stop_on_late_failure = stop));
        take_snapshot(1);
        persisted(0, 1, 0);
        known(0, 1);
        arrived(0, 1, WIRE_BARRIER_SYNC);
        image_failed(0, 2, 1, WIRE_CAUSE_REFUSED);
        captured(0, 1);
        ck_assert_int_eq(coord_phase(coord), stop ? COORD_GIVING_UP : COORD_RUNNING);
        tear_down();
    }
    /* Snapshot 0 says nothing of that. */
    start_with_snapshot_0(SAVING(EVERY(1), .stop_on_failure = true));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    image_failed(0, 1, 1, WIRE_CAUSE_REFUSED);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
}
END_TEST

START_TEST(saved_and_stopped)
{
    start_with_snapshot_0(SAVING(.rule = {POLICY_OFF, 0, 0}));
    save_now(true);
    arrived(0, 41, WIRE_BARRIER_SYNC);
    captured(0, 41);
    durable(0, 42, 0);
    durable(0, 42, 1);
    persisted(0, 42, 0);
    SAY(CLOSED);
    expect_trace("event SAVE term 3 and stop signal 15\n"
                 "  effect CONSULT term 3\n"
                 "  effect SET_TIMER term 3 grace 30000 ms\n"
                 "event ARRIVED term 3 host 0 superstep 41 bsp_sync\n"
                 "  RUNNING -> CAPTURING\n"
                 "  effect RELEASE term 3 superstep 41 decision last snapshot consult never\n"
                 "event CAPTURED term 3 host 0 superstep 41\n"
                 "  CAPTURING -> SAVING\n"
                 "event IMAGE_DURABLE term 3 host 0 snapshot 42 pid 0 size 100\n"
                 "event IMAGE_DURABLE term 3 host 0 snapshot 42 pid 1 size 101\n"
                 "  effect PERSIST term 3 snapshot 42.3\n"
                 "event PERSISTED term 3 host 0 snapshot 42 error 0\n"
                 "  SAVING -> GIVING_UP\n"
                 "  effect COMMITTED term 3 snapshot 42.3\n"
                 "  effect CLOSE term 3\n"
                 "event CLOSED term 3\n"
                 "  GIVING_UP -> ABORTING\n"
                 "  effect STOP_RANKS term 3\n"
                 "  effect SET_TIMER term 3 10000 ms\n");
    expect_outcome(123, WIRE_CAUSE_SAVED, COORD_NOBODY);
    ck_assert_str_eq(coord_outcome(coord).text, "");
    tear_down();

    /* Whoever asks later may have less time, and who has any amount has no say then. */
    start_with_snapshot_0(SAVING(EVERY(5)));
    SAY(SAVE, .save = {.stop = true, .signal = 10, .grace_ms = WIRE_NEVER});
    save_now(true);
    SAY(SAVE, .save = {.stop = true, .signal = 10, .grace_ms = WIRE_NEVER});
    expect_trace("event SAVE term 3 and stop signal 10\n"
                 "  effect CONSULT term 3\n"
                 "  effect SET_TIMER term 3 grace 18446744073709551615 ms\n"
                 "event SAVE term 3 and stop signal 15\n"
                 "  effect SET_TIMER term 3 grace 30000 ms\n"
                 "event SAVE term 3 and stop signal 10\n"
                 "  dropped\n");
    tear_down();

    /* No barrier within the grace: with what there is. */
    start_with_snapshot_0(SAVING(EVERY(5)));
    save_now(true);
    timer(COORD_TIMER_GRACE);
    expect_outcome(123, WIRE_CAUSE_SAVED, COORD_NOBODY);
    ck_assert_ptr_nonnull(strstr(coord_outcome(coord).text, "without a new snapshot"));
    tear_down();

    /* It cannot be taken. */
    start_with_snapshot_0(SAVING(EVERY(5), .stop_on_failure = true));
    save_now(true);
    arrived(0, 0, WIRE_BARRIER_SYNC);
    image_failed(0, 1, 1, WIRE_CAUSE_NOT_WRITTEN);
    captured(0, 0);
    expect_outcome(123, WIRE_CAUSE_SAVED, COORD_NOBODY);
    ck_assert_str_eq(coord_outcome(coord).text, "stopped without a new snapshot: no room");
    tear_down();

    /* Nothing was ever committed. */
    start(1, SAVING(EVERY(5)));
    host_ready(0, 2);
    save_now(true);
    expect_outcome(143, WIRE_CAUSE_STOPPED, COORD_NOBODY);
    tear_down();

    /* A fault on the way does not make it start again. */
    start_with_snapshot_0(SAVING(EVERY(5)));
    save_now(true);
    killed(0, 0, 9);
    expect_outcome(123, WIRE_CAUSE_SAVED, COORD_NOBODY);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
}
END_TEST

START_TEST(saved_on_request)
{
    start_with_snapshot_0(SAVING(.rule = {POLICY_OFF, 0, 0}));
    save_now(false);
    arrived(0, 7, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    captured(0, 7);
    ck_assert_uint_eq(said()->resume.consult, COORD_NEVER); /* only once */
}
END_TEST

static int move_now(void)
{
    return SAY(SAVE, .save = {.move = true});
}

/* With a snapshot that was quickly written, so that processes can move with the next one. */
static void start_to_move(struct coord_config config)
{
    start_with_snapshot_0(config);
    save_now(false);
    take_snapshot(1);
    persisted(0, 1, 0);
    known(0, 1);
    trace_used = 0;
}

/* The term ends at the commit, and nobody has left the barrier. */
START_TEST(processes_are_moved)
{
    start_to_move(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move_now();
    arrived(0, 41, WIRE_BARRIER_SYNC);
    captured(0, 41);
    durable(0, 42, 0);
    durable(0, 42, 1);
    persisted(0, 42, 0);
    expect_trace("event SAVE term 3 and move signal 0\n"
                 "  effect CONSULT term 3\n"
                 "event ARRIVED term 3 host 0 superstep 41 bsp_sync\n"
                 "  RUNNING -> CAPTURING\n"
                 "  effect RELEASE term 3 superstep 41 decision last snapshot consult never\n"
                 "event CAPTURED term 3 host 0 superstep 41\n"
                 "  CAPTURING -> SAVING\n"
                 "event IMAGE_DURABLE term 3 host 0 snapshot 42 pid 0 size 100\n"
                 "event IMAGE_DURABLE term 3 host 0 snapshot 42 pid 1 size 101\n"
                 "  effect PERSIST term 3 snapshot 42.3\n"
                 "event PERSISTED term 3 host 0 snapshot 42 error 0\n"
                 "  SAVING -> FAILED\n"
                 "  effect COMMITTED term 3 snapshot 42.3\n"
                 "  effect STOP_RANKS term 3 again\n"
                 "  effect FINISH term 3\n");
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_MOVED);
    ck_assert(coord_outcome(coord).again);
    ck_assert_uint_eq(coord_outcome(coord).committed.superstep, 42);
    tear_down();

    /* A fault on the way ends the term as any fault does. */
    start_to_move(SAVING(EVERY(5)));
    move_now();
    arrived(0, 1, WIRE_BARRIER_SYNC);
    captured(0, 1);
    killed(0, 0, 9);
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_RANK_SIGNALLED);
    tear_down();

    /* The user wants the end meanwhile: that is what follows the commit. */
    start_to_move(SAVING(EVERY(5)));
    move_now();
    arrived(0, 1, WIRE_BARRIER_SYNC);
    captured(0, 1);
    save_now(true);
    move_now(); /* too late */
    durable(0, 2, 0);
    durable(0, 2, 1);
    persisted(0, 2, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
    expect_outcome(123, WIRE_CAUSE_SAVED, COORD_NOBODY);
    tear_down();

    /* At bsp_end nothing is worth moving. */
    start_with_snapshot_0(SAVING(EVERY(5)));
    arrived(0, 0, WIRE_BARRIER_END);
    move_now();
    ck_assert(effects.dropped);
    SAY(CLOSED);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
}
END_TEST

static void play_round(uint64_t superstep, uint64_t takes_ns)
{
    ck_assert(has_message(WIRE_CONSULT));
    arrived(0, superstep - 1, WIRE_BARRIER_SYNC);
    ck_assert(said()->release.urgent && !said()->release.last);
    captured(0, superstep - 1);
    ck_assert(coord_phase(coord) == COORD_RUNNING && has_message(WIRE_RESUME));
    play_now_ns += takes_ns;
    durable(0, superstep, 0);
    durable(0, superstep, 1);
    persisted(0, superstep, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert(!has_message(WIRE_CONSULT)); /* before it is over */
    known(0, superstep);
}

static void play_last_round(uint64_t superstep)
{
    ck_assert(has_message(WIRE_CONSULT));
    play_now_ns += UINT64_C(20000000000); /* a long superstep */
    arrived(0, superstep - 1, WIRE_BARRIER_SYNC);
    ck_assert(said()->release.last);
    captured(0, superstep - 1);
    ck_assert_int_eq(coord_phase(coord), COORD_SAVING);
    durable(0, superstep, 0);
    durable(0, superstep, 1);
    persisted(0, superstep, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_MOVED);
    tear_down();
}

/* So much takes long to write that it is written before processes wait for what is left. */
START_TEST(most_is_written_before_a_move)
{
    const uint64_t ms = 1000000u;

    /* As long as each takes markedly less time than the one before */
    start_with_snapshot_0(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move_now();
    play_round(1, 4000 * ms);
    play_round(2, 2000 * ms);
    play_round(3, 1600 * ms);
    play_last_round(4);

    /* ... or until one takes little time */
    start_with_snapshot_0(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move_now();
    play_round(1, 99 * ms);
    play_last_round(2);

    /* ... and not for ever. */
    start_with_snapshot_0(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move_now();
    for (uint64_t round = 1; round <= 5; round++)
        play_round(round, 64000 * ms >> round);
    play_last_round(6);

    /* What an ordinary one took says nothing: its writer had to make way. */
    start_with_snapshot_0(SAVING(EVERY(1)));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    ck_assert(!said()->release.urgent);
    captured(0, 0);
    play_now_ns += 9000 * ms;
    durable(0, 1, 0);
    durable(0, 1, 1);
    persisted(0, 1, 0);
    known(0, 1);
    move_now();
    play_round(2, 1000 * ms);
    play_round(3, 200 * ms);
    play_round(4, 190 * ms);
    play_last_round(5);
}
END_TEST

/* Images that other hosts keep are full, so there is nothing to write before. */
START_TEST(moved_at_once_where_images_are_full)
{
    start(2, SAVING(.rule = {POLICY_OFF, 0, 0}, .copies = 2));
    coord->phase = COORD_RUNNING;
    coord->wish = COORD_WISH_MOVE;
    ck_assert(coord_ends_with_ticket(coord));
}
END_TEST

/* The processes wait at the barrier where they were captured, and go on from there. */
START_TEST(processes_cannot_be_moved)
{
    /* Before all hosts have captured ... */
    start_to_move(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move_now();
    arrived(0, 7, WIRE_BARRIER_SYNC);
    image_failed(0, 8, 1, WIRE_CAUSE_NOT_WRITTEN);
    captured(0, 7);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert(has_message(WIRE_RESUME));
    ck_assert_uint_eq(said()->envelope.superstep, 7);
    ck_assert_uint_eq(said()->resume.consult, COORD_NEVER);
    /* Another one is tried, but not at once. */
    ck_assert(has_effect(COORD_EFFECT_SET_TIMER));
    play_now_ns += 249999999;
    arrived(0, 8, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    play_now_ns += 1;
    timer(COORD_TIMER_SNAPSHOT);
    ck_assert(has_message(WIRE_CONSULT));
    arrived(0, 9, WIRE_BARRIER_SYNC);
    captured(0, 9);
    ck_assert_int_eq(coord_phase(coord), COORD_SAVING);
    tear_down();

    /* ... or after. */
    start_to_move(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move_now();
    arrived(0, 7, WIRE_BARRIER_SYNC);
    captured(0, 7);
    durable(0, 8, 0);
    image_failed(0, 8, 1, WIRE_CAUSE_RANK_SIGNALLED);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert(has_message(WIRE_ABANDON) && has_message(WIRE_RESUME));
    ck_assert_uint_eq(message_of(WIRE_RESUME)->resume.consult, 8); /* its writer was killed */
    arrived(0, 8, WIRE_BARRIER_END);
    ck_assert_int_eq(coord_phase(coord), COORD_CLOSING);
    tear_down();

    /* There is nothing to move with. */
    start_running(2, CONFIG());
    move_now();
    ck_assert(effects.dropped);
}
END_TEST

START_TEST(no_snapshot_0_no_other_hosts)
{
    start(2, SAVING(EVERY(1)));
    host_ready(0, 0);
    host_ready(7, 0);
    registered(0, 3);
    SAY(IMAGE_FAILED, .image_failed = {.host = 0, .cause = WIRE_CAUSE_NOT_WRITTEN, .text = "full"});
    ck_assert(has_message(WIRE_ABANDON) && has_message(WIRE_CLOSING));
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_NOT_WRITTEN);
}
END_TEST

START_TEST(one_place_when_all_see_it)
{
    start(2, SAVING(EVERY(1), .copies = 2));
    SAY(HOST_READY, .host_ready = {.host = 0, .shared = true});
    SAY(HOST_READY, .host_ready = {.host = 7, .shared = true});
    registered(0, 2);
    durable(0, 0, 0);
    ck_assert(has_message(WIRE_PERSIST));
    ck_assert(coord_is_addressed(coord, 0, WIRE_PERSIST) &&
              !coord_is_addressed(coord, 7, WIRE_PERSIST));
}
END_TEST

START_TEST(not_to_be_recovered)
{
    start_running(2, CONFIG());
    coord_free(coord);
    coord = coord_new(&(struct coord_config){.term = 3,
                                             .host_count = 1,
                                             .hosts = &(struct wire_host){0, 2, "a"},
                                             .abort_at = COORD_NEVER,
                                             .snapshots = true});
    host_ready(0, 2);
    registered(0, 2);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    ranks_ready(0, 2);
    SAY(RANK_EXITED, .rank_exited = {.host = 0, .pid = 1, .signal = 9, .text = "it died"});
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
    ck_assert_str_eq(coord_outcome(coord).text, "it died");
}
END_TEST

START_TEST(images_in_two_places)
{
    start(2, SAVING(EVERY(1), .copies = 2));
    host_ready(0, 0);
    host_ready(7, 0);
    registered(0, 2);
    durable(0, 0, 0);
    expect_broken(durable(0, 0, 0));
    ck_assert_int_eq(coord_ticket(coord, NULL), COORD_TICKET_OPEN);
    expect_broken(SAY(IMAGE_DURABLE,
                      .image_durable = {.host = 7, .facts = {.size = 100, .digest = "DIGEST"}}));
    durable(7, 0, 0);
    ck_assert(has_message(WIRE_PERSIST));
    persisted(7, 0, 0);
    ck_assert_uint_eq(coord->committed.term, 0);
    persisted(0, 0, 0);
    ck_assert_uint_eq(coord->committed.term, 3);
    known(0, 0);
    ck_assert(!has_message(WIRE_RETIRE));
    known(7, 0);
    ck_assert(has_message(WIRE_RETIRE));
}
END_TEST

/* The job goes on ending, and the snapshot is still worth something. */
START_TEST(a_host_lost_behind_bsp_end)
{
    start(3, SAVING(EVERY(100), .copies = 2, .recover = true));
    host_ready(0, 1);
    host_ready(7, 1);
    host_ready(3, 1);
    registered(0, 1);
    ranks_ready(0, 1);
    ranks_ready(7, 0);
    ranks_ready(3, 0);
    durable(0, 0, 0);
    durable(7, 0, 0);
    ck_assert(has_message(WIRE_PERSIST));
    arrived(0, 0, WIRE_BARRIER_END);
    SAY(CLOSED);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    persisted(3, 0, 0);
    lost(3);
    persisted(7, 0, 0);
    ck_assert(!has_message(WIRE_COMMITTED)); /* host 0 does not have the manifest */
    persisted(0, 0, 0);
    ck_assert(has_message(WIRE_COMMITTED));
}
END_TEST

START_TEST(broken_rules_of_snapshots)
{
    start_with_snapshot_0(SAVING(EVERY(1)));
    expect_broken(durable(0, 1, 0)); /* nobody asked */
    expect_broken(captured(0, 0));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    expect_broken(persisted(0, 1, 0));
    expect_broken(known(0, 1));
    expect_broken(durable(0, 2, 0));
    expect_broken(durable(0, 1, 2));
    expect_broken(captured(0, 1));
    expect_broken(image_failed(0, 1, 9, WIRE_CAUSE_REFUSED));
    expect_broken(image_failed(0, 1, 1, WIRE_CAUSE_INTERNAL));
    durable(0, 1, 1);
    durable(0, 1, 0);
    ck_assert(!has_message(WIRE_PERSIST)); /* not all are captured */
    captured(0, 0);
    ck_assert(has_message(WIRE_PERSIST));
    expect_broken(image_failed(0, 1, 1, WIRE_CAUSE_NOT_WRITTEN));
    expect_broken(held(0, 1, 1, (struct wire_numbers){0}));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coord snapshots");
    TCase *tests = tcase_create("snapshots");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, from_begin_to_end);
    tcase_add_test(tests, the_next_snapshot_waits_for_the_commit);
    tcase_add_test(tests, auto_skips_while_one_is_written);
    tcase_add_test(tests, by_time_the_next_is_planned_when_one_is_over);
    tcase_add_test(tests, costs_are_those_of_the_slowest_host);
    tcase_add_test(tests, a_snapshot_that_fails);
    tcase_add_test(tests, a_snapshot_that_fails_late);
    tcase_add_test(tests, saved_and_stopped);
    tcase_add_test(tests, saved_on_request);
    tcase_add_test(tests, processes_are_moved);
    tcase_add_test(tests, most_is_written_before_a_move);
    tcase_add_test(tests, moved_at_once_where_images_are_full);
    tcase_add_test(tests, processes_cannot_be_moved);
    tcase_add_test(tests, no_snapshot_0_no_other_hosts);
    tcase_add_test(tests, one_place_when_all_see_it);
    tcase_add_test(tests, not_to_be_recovered);
    tcase_add_test(tests, images_in_two_places);
    tcase_add_test(tests, a_host_lost_behind_bsp_end);
    tcase_add_test(tests, broken_rules_of_snapshots);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
