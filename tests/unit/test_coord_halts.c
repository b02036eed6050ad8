/* test_coord_halts.c - Processor Zero: processes with replicas stop at calls, to be saved. */
#include <check.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

static void start_four(void)
{
    start_cells(SAVING(EVERY(100), .replicas = 2, .by_node = true, .recover = true));
}

static void halted(uint32_t host, uint64_t round, uint64_t first, uint64_t second)
{
    uint64_t requests[] = {first, second};

    SAY(HALTED, .halted = {.host = host, .round = round, .requests = {requests, 2}});
}

/* All are asked how far they are, and told the largest numbers; again when a host is lost. */
START_TEST(where_processes_stop_at_calls)
{
    start_four();
    SAY(OBJECTS, .objects = {.host = 0, .calls = true});
    ck_assert(!has_message(WIRE_HALT)); /* nothing is due */
    ck_assert_int_eq(save_now(false), 0);
    ck_assert(has_message(WIRE_HALT));
    halted(0, 1, 5, 2);
    halted(3, 1, 4, 0);
    halted(7, 1, 0, 3);
    ck_assert(!has_message(WIRE_HALT_AT));
    lost(3);
    ck_assert(has_message(WIRE_HALT));
    halted(5, 1, 9, 9);
    ck_assert(effects.dropped);
    halted(0, 2, 5, 2);
    halted(5, 2, 0, 1);
    halted(7, 2, 0, 3);
    ck_assert(has_message(WIRE_HALT_AT));
    ck_assert_uint_eq(said()->halt_at.requests.items[0], 5);
    ck_assert_uint_eq(said()->halt_at.requests.items[1], 3);
    arrived(0, 0, WIRE_BARRIER_CALL);
    arrived(7, 0, WIRE_BARRIER_CALL);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
}
END_TEST

/* All processes have come to their end before it is known where they stop: none does. */
START_TEST(the_end_while_they_are_asked)
{
    start_four();
    SAY(OBJECTS, .objects = {.host = 0, .calls = true});
    save_now(false);
    halted(0, 1, 5, 2);
    arrived(0, 0, WIRE_BARRIER_END);
    arrived(7, 0, WIRE_BARRIER_END);
    ck_assert_int_eq(coord_phase(coord), COORD_CLOSING);
    halted(3, 1, 4, 0);
    halted(7, 1, 0, 3);
    halted(5, 1, 0, 0);
    ck_assert(!has_message(WIRE_HALT_AT));
    SAY(CLOSED);
    ck_assert(has_message(WIRE_RELEASE));
    ck_assert_int_eq(said()->kind, WIRE_HALT_AT);
    ck_assert_uint_eq(said()->halt_at.requests.items[1], WIRE_NEVER);
}
END_TEST

/* Replicas that are behind the end still make requests, also of a host that is lost then. */
START_TEST(a_loss_after_the_end)
{
    start_four();
    SAY(OBJECTS, .objects = {.host = 0, .calls = true});
    arrived(0, 0, WIRE_BARRIER_END);
    arrived(7, 0, WIRE_BARRIER_END);
    SAY(CLOSED);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    ck_assert_int_eq(lost(7), 0);
    ck_assert(has_message(WIRE_LOSSES));
    ck_assert_uint_eq(said()->losses.hosts.count, 1);
    ck_assert_uint_eq(said()->losses.hosts.items[0], 7);
}
END_TEST

