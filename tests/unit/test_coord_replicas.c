/* test_coord_replicas.c - Processor Zero: processes with replicas on several hosts. */
#include <check.h>
#include <stdio.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

/* Hosts 0 and 3, and hosts 7 and 5, have the same process; all run, and snapshot 0 is committed. */
static void start_four(uint64_t every)
{
    start(4, SAVING(.rule = {POLICY_SUPERSTEPS, every, 0}, .replicas = 2, .by_node = true));
    for (uint32_t i = 0; i < 4; i++)
        host_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    registered(0, 2);
    ck_assert_uint_eq(coord->processes, 2);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    for (uint32_t i = 0; i < 4; i++) {
        known((uint32_t[]){0, 7, 3, 5}[i], 0);
        ck_assert_int_eq(ranks_ready((uint32_t[]){0, 7, 3, 5}[i], 1), 0);
    }
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}

/* The barriers up to that superstep that are decided pass by the first hosts alone. */
static void pass_until(uint64_t superstep)
{
    while (coord->consult < superstep) {
        uint64_t next = coord->consult;

        play_now_ns += UINT64_C(10000000);
        arrived(0, next, WIRE_BARRIER_SYNC);
        arrived(7, next, WIRE_BARRIER_SYNC);
    }
}

static bool captures(uint32_t host)
{
    const struct wire_numbers *list = &said()->release.captures;

    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == host)
            return true;
    return false;
}

START_TEST(cells)
{
    start_four(100);
    ck_assert_uint_eq(host_of(0), 0);
    ck_assert_uint_eq(host_of(1), 7);
    ck_assert(coord_lives_on(coord, 0, &coord->hosts[2])); /* host 3 */
    ck_assert(coord_lives_on(coord, 1, &coord->hosts[3])); /* host 5 */
    ck_assert(!coord_lives_on(coord, 1, &coord->hosts[2]));
}
END_TEST

START_TEST(what_is_left_over_gets_nothing)
{
    start(3, SAVING(EVERY(2), .replicas = 2));
    host_ready(0, 2);
    host_ready(7, 2);
    host_ready(3, 2);
    registered(7, 2); /* it is first, and takes the next one of the list */
    ck_assert_uint_eq(host_of(0), 7);
    ck_assert_uint_eq(host_of(1), 7);
    ck_assert(coord_lives_on(coord, 0, &coord->hosts[2]));
    ck_assert_uint_eq(coord->hosts[0].count, 0);
}
END_TEST

START_TEST(too_few_hosts)
{
    start(2, CONFIG(.replicas = 3));
    host_ready(0, 2);
    host_ready(7, 2);
    registered(0, 2);
    expect_outcome(1, WIRE_CAUSE_PLACEMENT, COORD_NOBODY);
}
END_TEST

/* A barrier is decided when the first of each cell is there, and known beforehand. */
START_TEST(the_first_count)
{
    start_four(100);
    ck_assert_uint_eq(coord->consult, 0);
    arrived(3, 0, WIRE_BARRIER_SYNC);
    ck_assert(!has_message(WIRE_RELEASE));
    arrived(7, 0, WIRE_BARRIER_SYNC);
    ck_assert(has_message(WIRE_RELEASE));
    ck_assert_uint_gt(coord->consult, 0);
    ck_assert_uint_lt(coord->consult, 4);
    ck_assert_int_eq(arrived(0, 0, WIRE_BARRIER_SYNC), 0); /* later: nothing */
    ck_assert(effects.dropped);
    coord_consult(coord, &effects); /* some may have passed what could be asked for */
    ck_assert(!has_message(WIRE_CONSULT));
}
END_TEST

/* It has one image of each process, those of the hosts that came first. */
START_TEST(a_snapshot)
{
    start_four(4);
    pass_until(3);
    ck_assert_uint_eq(coord->consult, 3);
    arrived(3, 3, WIRE_BARRIER_SYNC);
    arrived(7, 3, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert(captures(3) && captures(7) && !captures(0) && !captures(5));
    captured(3, 3);
    captured(7, 3);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    durable(3, 4, 0);
    durable(7, 4, 1);
    ck_assert(has_message(WIRE_PERSIST));
    ck_assert_uint_eq(said()->persist.writer, 3);
    ck_assert(!coord_is_addressed(coord, 0, WIRE_PERSIST));
    persisted(3, 4, 0);
    ck_assert(has_message(WIRE_COMMITTED));
}
END_TEST

START_TEST(a_loss_is_covered)
{
    start_four(100);
    pass_until(2);
    arrived(7, coord->consult, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(lost(7), 0); /* which had arrived */
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    uint64_t superstep = coord->consult;
    arrived(0, superstep, WIRE_BARRIER_SYNC);
    ck_assert(!has_message(WIRE_RELEASE));
    arrived(5, superstep, WIRE_BARRIER_SYNC);
    ck_assert(has_message(WIRE_RELEASE));
    lost(5); /* the last one with process 1 */
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, COORD_NOBODY);
}
END_TEST

/* The barrier waits for the host that was lost only as long as it is not. */
START_TEST(a_loss_completes_a_barrier)
{
    start_four(4);
    pass_until(3);
    arrived(0, 3, WIRE_BARRIER_SYNC);
    arrived(7, 3, WIRE_BARRIER_SYNC);
    captured(0, 3);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    lost(7); /* its image would have been part of the snapshot */
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_int_eq(coord->ticket.state, COORD_TICKET_NONE);
    ck_assert(has_message(WIRE_RESUME));
    ck_assert(has_message(WIRE_ABANDON));
}
END_TEST

START_TEST(the_first_to_end)
{
    start_four(100);
    uint64_t end = coord->consult;
    arrived(0, end, WIRE_BARRIER_END);
    arrived(5, end, WIRE_BARRIER_END);
    ck_assert_int_eq(coord_phase(coord), COORD_CLOSING);
    SAY(CLOSED);
    ck_assert_int_eq(arrived(7, end, WIRE_BARRIER_END), 0);
    ck_assert_int_eq(exited(5, 1, 0), 0);
    ck_assert_int_eq(exited(7, 1, 0), 0); /* another replica */
    ck_assert(effects.dropped);
    lost(0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    exited(3, 0, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_NONE);
}
END_TEST

START_TEST(replicas_that_differ)
{
    start(4, SAVING(EVERY(100), .replicas = 2, .by_node = true, .back_on_mismatch = true));
    for (uint32_t i = 0; i < 4; i++)
        host_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    registered(0, 2);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    for (uint32_t i = 0; i < 4; i++)
        ranks_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    abort_job(3, 0, WIRE_CAUSE_MISMATCH, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {cells,
                                  what_is_left_over_gets_nothing,
                                  too_few_hosts,
                                  the_first_count,
                                  a_snapshot,
                                  a_loss_is_covered,
                                  a_loss_completes_a_barrier,
                                  the_first_to_end,
                                  replicas_that_differ};

    return suite_run_tests("coord_replicas", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
