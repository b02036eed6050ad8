/* test_coord_learn.c - what Processor Zero learns of failures and costs, and decides by it. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

#define SECOND 1000000000u

static struct estimate learned(void)
{
    return coord_estimate(coord, play_now_ns);
}

/* Two hosts with two processes each, snapshot 0 known; time is `at` seconds. */
static void begin(double at, struct coord_config config)
{
    start(2, config);
    play_now_ns = (uint64_t)(at * SECOND);
    host_ready(0, 2);
    host_ready(7, 2);
    registered(0, 4);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    known(0, 0);
    known(7, 0);
    ranks_ready(0, 2);
    ranks_ready(7, 2);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}

/* The pause takes a second, the commit comes three seconds later. */
static void snapshot(uint64_t superstep, uint64_t busy_ns, uint64_t other_busy_ns)
{
    arrived(0, superstep - 1, WIRE_BARRIER_SYNC);
    arrived(7, superstep - 1, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    captured(0, superstep - 1);
    play_now_ns += SECOND;
    captured(7, superstep - 1);
    for (uint32_t pid = 0; pid < 4; pid++)
        durable(pid < 2 ? 0 : 7, superstep, pid);
    play_now_ns += 3ull * SECOND;
    persisted(0, superstep, 0);
    persisted(7, superstep, 0);
    known_with_costs(0, superstep, busy_ns, 0);
    known_with_costs(7, superstep, other_busy_ns, 0);
}

START_TEST(hosts_and_processes_are_watched)
{
    begin(1, SAVING(EVERY(1)));
    play_now_ns += 100ull * SECOND;
    struct estimate estimate = learned();
    ck_assert(estimate.rates[ESTIMATE_HOST].watched == 200);
    ck_assert(estimate.rates[ESTIMATE_PROCESS].watched == 400);
    ck_assert(estimate.rates[ESTIMATE_HOST].seen == 0);
    /* One is lost: it was watched up to there, the other one from there on. */
    lost(7);
    play_now_ns += 10ull * SECOND;
    ck_assert(learned().rates[ESTIMATE_HOST].watched == 210);
    /* Failures are for bsprun to tell. */
    ck_assert(learned().rates[ESTIMATE_HOST].seen == 0);
}
END_TEST

START_TEST(a_clock_that_stands_or_goes_back_adds_nothing)
{
    begin(50, SAVING(EVERY(1)));
    play_now_ns = 20ull * SECOND;
    timer(COORD_TIMER_SNAPSHOT);
    ck_assert(learned().rates[ESTIMATE_HOST].watched == 0);
    play_now_ns = 60ull * SECOND;
    ck_assert(learned().rates[ESTIMATE_HOST].watched == 20);
}
END_TEST

START_TEST(what_bsprun_has_seen_is_added)
{
    struct coord_config config = SAVING(EVERY(1));

    config.estimate.rates[ESTIMATE_HOST].watched = 1000;
    config.seen = (struct coord_seen){.host_seconds = 50, .process_seconds = 70};
    config.seen.failures[ESTIMATE_HOST] = 2;
    config.seen.failures[ESTIMATE_SPLIT] = 1;
    begin(1, config);
    struct estimate estimate = learned();
    ck_assert(estimate.rates[ESTIMATE_HOST].watched == 1050);
    ck_assert(estimate.rates[ESTIMATE_PROCESS].watched == 70);
    ck_assert(estimate.rates[ESTIMATE_HOST].seen == 2);
    ck_assert(estimate.rates[ESTIMATE_SPLIT].seen == 1);
}
END_TEST

START_TEST(a_snapshot_costs_its_pause_and_what_the_mean_host_says)
{
    begin(1, SAVING(EVERY(1)));
    snapshot(1, 4ull * SECOND, 2ull * SECOND);
    struct estimate estimate = learned();
    ck_assert(fabs(estimate.snapshot.mean - (1 + 3)) < 1e-9);
    ck_assert(estimate.snapshot.count == 1);
    ck_assert(fabs(estimate.delay.mean - 3) < 1e-9);
    ck_assert(estimate.delay.count == 1); /* snapshot 0 is none of a barrier */
}
END_TEST

/* Host 0 begins a term that recovers from the loss of a host, 12 s after it. */
static void restore(struct coord_recovery recovery)
{
    struct coord_config config =
        SAVING(.rule = {POLICY_AUTO, 0, 0.05}, .restore = true, .wanted = COORD_NEVER,
               .recover = true, .recovery = recovery);
    static const uint64_t none[1];

    config.estimate.snapshot = (struct estimate_cost){.mean = 0.2, .count = 3};
    config.seen.failures[ESTIMATE_HOST] = 1;
    config.seen.host_seconds = 1000;
    start(1, config);
    play_now_ns = SECOND;
    held(0, 5, 2, (struct wire_numbers){none, 0});
    host_ready(0, 4);
    SAY(TERM_RECORDED);
    play_now_ns += 4ull * SECOND;
    SAY(STAGED, .staged = {.host = 0, .count = 4});
    play_now_ns += 2ull * SECOND;
    ranks_ready(0, 4);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}

START_TEST(a_restore_takes_from_the_loss_to_the_processes_running)
{
    restore((struct coord_recovery){true, ESTIMATE_HOST, 12});
    struct estimate estimate = learned();
    ck_assert(fabs(estimate.restores[ESTIMATE_HOST].mean - 18) < 1e-9);
    ck_assert(estimate.restores[ESTIMATE_HOST].count == 1);
    ck_assert(estimate.restores[ESTIMATE_PROCESS].count == 0);
    tear_down();
    /* One that bsprun was started for recovers from nothing. */
    restore((struct coord_recovery){false, ESTIMATE_HOST, 12});
    ck_assert(learned().restores[ESTIMATE_HOST].count == 0);
}
END_TEST

START_TEST(the_interval_follows_from_it)
{
    enum wire_why why;

    restore((struct coord_recovery){true, ESTIMATE_HOST, 12});
    /* One failure in 1007 host seconds of one host, 0.2 s for a snapshot: sqrt(2 * 0.2 * 1007). */
    double interval = (double)coord_interval(coord, &why) / SECOND;
    ck_assert_int_eq(why, WIRE_WHY_BEST);
    ck_assert_msg(interval > 19 && interval < 21, "%g", interval);
    ck_assert(has_effect(COORD_EFFECT_SET_TIMER));
    ck_assert(fabs((double)effects.items[effects.count - 1].milliseconds / 1e3 - interval) < 0.1);
}
END_TEST

START_TEST(why_it_is_just_so_long)
{
    struct coord_config config = SAVING(.rule = {POLICY_AUTO, 0, 0.05});
    enum wire_why why;

    begin(1, SAVING(.rule = {POLICY_OFF, 0, 0}));
    ck_assert_uint_eq(coord_interval(coord, &why), POLICY_NEVER);
    ck_assert_int_eq(why, WIRE_WHY_OFF);
    tear_down();
    begin(1, SAVING(.rule = {POLICY_TIME, 7, 0}));
    ck_assert_uint_eq(coord_interval(coord, &why), 7);
    ck_assert_int_eq(why, WIRE_WHY_ASKED);
    tear_down();
    begin(1, config);
    ck_assert_uint_eq(coord_interval(coord, &why), 0);
    ck_assert_int_eq(why, WIRE_WHY_FIRST);
    snapshot(1, 0, 0);
    coord_interval(coord, &why);
    ck_assert_int_eq(why, WIRE_WHY_OVERHEAD);
    tear_down();
    /* A second for a snapshot, failures every 10 s: 4 s, but the commit takes 3. */
    estimate_prior(&config.estimate, ESTIMATE_HOST, 4, 10);
    begin(1, config);
    snapshot(1, 0, 0);
    ck_assert_uint_eq(coord_interval(coord, &why), 3ull * SECOND);
    ck_assert_int_eq(why, WIRE_WHY_COMMIT);
    tear_down();
    config.rule.bounded = true;
    begin(1, config);
    snapshot(1, 0, 0);
    ck_assert_uint_eq(coord_interval(coord, &why), 19ull * SECOND);
    ck_assert_int_eq(why, WIRE_WHY_BOUND);
}
END_TEST

START_TEST(a_restore_is_guessed_from_a_reading)
{
    struct coord_config config = SAVING(EVERY(1));

    config.notice = 10;
    begin(1, config);
    arrived(0, 0, WIRE_BARRIER_SYNC);
    arrived(7, 0, WIRE_BARRIER_SYNC);
    captured(0, 0);
    captured(7, 0);
    for (uint32_t pid = 0; pid < 4; pid++)
        durable(pid < 2 ? 0 : 7, 1, pid);
    persisted(0, 1, 0);
    persisted(7, 1, 0);
    /* Images of 100 to 103 bytes: host 0 has 201, host 7 205, at 10 bytes in a second and at 41. */
    SAY(KNOWN, .envelope.superstep = 1,
        .known = {.host = 0, .read_bytes = 20, .read_ns = 2ull * SECOND});
    ck_assert(fabs(learned().restores[ESTIMATE_PROCESS].mean - 20.1) < 1e-9);
    SAY(KNOWN, .envelope.superstep = 1, .known = {.host = 7, .read_bytes = 41, .read_ns = SECOND});
    ck_assert(fabs(learned().restores[ESTIMATE_PROCESS].mean - 20.1) < 1e-9);
    ck_assert(fabs(learned().restores[ESTIMATE_HOST].mean - 30.1) < 1e-9);
    ck_assert(learned().restores[ESTIMATE_HOST].count == 0);
}
END_TEST

START_TEST(supersteps_are_timed_between_decisions)
{
    begin(1, SAVING(.rule = {POLICY_AUTO, 0, 0.05}, .consult_every = 10));
    play_now_ns += 4ull * SECOND;
    arrived(0, 0, WIRE_BARRIER_SYNC);
    arrived(7, 0, WIRE_BARRIER_SYNC);
    ck_assert_uint_eq(coord->facts.superstep_ns, 4ull * SECOND);
    captured(0, 0);
    play_now_ns += SECOND;
    captured(7, 0); /* the pause is none of a superstep */
    play_now_ns += 18ull * SECOND;
    ck_assert_int_eq(arrived(0, 9, WIRE_BARRIER_SYNC), 0);
    arrived(7, 9, WIRE_BARRIER_SYNC);
    ck_assert_uint_eq(coord->facts.superstep_ns, 2ull * SECOND);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {hosts_and_processes_are_watched,
                                  a_clock_that_stands_or_goes_back_adds_nothing,
                                  what_bsprun_has_seen_is_added,
                                  a_snapshot_costs_its_pause_and_what_the_mean_host_says,
                                  a_restore_takes_from_the_loss_to_the_processes_running,
                                  the_interval_follows_from_it,
                                  why_it_is_just_so_long,
                                  a_restore_is_guessed_from_a_reading,
                                  supersteps_are_timed_between_decisions};

    return suite_run_tests("coord learn", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
