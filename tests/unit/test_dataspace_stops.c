/* test_dataspace_stops.c - where processes with replicas stop, barrier by barrier, for a service
 * that only notes what it is told.
 */
#include <check.h>
#include <string.h>

#include "bsprun/dataspace/service.h"
#include "bsprun/dataspace/stops.h"
#include "tests/unit/suite.h"

static struct {
    unsigned halts, overs, stops; /* so often */
    uint64_t limit, stop_in, stop_after;
    uint64_t in;    /* the superstep of the first process; the other one is behind */
    bool behind;    /* ... it still leaves the barrier */
    bool none;      /* no process is here */
    bool withdraws; /* some process does not know yet what becomes of its request */
} seen;

static struct stops *stops;

void dataspace_halt(struct dataspace *space)
{
    (void)space;
    seen.halts++;
}

bool dataspace_halted(const struct dataspace *space)
{
    (void)space;
    return !seen.withdraws;
}

uint64_t dataspace_reached(const struct dataspace *space, uint32_t pid)
{
    (void)space;
    return 10 + pid;
}

void dataspace_halt_at(struct dataspace *space, const uint64_t *requests)
{
    (void)space;
    ck_assert_uint_eq(seen.stop_after, requests[1]); /* processes know it before */
    seen.limit = requests[1];
}

void dataspace_halt_over(struct dataspace *space)
{
    (void)space;
    seen.overs++;
}

static void on_stop(void *context, const struct stops_one *stop)
{
    ck_assert_ptr_eq(context, &seen);
    seen.stops++;
    seen.stop_in = stop->superstep;
    seen.stop_after = stop->requests[1];
}

static bool on_where(void *context, uint32_t pid, uint64_t *superstep)
{
    ck_assert_ptr_eq(context, &seen);
    *superstep = pid == 1 ? seen.in - seen.behind : pid == 0 ? seen.in : seen.in + 9;
    return pid < 2 && !seen.none; /* the third one is elsewhere */
}

static const struct stops_calls calls = {.stop = on_stop, .where = on_where};

static void set_up(void)
{
    memset(&seen, 0, sizeof seen);
    stops = stops_open(NULL, 3, &calls, &seen);
    ck_assert_ptr_nonnull(stops);
}

static void tear_down(void)
{
    stops_close(stops);
}

static void ask(uint64_t superstep, uint64_t round)
{
    ck_assert(stops_ask(stops, superstep, round));
}

static void set(uint64_t superstep, uint64_t round, uint64_t after)
{
    const uint64_t requests[] = {after, after, after};

    ck_assert(stops_set(stops, &(struct stops_one){superstep, round, requests}));
}

static void passed(uint64_t present)
{
    seen.in = present;
    stops_passed(stops);
}

static void expect_answer(uint64_t round)
{
    const struct stops_one *answer = stops_answer(stops);

    ck_assert_ptr_nonnull(answer);
    ck_assert_uint_eq(answer->round, round);
    ck_assert_uint_eq(answer->requests[1], 11);
}

START_TEST(asked_told_and_gone_on)
{
    seen.withdraws = true;
    seen.in = 4;
    ask(4, 1);
    ck_assert_uint_eq(seen.halts, 1);
    ck_assert_ptr_null(stops_answer(stops)); /* it may still have taken effect */
    seen.withdraws = false;
    expect_answer(1);
    ck_assert_ptr_null(stops_answer(stops));
    set(4, 1, 7);
    ck_assert_uint_eq(seen.limit, 7);
    ck_assert_uint_eq(seen.stop_in, 4);
    passed(4);
    ck_assert_uint_eq(seen.overs, 0);
    passed(5);
    ck_assert_uint_eq(seen.overs, 1);
}
END_TEST

/* A host was lost: what is answered now counts. */
START_TEST(asked_again)
{
    ask(0, 1);
    expect_answer(1);
    set(0, 1, 7);
    ask(0, 2);
    ck_assert_uint_eq(seen.halts, 2);
    expect_answer(2);
    set(0, 2, 6);
    ck_assert_uint_eq(seen.limit, 6);
}
END_TEST

/* Others have passed two barriers: each stop has its turn here, and is answered at once. */
START_TEST(behind_several)
{
    seen.in = 1;
    ask(1, 1);
    expect_answer(1);
    set(1, 1, 3);
    seen.withdraws = true; /* which does not matter for those to come */
    ask(2, 2);
    expect_answer(2);
    set(2, 2, 5);
    ask(3, 3);
    expect_answer(3);
    ck_assert_uint_eq(seen.stops, 1);
    ck_assert_uint_eq(seen.limit, 3);
    passed(2);
    ck_assert_uint_eq(seen.limit, 5);
    ck_assert_uint_eq(seen.stop_in, 2);
    passed(3);
    ck_assert_uint_eq(seen.halts, 2); /* it is not known yet */
    set(3, 3, 8);
    ck_assert_uint_eq(seen.limit, 8);
}
END_TEST