/* A snapshot comes in between, when it is asked whether all wait: it is asked again after that. */
START_TEST(all_wait_and_are_saved)
{
    start_four();
    SAY(OBJECTS, .objects = {.host = 0, .calls = true});
    SAY(QUIET, .quiet = {.host = 0, .quiet = true, .waits = ""});
    ck_assert_uint_eq(said()->ask_quiet.round, 1);
    save_now(false);
    for (size_t i = 0; i < 4; i++)
        halted((uint32_t[]){0, 3, 5, 7}[i], 1, 0, 0);
    arrived(0, 0, WIRE_BARRIER_CALL);
    arrived(7, 0, WIRE_BARRIER_CALL);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    SAY(QUIET, .quiet = {.host = 3, .round = 1, .quiet = true, .waits = ""});
    captured(0, 0);
    captured(7, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    SAY(QUIET, .quiet = {.host = 0, .quiet = true, .waits = ""});
    ck_assert(has_message(WIRE_ASK_QUIET));
    ck_assert_uint_eq(said()->ask_quiet.round, 2);
}
END_TEST

/* They are to stop again while the images of before are written, and a host with some is lost. */
START_TEST(a_loss_while_images_are_written)
{
    start_cells(SAVING(.rule = {POLICY_TIME, UINT64_C(60000000000), 0}, .replicas = 2,
                       .by_node = true, .recover = true));
    SAY(OBJECTS, .objects = {.host = 0, .calls = true});
    save_now(false);
    for (size_t i = 0; i < 4; i++)
        halted((uint32_t[]){0, 3, 5, 7}[i], 1, 0, 0);
    arrived(0, 0, WIRE_BARRIER_CALL);
    arrived(7, 0, WIRE_BARRIER_CALL);
    captured(0, 0);
    captured(7, 0);
    save_now(false);
    ck_assert_uint_eq(said()->halt.round, 2);
    ck_assert_int_eq(lost(7), 0);
    ck_assert(has_message(WIRE_ABANDON));
    ck_assert(has_message(WIRE_HALT));
    ck_assert_uint_eq(effects.items[effects.count - 1].message.halt.round, 3);
}
END_TEST

/* The same; the host of Processor Zero, 5, is lost. */
static const uint64_t homes[] = {0, 7}, leads[] = {3, 0, 5, 7};

static void start_succeeding(void)
{
    start(4, SAVING(.rule = {POLICY_SUPERSTEPS, 4, 0}, .replicas = 2, .recover = true,
                    .predecessor = {{homes, 2}, {leads, 4}, {0, 3}}));
    ck_assert_int_eq(coord_phase(coord), COORD_TAKING_OVER);
    ck_assert_int_eq(lost(5), 0);
    ck_assert_int_eq(coord_phase(coord), COORD_TAKING_OVER);
}

/* ---- Another Processor Zero ---- */

static void account_of_stops(uint32_t host, uint64_t decided, uint64_t captures, uint64_t superstep,
                             uint64_t round)
{
    const uint64_t requests[] = {10 * round, 20 * round};

    SAY(ACCOUNT, .account = {.host = host,
                             .decided = decided,
                             .consult = COORD_NEVER,
                             .captures = captures,
                             .committed = {0, 3},
                             .runs = true,
                             .halt_superstep = superstep,
                             .halt_round = round,
                             .halt_requests = {requests, round > 0 ? 2 : 0}});
}

static void expect_stops(uint64_t superstep, uint64_t first)
{
    const struct wire_message *at = message_of(WIRE_HALT_AT);

    ck_assert_uint_eq(at->envelope.superstep, superstep);
    ck_assert_uint_eq(at->halt_at.requests.count, 2);
    ck_assert_uint_eq(at->halt_at.requests.items[0], first);
}

/* Some host may not have heard where processes stop at a barrier that others have passed, and some
 * may have been asked for the next one. */
START_TEST(stops_of_the_former_one)
{
    start_succeeding();
    account_of_stops(0, 5, 0, 4, 7);
    account_of_stops(7, 4, 0, 3, 6);
    account_of_stops(3, 5, 0, 0, 0);
    expect_stops(4, 70);
    SAY(OBJECTS, .objects = {.host = 3, .calls = true});
    ck_assert_uint_eq(message_of(WIRE_HALT)->envelope.superstep, 5);
    ck_assert_uint_eq(message_of(WIRE_HALT)->halt.round, 8);
    SAY(OBJECTS, .objects = {.host = 0, .calls = true});
    ck_assert(!has_message(WIRE_HALT));
}
END_TEST

/* They have stopped already, and go on: no snapshot, as the former one may have begun it. */
START_TEST(they_have_stopped)
{
    start_succeeding();
    account_of_stops(0, 5, 0, 5, 7);
    account_of_stops(7, 5, 0, 5, 7);
    account_of_stops(3, 5, 0, 4, 6);
    ck_assert(!has_message(WIRE_HALT_AT)); /* that will be asked anew */
    SAY(OBJECTS, .objects = {.host = 0, .calls = true});
    ck_assert(has_message(WIRE_HALT));
    ck_assert_int_eq(arrived(0, 5, WIRE_BARRIER_CALL), 0);
    ck_assert_int_eq(arrived(7, 5, WIRE_BARRIER_CALL), 0);
    ck_assert_int_eq(message_of(WIRE_RELEASE)->release.decision, WIRE_DECISION_GO);
    expect_stops(5, 70); /* the third one has not heard that */
}
END_TEST

START_TEST(stops_in_the_midst_of_a_snapshot)
{
    start_succeeding();
    account_of_stops(0, 5, 6, 5, 7);
    account_of_stops(7, 5, 0, 5, 7);
    account_of_stops(3, 5, 0, 4, 6);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    expect_stops(5, 70);
    SAY(OBJECTS, .objects = {.host = 0, .calls = true});
    ck_assert(!has_message(WIRE_HALT));
}
END_TEST

/* TAKEN_OVER of one that was lost, too, has come to host 0, and HALT_AT behind it has not. */
START_TEST(stops_that_nobody_knows)
{
    start_succeeding();
    account_of_stops(0, 5, 0, 3, 6);
    account_of_stops(7, 4, 0, 3, 6);
    account_of_stops(3, 4, 0, 3, 6);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    SAY(OBJECTS, .objects = {.host = 3, .calls = true});
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_HOST_LOST);
    ck_assert(coord_outcome(coord).again);
}
END_TEST

/* Who is behind the end goes on, whatever it was told. */
START_TEST(stops_at_the_end)
{
    start_succeeding();
    for (uint32_t i = 0; i < 3; i++)
        SAY(ACCOUNT, .account = {.host = (uint32_t[]){0, 3, 7}[i],
                                 .decided = i == 0 ? 6 : 5,
                                 .ended = i == 0,
                                 .consult = COORD_NEVER,
                                 .committed = {0, 3},
                                 .runs = true});
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    SAY(OBJECTS, .objects = {.host = 3, .calls = true});
    expect_stops(5, WIRE_NEVER);
}
END_TEST

START_TEST(stops_of_other_processes)
{
    static const uint64_t requests[] = {1, 2, 3};

    start_succeeding();
    expect_broken(SAY(ACCOUNT, .account = {.host = 0,
                                           .consult = COORD_NEVER,
                                           .runs = true,
                                           .halt_round = 1,
                                           .halt_requests = {requests, 3}}));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {where_processes_stop_at_calls,
                                  the_end_while_they_are_asked,
                                  a_loss_after_the_end,
                                  all_wait_and_are_saved,
                                  a_loss_while_images_are_written,
                                  stops_of_the_former_one,
                                  they_have_stopped,
                                  stops_in_the_midst_of_a_snapshot,
                                  stops_that_nobody_knows,
                                  stops_at_the_end,
                                  stops_of_other_processes};

    return suite_run_tests("coord_halts", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
