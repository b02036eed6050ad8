/* test_coord_ahead.c - what Processor Zero has hosts restore ahead of a move, and what it waits
 * for.
 */
#include <check.h>
#include <stdlib.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

#define MS UINT64_C(1000000)

static uint64_t superstep;

/* Processes 0 and 1 on host 0, 2 and 3 on host 7, none on host 3. */
static void begin(struct coord_config config)
{
    static const uint32_t hosts[] = {0, 7, 3};

    start(3, config);
    for (uint32_t i = 0; i < 3; i++)
        host_ready(hosts[i], 2);
    registered(0, 4);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    for (uint32_t i = 0; i < 3; i++)
        known(hosts[i], 0);
    for (uint32_t i = 0; i < 3; i++)
        ranks_ready(hosts[i], i < 2 ? 2 : 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    superstep = 0;
    trace_used = 0;
}

static void arrive(void)
{
    arrived(0, superstep, WIRE_BARRIER_SYNC);
    arrived(7, superstep, WIRE_BARRIER_SYNC);
    superstep++;
}

/* The snapshot of the barrier at which all have arrived. */
static void capture(uint64_t takes_ns)
{
    captured(0, superstep - 1);
    captured(7, superstep - 1);
    play_now_ns += takes_ns;
    for (uint32_t pid = 0; pid < 4; pid++)
        durable(pid < 2 ? 0 : 7, superstep, pid);
    persisted(0, superstep, 0);
}

static void all_know(void)
{
    known(0, superstep);
    known(7, superstep);
    known(3, superstep);
}

static void take_round(uint64_t takes_ns)
{
    arrive();
    ck_assert(has_message(WIRE_RELEASE) && !said()->release.last);
    capture(takes_ns);
    all_know();
}

static int move_to(const struct wire_move *moves, uint32_t count)
{
    return SAY(SAVE, .save = {.move = true, .expected = {moves, count}});
}

static const struct wire_move usual[] = {{1, 3}, {2, 3}, {3, 0}};

static int move(void)
{
    return move_to(usual, 3);
}

static int ready(uint32_t host, uint64_t of, uint32_t count)
{
    return SAY(AHEAD_READY, .ahead_ready = {.host = host, .name = {of, 3}, .count = count});
}

/* A snapshot that was quickly written is there. */
static void begin_with_snapshot(struct coord_config config)
{
    begin(config);
    save_now(false);
    take_round(0);
    trace_used = 0;
}

static void check_last(void)
{
    ck_assert(has_message(WIRE_CONSULT));
    arrive();
    ck_assert(has_message(WIRE_RELEASE) && said()->release.last);
    capture(0);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_MOVED);
    tear_down();
}

static const struct wire_move *ahead(uint32_t i)
{
    for (uint32_t k = 0; k < effects.count; k++)
        if (effects.items[k].message.kind == WIRE_AHEAD) {
            ck_assert_uint_lt(i, effects.items[k].message.ahead.moves.count);
            return &effects.items[k].message.ahead.moves.items[i];
        }
    ck_abort_msg("AHEAD was not said");
    return NULL;
}

START_TEST(restored_ahead)
{
    begin(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    ck_assert(has_message(WIRE_CONSULT)); /* there is nothing yet but snapshot 0 */
    take_round(400 * MS);
    ck_assert(!has_message(WIRE_CONSULT));
    ck_assert(ahead(0)->pid == 1 && ahead(1)->host == 3 && ahead(2)->pid == 3);
    trace_used = 0;
    ready(3, 1, 2);
    ready(0, 1, 0); /* it could not, which does no harm */
    expect_trace("event AHEAD_READY term 3 host 3 snapshot 1.3 count 2\n"
                 "event AHEAD_READY term 3 host 0 snapshot 1.3 count 0\n"
                 "  effect CONSULT term 3\n");
    take_round(20 * MS);
    ck_assert(ahead(0)->pid == 1);
    ready(0, 2, 1);
    ready(3, 2, 1);
    check_last();
}
END_TEST

/* The committed snapshot is as good as a round. */
START_TEST(restored_ahead_at_once)
{
    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    expect_trace("event SAVE term 3 and move signal 0\n"
                 "  effect AHEAD term 3 snapshot 1.3 processes 3\n");
    ready(0, 1, 1);
    ready(3, 1, 2);
    check_last();

    /* ... but not until all know of it */
    begin(SAVING(.rule = {POLICY_OFF, 0, 0}));
    save_now(false);
    arrive();
    capture(0);
    known(0, 1);
    move();
    ck_assert(!has_message(WIRE_AHEAD));
    known(7, 1);
    known(3, 1);
    ck_assert(has_message(WIRE_AHEAD));
    tear_down();

    /* ... and if it took long, another one comes first. */
    begin(SAVING(.rule = {POLICY_OFF, 0, 0}));
    save_now(false);
    take_round(400 * MS);
    move();
    ck_assert(!has_message(WIRE_AHEAD) && has_message(WIRE_CONSULT));
    take_round(20 * MS);
    ck_assert(has_message(WIRE_AHEAD));
}
END_TEST

/* Nothing is due for the move until all have answered, whatever time that takes. */
START_TEST(answers_are_awaited)
{
    begin_with_snapshot(SAVING(EVERY(2)));
    move();
    ready(3, 1, 2);
    play_now_ns += 1000000 * MS;
    timer(COORD_TIMER_SNAPSHOT);
    arrive();
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING); /* the policy's, not the last */
    ck_assert(!said()->release.last);
    capture(0);
    all_know();
    ck_assert(!has_message(WIRE_AHEAD) && !has_message(WIRE_CONSULT));
    arrive();
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ready(0, 1, 1);
    ck_assert(has_message(WIRE_AHEAD)); /* of the newer one */
    ready(0, 2, 1);
    ck_assert(!has_message(WIRE_CONSULT));
    ready(3, 2, 2);
    ck_assert(has_message(WIRE_CONSULT));
}
END_TEST

