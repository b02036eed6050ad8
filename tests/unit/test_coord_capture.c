/* test_coord_capture.c - Processor Zero: hosts whose processes have replicas, and are not captured
 * for a snapshot in time. */
#include <check.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

#define HEARTBEAT_S 3

/* Hosts 3 and 7 are to capture, of 0 and 3, and of 7 and 5. */
static void start_capturing(struct coord_config config)
{
    start_cells(config);
    arrived(3, coord->consult, WIRE_BARRIER_SYNC);
    arrived(7, coord->consult, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert_uint_eq(coord->superstep, 0);
}

static struct coord_config with_replicas(void)
{
    return SAVING(EVERY(1), .replicas = 2, .by_node = true, .notice = HEARTBEAT_S,
                  .stop_on_failure = true, .stop_on_late_failure = true);
}

/* Of COORD_TIMER_CAPTURE; 0: it is not set. */
static uint64_t set_ms(void)
{
    for (uint32_t i = 0; i < effects.count; i++)
        if (effects.items[i].kind == COORD_EFFECT_SET_TIMER &&
            effects.items[i].timer == COORD_TIMER_CAPTURE)
            return effects.items[i].milliseconds;
    return 0;
}

/* The others go on, and the next snapshot is of those; there is more time for it. */
START_TEST(one_is_late)
{
    start_capturing(with_replicas());
    uint64_t patience_ms = set_ms();

    ck_assert_uint_ge(patience_ms, 2000 * HEARTBEAT_S);
    captured(7, 0);
    ck_assert_uint_eq(set_ms(), patience_ms); /* from then on */
    durable(7, 1, 1);
    trace_used = 0;
    play_now_ns += UINT64_C(6001000000);
    timer(COORD_TIMER_CAPTURE);
    expect_trace("event TIMER term 3 capture\n"
                 "  CAPTURING -> RUNNING\n"
                 "  effect ABANDON term 3 snapshot 1.3\n"
                 "  effect RESUME term 3 superstep 0 consult 1\n");
    ck_assert_ptr_nonnull(strstr(message_of(WIRE_UNSAVED)->unsaved.text,
                                 "host c has not captured its processes for 6.0 s"));
    ck_assert(coord_host_alive(coord, 3));
    ck_assert_int_eq(captured(3, 0), 0); /* it did not know yet */
    ck_assert(effects.dropped);
    ck_assert_int_eq(durable(3, 1, 0), 0);
    ck_assert(effects.dropped);

    arrived(0, 1, WIRE_BARRIER_SYNC);
    arrived(5, 1, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert_uint_eq(set_ms(), 2 * patience_ms);
    ck_assert_int_eq(captured(3, 0), 0);
    ck_assert(effects.dropped);
    captured(0, 1);
    captured(5, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    timer(COORD_TIMER_CAPTURE);
    ck_assert(effects.dropped);
    durable(0, 2, 0);
    durable(5, 2, 1);
    persisted(0, 2, 0);
    ck_assert_uint_eq(coord->committed.superstep, 2);
}
END_TEST

/* Without a host that has the same processes nobody could go on. */
START_TEST(the_only_one_left_is_waited_for)
{
    start_capturing(with_replicas());
    lost(0);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    captured(7, 0);
    timer(COORD_TIMER_CAPTURE);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert_uint_gt(set_ms(), 0);
    ck_assert(!has_message(WIRE_ABANDON));
    captured(3, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* The snapshot has failed already, which nobody is told twice. */
START_TEST(late_for_what_has_failed)
{
    start_capturing(SAVING(EVERY(1), .replicas = 2, .by_node = true));
    ck_assert_uint_eq(set_ms(), 20000); /* without a heartbeat */
    image_failed(7, 1, 1, WIRE_CAUSE_RANK_SIGNALLED);
    ck_assert(has_message(WIRE_ABANDON));
    captured(7, 0);
    timer(COORD_TIMER_CAPTURE);
    ck_assert(!has_message(WIRE_ABANDON));
    ck_assert(has_message(WIRE_RESUME));
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* Nobody knows how long the images of a job take that is to stop, which has a limit of its own. */
START_TEST(a_job_that_is_to_stop)
{
    start_cells(with_replicas());
    save_now(true);
    arrived(3, 0, WIRE_BARRIER_SYNC);
    arrived(7, 0, WIRE_BARRIER_SYNC);
    ck_assert(message_of(WIRE_RELEASE)->release.last);
    ck_assert_uint_eq(set_ms(), 0);
    ck_assert(has_effect(COORD_EFFECT_CANCEL_TIMER)); /* that of a snapshot before */
    captured(7, 0);
    ck_assert_uint_eq(set_ms(), 0);
    timer(COORD_TIMER_GRACE);
    expect_outcome(123, WIRE_CAUSE_SAVED, COORD_NOBODY);
    tear_down();

    /* It is said when others wait for one that is late: the next snapshot is the last one. */
    start_capturing(with_replicas());
    save_now(true);
    captured(7, 0);
    ck_assert_uint_gt(set_ms(), 0);
    timer(COORD_TIMER_CAPTURE);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    arrived(0, 1, WIRE_BARRIER_SYNC);
    arrived(7, 1, WIRE_BARRIER_SYNC);
    ck_assert(message_of(WIRE_RELEASE)->release.last);
    captured(0, 1);
    captured(7, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_SAVING);
}
END_TEST

/* A snapshot at the next barrier, of hosts 0 and 7, of which the former needs so long: how long is
 * it waited for? */
static uint64_t limit_of_the_next(uint64_t takes_ns)
{
    uint64_t superstep = coord->consult, limit_ms;

    play_now_ns += 10000000;
    arrived(0, superstep, WIRE_BARRIER_SYNC);
    arrived(7, superstep, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    limit_ms = set_ms();
    captured(7, superstep);
    play_now_ns += takes_ns;
    if (takes_ns / 1000000 > limit_ms) {
        timer(COORD_TIMER_CAPTURE);
        ck_assert_int_eq(captured(0, superstep), 0);
        return limit_ms;
    }
    captured(0, superstep);
    durable(0, superstep + 1, 0);
    durable(7, superstep + 1, 1);
    persisted(0, superstep + 1, 0);
    for (uint32_t i = 0; i < 4; i++)
        known(coord->hosts[i].id, superstep + 1);
    return limit_ms;
}

START_TEST(what_takes_long_is_waited_for)
{
    struct coord_config config = with_replicas();

    start_cells(config);
    ck_assert_uint_eq(limit_of_the_next(20000000000), 6001);
    ck_assert_uint_eq(limit_of_the_next(20000000000), 12002);
    ck_assert_uint_eq(limit_of_the_next(20000000000), 24004);
    ck_assert_uint_eq(limit_of_the_next(20000000000), 40000); /* twice as long as it took */
    ck_assert_uint_eq(limit_of_the_next(50000000000), 40000);
    ck_assert_uint_eq(limit_of_the_next(20000000000), 80000);
    ck_assert_uint_eq(limit_of_the_next(20000000000), 40000); /* as before */
    ck_assert_uint_lt(coord_costs(coord).pause_ns, UINT64_C(21000000000));
    config.estimate = coord_estimate(coord, play_now_ns);
    tear_down();

    start_cells(config); /* the next term knows what snapshots cost */
    ck_assert_uint_eq(limit_of_the_next(20000000000), 40000);
    tear_down();

    start_cells(with_replicas()); /* what was waited for in vain is no price of a snapshot */
    ck_assert_uint_eq(limit_of_the_next(20000000000), 6001);
    ck_assert_uint_lt(coord->facts.spent_ns, UINT64_C(1000000000));
}
END_TEST

/* Another Processor Zero does not wait for longer. */
START_TEST(late_for_a_former_one)
{
    static const uint64_t homes[] = {0, 7}, leads[] = {3, 0, 5, 7};
    struct coord_config config = with_replicas();

    config.recover = true;
    config.predecessor = (struct coord_predecessor){{homes, 2}, {leads, 4}, {0, 3}};
    start(4, config);
    lost(5);
    for (uint32_t host = 0; host <= 7; host += host == 0 ? 3 : 4)
        SAY(ACCOUNT, .account = {.host = host,
                                 .decided = 3,
                                 .consult = 3,
                                 .captures = host == 0 ? 4 : 0,
                                 .committed = {0, 3},
                                 .runs = true});
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert_uint_gt(set_ms(), 0);
    timer(COORD_TIMER_CAPTURE);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_uint_eq(message_of(WIRE_RESUME)->envelope.superstep, 3);
    ck_assert(!has_message(WIRE_ABANDON)); /* as it has told them who takes over */
    ck_assert_int_eq(captured(0, 3), 0);
    ck_assert(effects.dropped);
}
END_TEST

/* Without replicas all wait, and it is an error to be captured when nobody is. */
START_TEST(without_replicas)
{
    start_with_snapshot_0(SAVING(EVERY(1), .notice = HEARTBEAT_S));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert_uint_eq(set_ms(), 0);
    captured(0, 0);
    expect_broken(captured(0, 0));
    tear_down();

    start_cells(with_replicas());
    expect_broken(captured(0, 0));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        one_is_late,           the_only_one_left_is_waited_for, late_for_what_has_failed,
        a_job_that_is_to_stop, what_takes_long_is_waited_for,   late_for_a_former_one,
        without_replicas};

    return suite_run_tests("coord_capture", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
