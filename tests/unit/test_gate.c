/* test_gate.c - barriers that Processor Zero decides, as the processes of a host come to them; and
 * what a host knows of these decisions.
 */
#include <check.h>
#include <string.h>

#include "bsprun/agent/core/gate.h"
#include "bsprun/agent/core/known.h"
#include "tests/unit/suite.h"

static struct {
    unsigned answers;
    struct decided last;
    uint64_t consult;
} seen;

static struct gate *gate;

static void on_answer(void *context, const struct decided *decided)
{
    ck_assert_ptr_eq(context, &seen);
    seen.answers++;
    seen.last = *decided;
    seen.consult = decided->consult;
}

static void on_consult(void *context, uint64_t from)
{
    ck_assert_ptr_eq(context, &seen);
    seen.consult = from;
}

static uint64_t on_consults(void *context)
{
    ck_assert_ptr_eq(context, &seen);
    return seen.consult;
}

static const struct gate_calls calls = {
    .answer = on_answer, .consult = on_consult, .consults = on_consults};

static void set_up(void)
{
    memset(&seen, 0, sizeof seen);
    gate = gate_open(&calls, &seen);
    ck_assert_ptr_nonnull(gate);
}

static void tear_down(void)
{
    gate_close(gate);
}

static void decided(uint64_t superstep, uint64_t consult)
{
    ck_assert(gate_add(gate, &(struct decided){.superstep = superstep, .consult = consult}));
}

/* They wait when it is decided; it is decided before they come. */
START_TEST(decided_then_or_before)
{
    gate_consult(gate, 4, WIRE_BARRIER_SYNC);
    decided(3, 5);
    ck_assert_uint_eq(seen.answers, 1);
    ck_assert_uint_eq(seen.last.superstep, 3);
    decided(5, 8);
    decided(8, 9);
    ck_assert_uint_eq(seen.answers, 1);
    gate_consult(gate, 6, WIRE_BARRIER_SYNC);
    ck_assert(gate_take(gate, 5));
    ck_assert_uint_eq(seen.last.consult, 8);
    decided(2, 3); /* late */
    ck_assert_uint_eq(seen.answers, 2);
    gate_forget(gate);
    ck_assert(!gate_take(gate, 8));
}
END_TEST

/* Others are captured: they pass, and wait at the next one. */
START_TEST(ahead_of_a_snapshot)
{
    uint64_t passed;

    gate_consult(gate, 4, WIRE_BARRIER_CALL);
    ck_assert(gate_go_ahead(gate, 3));
    ck_assert(seen.last.snapshot);
    ck_assert(gate_holds(gate, 4));
    ck_assert(gate_ask_again(gate, &passed));
    ck_assert_uint_eq(passed, 3);
    decided(3, 7);
    ck_assert(!gate_holds(gate, 4));
    ck_assert_uint_eq(seen.consult, 7);
    ck_assert_uint_eq(seen.answers, 1);
    ck_assert(gate_go_ahead(gate, 7));
    ck_assert(!gate_ask_again(gate, &passed)); /* they have not come there */
    ck_assert(!gate_holds(gate, 8));
}
END_TEST

/* They come to a barrier that nobody is to decide. */
START_TEST(unasked)
{
    seen.consult = 6;
    gate_consult(gate, 4, WIRE_BARRIER_END);
    ck_assert(!gate_unasked(gate, 3));
    gate_consult(gate, 4, WIRE_BARRIER_CALL); /* others have been told where to stop */
    ck_assert(!gate_unasked(gate, 3));
    ck_assert_uint_eq(seen.answers, 0);
    gate_consult(gate, 5, WIRE_BARRIER_SYNC);
    ck_assert(gate_unasked(gate, 4));
    ck_assert_uint_eq(seen.last.superstep, 4);
    gate_consult(gate, 7, WIRE_BARRIER_SYNC);
    ck_assert(!gate_unasked(gate, 6));
}
END_TEST

/* ---- What is known ---- */

static unsigned missed(const struct known *known, uint64_t decided_up_to, bool ended,
                       struct known_barrier barriers[KNOWN_MISSED_MOST])
{
    const struct wire_taken_over taken = {.decided = decided_up_to, .ended = ended, .consult = 20};

    return known_missed(known, &taken, barriers);
}

START_TEST(what_was_missed)
{
    struct known known = {.next = 6, .runs = true};
    struct known_barrier barriers[KNOWN_MISSED_MOST];

    known_decided(&known, 6, 9, false);
    known_decided(&known, 3, 4, false); /* late */
    ck_assert_uint_eq(known.decided, 7);
    ck_assert_uint_eq(missed(&known, 7, false, barriers), 0);
    ck_assert_uint_eq(missed(&known, 10, false, barriers), 1);
    ck_assert_uint_eq(barriers[0].superstep, 9);
    ck_assert_uint_eq(barriers[0].next, 20);
    ck_assert_uint_eq(missed(&known, 12, true, barriers), 2);
    ck_assert_uint_eq(barriers[0].superstep, 9);
    ck_assert_uint_eq(barriers[0].next, 11);
    ck_assert_uint_eq(barriers[1].superstep, 11);
    ck_assert(barriers[1].ended);
    ck_assert_uint_eq(missed(&known, 10, true, barriers), 1);
    ck_assert(barriers[0].ended);
}
END_TEST

/* Others that have not heard of the newest one learn from this host that it is decided. */
START_TEST(several_were_missed)
{
    const struct wire_taken_over taken = {.decided = 2, .consult = 3},
                                 end = {.decided = 5, .ended = true, .consult = 20};
    struct known known = {.next = 0, .runs = true};
    struct known_barrier barriers[KNOWN_MISSED_MOST];

    ck_assert_uint_eq(known_missed(&known, &taken, barriers), 1);
    known_decided(&known, barriers[0].superstep, barriers[0].next, barriers[0].ended);
    known_caught_up(&known, &taken);
    ck_assert_uint_eq(known.decided, 2);
    ck_assert_uint_eq(known.next, 3);
    known_caught_up(&known, &end);
    ck_assert_uint_eq(known.decided, 5);
    ck_assert(known.ended && known.next == WIRE_NEVER);
}
END_TEST

/* Barriers at calls are named by nothing but HALT. */
START_TEST(missed_at_calls)
{
    struct known known = {.next = WIRE_NEVER, .runs = true, .decided = 3};
    struct known_barrier barriers[KNOWN_MISSED_MOST];

    known_asked(&known, 2); /* by another one, of one that is decided */
    ck_assert_uint_eq(known.next, WIRE_NEVER);
    known_asked(&known, 3);
    ck_assert_uint_eq(missed(&known, 4, false, barriers), 1);
    ck_assert_uint_eq(barriers[0].superstep, 3);
    ck_assert_uint_eq(missed(&known, 5, true, barriers), 2);
    ck_assert_uint_eq(barriers[0].superstep, 3);
    ck_assert_uint_eq(barriers[1].superstep, 4);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {decided_then_or_before, ahead_of_a_snapshot, unasked,
                                  what_was_missed,        several_were_missed, missed_at_calls};

    return suite_run_tests("gate", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
