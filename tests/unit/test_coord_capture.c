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

/* The job was to end with it. */
START_TEST(stopped_without_it)
{
    start_cells(with_replicas());
    save_now(true);
    arrived(3, 0, WIRE_BARRIER_SYNC);
    arrived(7, 0, WIRE_BARRIER_SYNC);
    captured(7, 0);
    timer(COORD_TIMER_CAPTURE);
    expect_outcome(123, WIRE_CAUSE_SAVED, COORD_NOBODY);
    ck_assert_ptr_nonnull(
        strstr(coord_outcome(coord).text, "stopped without a new snapshot: host c"));
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
        one_is_late,        the_only_one_left_is_waited_for, late_for_what_has_failed,
        stopped_without_it, late_for_a_former_one,           without_replicas};

    return suite_run_tests("coord_capture", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