/* The barrier before had no stop, or that one is gone already. */
START_TEST(told_before_they_come)
{
    seen.in = 1;
    ask(2, 1);
    expect_answer(1);
    set(2, 1, 5);
    passed(1);
    ck_assert_uint_eq(seen.halts + seen.stops + seen.overs, 0);
    passed(2);
    ck_assert_uint_eq(seen.limit, 5);
    ck_assert_uint_eq(seen.stop_in, 2);
    passed(2);
    ck_assert_uint_eq(seen.stops, 1);
    ask(3, 2);
    passed(3);
    ck_assert_uint_eq(seen.halts, 1);
    ask(5, 3);
    passed(4);
    ck_assert_uint_eq(seen.overs, 1); /* no stop is in this one */
    ck_assert_uint_eq(seen.halts, 1);
    passed(5);
    ck_assert_uint_eq(seen.halts, 2);
}
END_TEST

/* One process is still to leave the barrier before. */
START_TEST(told_while_some_leave)
{
    seen.in = 3;
    seen.behind = true;
    ck_assert_uint_eq(stops_present(stops), 3);
    ask(3, 1);
    ck_assert_uint_eq(seen.halts, 1);
    expect_answer(1);
    set(3, 1, 5);
    ck_assert_uint_eq(seen.limit, 5);
    seen.behind = false;
    passed(3);
    ck_assert_uint_eq(seen.stops, 1);
    ck_assert_uint_eq(seen.overs, 0);
}
END_TEST

/* Another Processor Zero says again what a former one has said, which has come to some hosts only:
 * one was asked and is told now, one was not even asked, one has passed that barrier. */
START_TEST(told_by_another_one)
{
    ck_assert_ptr_null(stops_newest(stops));
    seen.in = 2;
    ask(2, 9);
    expect_answer(9);
    set(2, 8, 4);
    ck_assert_uint_eq(seen.limit, 4);
    set(3, 10, 6);
    ck_assert_uint_eq(seen.limit, 4);
    passed(3);
    ck_assert_uint_eq(seen.limit, 6);
    passed(4);
    set(3, 10, 7);
    ck_assert_uint_eq(seen.limit, 6);
    ck_assert_uint_eq(seen.overs, 1);
    ck_assert_uint_eq(stops_newest(stops)->superstep, 3);
    ck_assert_uint_eq(stops_newest(stops)->round, 10);
    ck_assert_uint_eq(stops_newest(stops)->requests[0], 7);
}
END_TEST

/* For another Processor Zero. */
START_TEST(told_without_processes)
{
    seen.none = true;
    set(2, 4, 6);
    set(3, 5, 7);
    ck_assert_uint_eq(seen.halts + seen.stops + seen.overs, 0);
    ck_assert_uint_eq(stops_newest(stops)->superstep, 3);
    ck_assert_ptr_null(stops_answer(stops));
}
END_TEST

/* Those that do not come are named also while they have not left the barrier before, for as long as
 * nobody has passed. */
START_TEST(awaited)
{
    uint64_t superstep = 0;

    seen.in = 1;
    ask(1, 1);
    ck_assert(!stops_awaited(stops, 1, &superstep)); /* nobody knows where to stop */
    set(1, 1, 5);
    ck_assert(stops_awaited(stops, 1, &superstep));
    ck_assert_uint_eq(superstep, 1);
    ck_assert(!stops_awaited(stops, 2, &superstep));
    set(2, 2, 7);
    ck_assert(stops_awaited(stops, 2, &superstep));
    ck_assert_uint_eq(superstep, 2);
    ck_assert(!stops_awaited(stops, 3, &superstep));
}
END_TEST

/* Another Processor Zero needs the last stop for a host that is behind the end. */
START_TEST(all_go_on)
{
    seen.in = 1;
    set(1, 1, 5);
    passed(2);
    set(2, 2, UINT64_MAX);
    ck_assert_uint_eq(seen.limit, UINT64_MAX);
    ck_assert_uint_eq(stops_newest(stops)->superstep, 1);
    ck_assert_uint_eq(stops_newest(stops)->requests[0], 5);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {asked_told_and_gone_on,
                                  asked_again,
                                  behind_several,
                                  told_before_they_come,
                                  awaited,
                                  all_go_on,
                                  told_while_some_leave,
                                  told_by_another_one,
                                  told_without_processes};

    return suite_run_tests("dataspace_stops", tests, sizeof tests / sizeof *tests, set_up,
                           tear_down);
}