/* What is restored ahead is part of a round, and rounds go on as long as they get shorter. */
START_TEST(its_time_counts)
{
    begin(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    for (uint64_t i = 0; i < 3; i++) {
        static const uint64_t times[] = {1000 * MS, 600 * MS, 500 * MS};
        take_round(20 * MS);
        play_now_ns += times[i];
        ready(0, superstep, 1);
        ready(3, superstep, 2);
    }
    check_last();

    /* ... and not for ever. */
    begin(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    for (uint64_t i = 0; i < 5; i++) {
        take_round(1 * MS);
        play_now_ns += 64000 * MS >> i;
        ready(0, superstep, 1);
        ready(3, superstep, 2);
    }
    check_last();

    /* One that was there counts as the first. */
    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    play_now_ns += 400 * MS;
    ready(0, 1, 1);
    ready(3, 1, 2);
    take_round(20 * MS);
    play_now_ns += 370 * MS;
    ready(0, 2, 1);
    ready(3, 2, 2);
    check_last();
}
END_TEST

START_TEST(what_cannot_be_is_ignored)
{
    static const struct wire_move nonsense[] = {{0, 0}, {3, 7}, {4, 3}, {60000, 3}, {1, 99}};
    static const struct wire_move later[] = {{0, 7}};

    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move_to(nonsense, 5);
    ck_assert(!has_message(WIRE_AHEAD));
    check_last();

    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move_to(NULL, 0);
    check_last();

    /* The newest expectation counts. */
    begin(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    move_to(later, 1);
    take_round(0);
    ck_assert(ahead(0)->pid == 0 && ahead(0)->host == 7);
    ready(7, 1, 1);
    check_last();

    /* Nothing moves with an ordinary snapshot. */
    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    SAY(SAVE, .save = {.expected = {usual, 3}});
    ck_assert(!has_message(WIRE_AHEAD));
}
END_TEST

START_TEST(own_moves_are_restored_ahead)
{
    static struct wire_move own = {1, 7};

    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    timer(COORD_TIMER_SNAPSHOT);
    coord->balancing.moves = &own; /* as if the decision were made at this barrier */
    coord->balancing.move_count = 1;
    coord->wish = COORD_WISH_MOVE;
    arrive();
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert(ahead(0)->pid == 1 && ahead(0)->host == 7);
    ready(7, 1, 1);
    coord->balancing.moves = NULL;
    coord->balancing.move_count = 0;
    check_last();
}
END_TEST

START_TEST(others_do_not_wait)
{
    /* The user wants the end. */
    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    save_now(true);
    ck_assert(has_message(WIRE_CONSULT));
    arrive();
    ck_assert(said()->release.last);
    ready(3, 1, 2);
    capture(0);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
    ready(0, 1, 1);
    ck_assert(effects.dropped);
    tear_down();

    /* All are in bsp_end. */
    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    arrived(0, 1, WIRE_BARRIER_END);
    arrived(7, 1, WIRE_BARRIER_END);
    ck_assert_int_eq(coord_phase(coord), COORD_CLOSING);
    ready(3, 1, 2);
    SAY(CLOSED);
    ready(0, 1, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    tear_down();

    /* A fault ends the term. */
    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    ready(0, 1, 1);
    lost(3);
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_HOST_LOST);
    tear_down();

    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    move();
    abort_job(0, 0, WIRE_CAUSE_ABORT_CALLED, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
}
END_TEST

START_TEST(answers_that_make_no_sense)
{
    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    expect_broken(ready(3, 1, 0)); /* nobody has been told */
    expect_broken(ready(3, 0, 0));
    move();
    ready(3, 0, 2);
    ck_assert(effects.dropped);
    expect_broken(ready(7, 1, 0)); /* nothing is expected there */
    expect_broken(ready(3, 1, 3));
    ready(3, 1, 2);
    expect_broken(ready(3, 1, 2));
    ready(0, 1, 1);
    check_last();
}
END_TEST

/* Images that other hosts keep are full: there would be nothing left to add to them. */
START_TEST(not_where_images_are_full)
{
    begin_with_snapshot(SAVING(.rule = {POLICY_OFF, 0, 0}));
    coord->config.copies = 2;
    move();
    ck_assert(!has_message(WIRE_AHEAD) && has_message(WIRE_CONSULT));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        restored_ahead,     restored_ahead_at_once,     answers_are_awaited,
        its_time_counts,    what_cannot_be_is_ignored,  own_moves_are_restored_ahead,
        others_do_not_wait, answers_that_make_no_sense, not_where_images_are_full,
    };

    return suite_run_tests("coord ahead", tests, sizeof(tests) / sizeof(*tests), NULL, tear_down);
}
