/* test_coord_balancing.c - when Processor Zero asks for measurements, and what it does with them.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

#define EACH    4u /* processes of each of two hosts with 2 cores */
#define MS      UINT64_C(1000000)
#define STEP_MS 10u /* of a superstep on an idle host */
#define NONE    UINT32_MAX

static struct wire_measure measures[2 * EACH];
static struct wire_traffic traffic[2]; /* of the hosts' processes; 0 bytes: none */
static uint64_t bandwidth;
static uint64_t superstep, busy_ns[2];

static void begin(struct coord_config config)
{
    static const uint32_t hosts[] = {0, 7};

    config.snapshots = config.balance = true;
    config.copies = 2;
    start(2, config);
    for (uint32_t i = 0; i < 2; i++)
        host_ready(hosts[i], 2);
    registered(0, 2 * EACH);
    for (uint32_t i = 0; i < 2; i++)
        durable(hosts[i], 0, 0);
    for (uint32_t i = 0; i < 2; i++)
        persisted(hosts[i], 0, 0);
    for (uint32_t i = 0; i < 2; i++)
        known(hosts[i], 0);
    memset(measures, 0, sizeof(measures));
    superstep = busy_ns[0] = busy_ns[1] = bandwidth = 0;
    memset(traffic, 0, sizeof(traffic));
    for (uint32_t i = 0; i < 2; i++)
        ranks_ready(hosts[i], EACH);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    for (uint32_t pid = 0; pid < 2 * EACH; pid++)
        measures[pid].pid = pid;
}

/* So many supersteps on hosts that leave the job such a share of their cores. */
static void compute(uint64_t steps, const double available[2])
{
    double slowest = available[0] < available[1] ? available[0] : available[1];

    for (uint32_t pid = 0; pid < 2 * EACH; pid++) {
        double ms = STEP_MS / available[pid / EACH];
        measures[pid].ran_ns += steps * STEP_MS * MS / 2; /* two processes share a core */
        measures[pid].work_ns = measures[pid].ran_ns;
        measures[pid].waited_ns += steps * (uint64_t)((ms - STEP_MS / 2.0) * MS);
        measures[pid].compute_ns += steps * (uint64_t)(ms * MS);
    }
    for (uint32_t i = 0; i < 2; i++)
        busy_ns[i] += steps * (uint64_t)(STEP_MS / available[i] * MS);
    play_now_ns += steps * (uint64_t)(STEP_MS / slowest * MS);
    superstep += steps;
}

static int arrive(uint32_t host, uint32_t first, uint32_t count)
{
    struct wire_traffic *sent = &traffic[host > 0];
    struct wire_speed way = {host > 0 ? 0 : 7, bandwidth};

    return SAY(ARRIVE, .envelope.superstep = superstep,
               .arrive = {.host = host,
                          .barrier = WIRE_BARRIER_SYNC,
                          .measures = {measures + first, count},
                          .available = UINT64_C(1) << 33,
                          .busy_ns = busy_ns[host > 0],
                          .busy_steps = superstep,
                          .traffic = {sent, sent->bytes > 0},
                          .ways = {&way, 1}});
}

/* The next look; returns the milliseconds until it was asked for, NONE: that is not soon. */
static uint32_t look(const double available[2], uint32_t count)
{
    uint64_t due_ns = coord_balancing_due_ns(coord), begun_ns = play_now_ns;

    if (due_ns > 1000000 * MS)
        return NONE;
    trace_used = 0;
    while (play_now_ns < begun_ns + due_ns)
        compute(1, available);
    timer(COORD_TIMER_SNAPSHOT);
    ck_assert(said()->kind == WIRE_CONSULT && said()->consult.measure);
    compute(1, available);
    arrive(0, 0, count);
    arrive(7, EACH, count);
    return (uint32_t)(due_ns / MS);
}

static const double idle[] = {1, 1}, slowed[] = {1, 0.3};

/* The job goes on for so many milliseconds, or until processes are to move: Processor Zero glances
 * at the superstep of its own processes, and is told what it asks for.  Returns the looks. */
static uint32_t go_on(const double available[2], uint64_t ms, bool glances)
{
    uint64_t end_ns = play_now_ns + ms * MS, glance_ns = play_now_ns;
    uint32_t looks = 0;

    while (play_now_ns < end_ns && coord_phase(coord) == COORD_RUNNING) {
        trace_used = 0;
        compute(1, available);
        if (glances && play_now_ns >= glance_ns) {
            glance_ns = play_now_ns + 251 * MS;
            coord_glance(coord, play_now_ns, superstep, &effects);
            ck_assert(has_effect(COORD_EFFECT_SET_TIMER));
        }
        if (coord->asked == false && coord_balancing_due_ns(coord) == 0)
            timer(COORD_TIMER_SNAPSHOT);
        if (!coord->asked)
            continue;
        compute(1, available);
        arrive(0, 0, EACH);
        arrive(7, EACH, EACH);
        looks++;
    }
    return looks;
}

START_TEST(a_slow_host_is_left)
{
    uint32_t looks = 0;

    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    for (; looks < 20; looks++)
        look(idle, EACH);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    for (; coord_phase(coord) == COORD_RUNNING && looks < 60; looks++)
        look(slowed, EACH);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert(said()->kind == WIRE_RELEASE && said()->release.decision == WIRE_DECISION_SNAPSHOT);
    ck_assert_uint_eq(look(slowed, EACH), NONE);
    captured(0, superstep);
    captured(7, superstep);
    for (uint32_t pid = 0; pid < 2 * EACH; pid++) {
        durable(0, superstep + 1, pid);
        durable(7, superstep + 1, pid);
    }
    persisted(0, superstep + 1, 0);
    persisted(7, superstep + 1, 0);
    struct coord_outcome outcome = coord_outcome(coord);
    ck_assert(outcome.cause == WIRE_CAUSE_MOVED && outcome.again);
    ck_assert(outcome.moves.count > 0 && outcome.moves.count < EACH);
    ck_assert(outcome.moving_seconds > 0);
    for (uint32_t i = 0; i < outcome.moves.count; i++)
        ck_assert(outcome.moves.items[i].host == 0 && outcome.moves.items[i].pid >= EACH);
}
END_TEST

/* A look would stop all processes and measure nothing. */
START_TEST(a_program_saved_at_its_calls_is_not_measured)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    ck_assert_uint_lt(coord_balancing_due_ns(coord), 1000 * MS);
    compute(1, idle);
    timer(COORD_TIMER_SNAPSHOT);
    arrived(0, superstep, WIRE_BARRIER_CALL);
    arrived(7, superstep, WIRE_BARRIER_CALL);
    ck_assert(said()->kind == WIRE_RELEASE && said()->release.decision == WIRE_DECISION_GO);
    ck_assert(coord_balancing_due_ns(coord) == POLICY_NEVER);
    ck_assert_uint_eq(coord->facts.superstep_ns, 0);
    coord_glance(coord, play_now_ns, superstep + 1, &effects);
    ck_assert(!has_effect(COORD_EFFECT_SET_TIMER));
}
END_TEST

/* In one step, though looks have become seldom: with 2 of 4 processes the host is as quick as the
 * other one with 6. */
START_TEST(a_change_is_noticed_at_once)
{
    struct balance_rule seldom = BALANCE_RULE;

    seldom.alpha_most = 100000;
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}, .balance_rule = &seldom));
    go_on(idle, 120000, true);
    while (coord_balancing_due_ns(coord) < 7000 * MS)
        go_on(idle, 100, true);
    uint64_t before_ns = play_now_ns;
    go_on(slowed, 8000, true);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    printf("%llu ms\n", (unsigned long long)((play_now_ns - before_ns) / MS));
    ck_assert_uint_le(play_now_ns - before_ns, 2500 * MS);
    ck_assert_uint_eq(coord->balancing.move_count, 2);
}
END_TEST

/* Somebody has asked for a snapshot: its barrier is decided first, and the next one is a look. */
START_TEST(a_change_while_a_barrier_is_decided)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    go_on(idle, 120000, true);
    while (!coord->balancing.noticed && superstep < 100000) {
        coord->asked = true; /* hosts have not answered yet */
        compute(26, slowed);
        coord_glance(coord, play_now_ns, superstep, &effects);
        ck_assert(!has_message(WIRE_CONSULT));
    }
    ck_assert(coord->balancing.noticed);
    compute(1, slowed);
    arrive(0, 0, 0);
    arrive(7, EACH, 0);
    ck_assert(said()->kind == WIRE_RELEASE && said()->release.measure);
}
END_TEST

/* A look in the middle of a change sees neither what was nor what is. */
START_TEST(before_and_after_are_not_mixed)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    look(idle, EACH);
    for (uint32_t looks = 0; looks < 40; looks++)
        look(idle, EACH);
    compute(coord_balancing_due_ns(coord) / MS / STEP_MS / 2, idle);
    look(slowed, EACH);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_uint_le(look(slowed, EACH), 1100);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert_uint_eq(coord->balancing.move_count, 2);
}
END_TEST

/* A host that is slow for no longer than a move would take. */
START_TEST(a_change_that_is_none)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    for (uint32_t times = 0; times < 10; times++) {
        go_on(idle, 60000, true);
        go_on(slowed, 1200, true);
    }
    go_on(idle, 60000, true);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* The program computes longer, on all hosts: that is looked at, once. */
START_TEST(longer_everywhere)
{
    static const double longer[] = {0.2, 0.2};

    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    go_on(idle, 120000, true);
    uint32_t before = coord->balancing.looks;
    for (uint32_t pid = 0; pid < 2 * EACH; pid++)
        measures[pid].bound = true;
    go_on(longer, 3000, true);
    ck_assert_uint_ge(coord->balancing.looks, before + 2);
    go_on(longer, 120000, true);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_uint_le(coord->balancing.looks, before + 200);
}
END_TEST

/* Processor Zero is on a host without processes. */
START_TEST(nothing_to_glance_at)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    go_on(idle, 120000, true);
    for (uint32_t i = 0; i < 20; i++) {
        play_now_ns += 251 * MS;
        coord_glance(coord, play_now_ns, COORD_NEVER, &effects);
        ck_assert(!has_message(WIRE_CONSULT) && has_effect(COORD_EFFECT_SET_TIMER));
    }
}
END_TEST

/* When the links have timed no superstep between two looks, the second one says nothing. */
START_TEST(nothing_timed)
{
    uint64_t timed;

    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    go_on(idle, 5000, true);
    uint32_t looks = coord->balancing.looks;
    play_now_ns += coord_balancing_due_ns(coord);
    timer(COORD_TIMER_SNAPSHOT);
    timed = superstep;
    superstep = coord->balancing.pasts[0].busy_steps;
    compute(0, idle);
    SAY(ARRIVE, .envelope.superstep = timed,
        .arrive = {.host = 0,
                   .measures = {measures, EACH},
                   .available = UINT64_C(1) << 33,
                   .busy_ns = busy_ns[0],
                   .busy_steps = superstep});
    superstep = timed;
    arrive(7, EACH, EACH);
    ck_assert_uint_eq(coord->balancing.looks, looks);
    ck_assert_uint_eq(coord->balancing.misses, 1);
    ck_assert_uint_gt(coord_balancing_due_ns(coord), 0);
}
END_TEST

START_TEST(nothing_is_gained)
{
    uint32_t looks = 0;

    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    while (play_now_ns < 600000 * MS && looks < 100000) {
        look(idle, EACH);
        looks++;
    }
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_uint_gt(looks, 100);
    ck_assert_uint_lt(looks, 2000); /* seldom, in ten minutes */
}
END_TEST

/* Placement has left them on a drained host, as their images fit on no other.  What they hold in
 * memory may be less, and would fit: if that counted they would go, be put back, and so on. */
START_TEST(who_was_left_on_a_drained_host_stays)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    coord->hosts[1].drained = true;
    for (uint32_t pid = 0; pid < 2 * EACH; pid++)
        measures[pid].bytes = UINT64_C(1) << 20;
    for (uint32_t looks = 0; looks < 60; looks++)
        look(slowed, EACH);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

START_TEST(processes_that_are_bound_stay)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    for (uint32_t pid = 0; pid < 2 * EACH; pid++)
        measures[pid].bound = true;
    for (uint32_t looks = 0; looks < 60; looks++)
        look(slowed, EACH);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* Processes 1 and 6 send each other 1 MB, over a line of 10 MB/s: more than all the rest takes.
 * Another one may go back for the one that comes. */
START_TEST(who_talks_comes_together)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    traffic[0] = (struct wire_traffic){1, 6, 1000000};
    traffic[1] = (struct wire_traffic){6, 1, 1000000};
    bandwidth = 10000000;
    for (uint32_t looks = 0; looks < 60 && coord_phase(coord) == COORD_RUNNING; looks++) {
        play_now_ns += 100 * MS;
        look(idle, EACH);
    }
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    uint32_t of_pair = 0;
    for (uint32_t i = 0; i < coord->balancing.move_count; i++)
        of_pair += coord->balancing.moves[i].pid == 1 || coord->balancing.moves[i].pid == 6;
    ck_assert_uint_eq(of_pair, 1);
    ck_assert_uint_le(coord->balancing.move_count, 2);
}
END_TEST

/* The same over a way of which nothing is known. */
START_TEST(unknown_ways_move_nobody)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    traffic[0] = (struct wire_traffic){1, 6, 1000000};
    for (uint32_t looks = 0; looks < 60; looks++)
        look(idle, EACH);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* A program that waits for something else than a processor needs none. */
START_TEST(sleepers_are_not_slow)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    for (uint32_t looks = 0; looks < 60; looks++) {
        for (uint32_t pid = EACH; pid < 2 * EACH; pid++)
            measures[pid].compute_ns += 1000 * MS;
        busy_ns[1] += 1000 * MS;
        play_now_ns += 1000 * MS;
        look(idle, EACH);
    }
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

START_TEST(hosts_that_cannot_measure)
{
    uint32_t last = 0;

    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    for (uint32_t looks = 0; looks < 12; looks++)
        last = look(slowed, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_uint_ge(last, 10000);
}
END_TEST

/* Measurements of one barrier do not complete those of another. */
START_TEST(half_a_look_is_none)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    for (uint32_t half = 0; half < 2; half++) {
        play_now_ns += coord_balancing_due_ns(coord);
        compute(1, idle);
        timer(COORD_TIMER_SNAPSHOT);
        if (half == 0)
            SAY(SAVE, .save = {.stop = false}); /* no look, with this wish */
        arrive(0, 0, half == 0 ? EACH : 0);
        arrive(7, EACH, half == 0 ? 0 : EACH);
        if (half > 0)
            break;
        captured(0, superstep);
        captured(7, superstep);
        for (uint32_t pid = 0; pid < 2 * EACH; pid++) {
            durable(0, superstep + 1, pid);
            durable(7, superstep + 1, pid);
        }
        persisted(0, superstep + 1, 0);
        persisted(7, superstep + 1, 0);
        known(0, superstep + 1);
        known(7, superstep + 1);
    }
    ck_assert_uint_eq(coord->balancing.looks, 0);
    ck_assert_uint_eq(coord->balancing.misses, 1);
}
END_TEST

/* After a move none follows for ten times what it took. */
START_TEST(moves_are_not_in_a_hurry)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}, .moving_seconds = 2));
    ck_assert_uint_ge(look(slowed, EACH), 10 * 100);
}
END_TEST

/* 17 % of 400 s are 68 s, and those of the 300 s here not yet 60 s: how long this term has run
 * says little. */
START_TEST(the_budget_is_of_the_whole_job)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}, .moving_seconds = 60, .passed_seconds = 400));
    go_on(slowed, 30000, true);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    tear_down();
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}, .moving_seconds = 60, .passed_seconds = 300));
    go_on(slowed, 30000, true);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* Whatever ends a term, the next one is told how long the job has run, with the time in which
 * nothing is moved as something has been. */
START_TEST(the_time_that_has_passed_is_told)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}, .moving_seconds = 60, .passed_seconds = 1000));
    ck_assert_double_eq(coord_outcome(coord).passed_seconds, 1000);
    uint64_t begun_ns = play_now_ns;
    go_on(idle, 20000, true);
    killed(7, EACH, SIGSEGV);
    double passed = coord_outcome(coord).passed_seconds - 1000;
    double run = (double)(play_now_ns - begun_ns) / 1e9;
    ck_assert_msg(passed > run - 1 && passed <= run, "%f s of %f s", passed, run);
}
END_TEST

/* Whether the snapshot that is taken when a slow host is to be left is the last one. */
static bool moves_at_once(uint64_t bytes)
{
    bool last;

    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    coord->config.copies = 1;
    for (uint32_t pid = 0; pid < 2 * EACH; pid++)
        measures[pid].bytes = bytes;
    for (uint32_t looks = 0; coord_phase(coord) == COORD_RUNNING && looks < 60; looks++)
        look(slowed, EACH);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    last = said()->release.last;
    tear_down();
    return last;
}

/* Others before it would save writing what is there already. */
START_TEST(little_memory_moves_at_once)
{
    ck_assert(moves_at_once(UINT64_C(16) << 20 >> 2));
    ck_assert(!moves_at_once((UINT64_C(16) << 20 >> 2) + 4096));
}
END_TEST

/* The looks until processes move: what earlier jobs have seen of the second host is `before`, 0:
 * nothing, and it leaves the job 0.3. */
static uint32_t looks_with(double before)
{
    struct share_sums earlier[2] = {{0}, {0}};
    uint32_t looks = 0;

    share_add(&earlier[0], 1, 3600);
    share_add(&earlier[1], before, before > 0 ? 3600 : 0);
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}, .earlier = earlier));
    for (; coord_phase(coord) == COORD_RUNNING && looks < 60; looks++)
        look(slowed, EACH);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    uint32_t count = coord->balancing.move_count;
    ck_assert(count == 2 && coord->balancing.moves[0].host == 0);
    tear_down();
    return looks;
}

/* What earlier jobs have seen is the past of a host until this job has seen otherwise, and that was
 * confirmed. */
START_TEST(earlier_jobs_are_the_past)
{
    uint32_t nothing = looks_with(0);

    ck_assert_uint_eq(looks_with(0.3), nothing);
    uint32_t otherwise = looks_with(1);
    ck_assert(otherwise >= nothing && otherwise <= nothing + 2);
}
END_TEST

START_TEST(shares_are_told)
{
    struct wire_real numbers[ESTIMATE_NUMBERS];

    begin(CONFIG(.rule = {POLICY_OFF, 0, 0},
                 .balance_rule = &(struct balance_rule){
                     .margin = 1e6, .alpha_least = 4, .alpha_most = 64, .rest = 64, .moves = 1}));
    ck_assert_uint_eq(coord_learned(coord, play_now_ns, numbers).shares.count, 0);
    for (uint32_t looks = 0; looks < 20; looks++)
        look(slowed, EACH);
    struct wire_share_list list = coord_learned(coord, play_now_ns, numbers).shares;
    ck_assert_uint_eq(list.count, 2);
    ck_assert(list.items[0].host == 0 && list.items[1].host == 7);
    ck_assert_double_eq_tol(list.items[0].sum / list.items[0].seconds, 1, 0.05);
    ck_assert_double_eq_tol(list.items[1].sum / list.items[1].seconds, 0.3, 0.05);
    ck_assert(list.items[0].seconds > 2 && list.items[0].seconds < (double)play_now_ns / 1e9);
}
END_TEST

START_TEST(not_everywhere)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    ck_assert_uint_ne(look(idle, EACH), NONE);
    tear_down();
    start(1, SAVING(.rule = {POLICY_OFF, 0, 0}, .balance = true)); /* there is but one host */
    ck_assert_uint_eq(coord_balancing_due_ns(coord), POLICY_NEVER);
}
END_TEST

START_TEST(broken_measurements)
{
    begin(CONFIG(.rule = {POLICY_OFF, 0, 0}));
    play_now_ns += 300 * MS;
    timer(COORD_TIMER_SNAPSHOT);
    expect_broken(arrive(0, EACH, EACH)); /* of another host */
    expect_broken(arrive(0, 0, EACH - 1));
    measures[1].pid = 0;
    expect_broken(arrive(0, 0, EACH)); /* twice */
    measures[1].pid = 4000;
    expect_broken(arrive(0, 0, EACH));
    measures[1].pid = 1;
    traffic[0] = (struct wire_traffic){0, 2 * EACH, 1};
    expect_broken(arrive(0, 0, EACH)); /* to a process that does not exist */
    traffic[0].bytes = 0;
    ck_assert_int_eq(arrive(0, 0, EACH), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coord balancing");
    TCase *tests = tcase_create("balancing");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, a_slow_host_is_left);
    tcase_add_test(tests, a_program_saved_at_its_calls_is_not_measured);
    tcase_add_test(tests, a_change_is_noticed_at_once);
    tcase_add_test(tests, a_change_while_a_barrier_is_decided);
    tcase_add_test(tests, before_and_after_are_not_mixed);
    tcase_add_test(tests, a_change_that_is_none);
    tcase_add_test(tests, longer_everywhere);
    tcase_add_test(tests, nothing_to_glance_at);
    tcase_add_test(tests, nothing_timed);
    tcase_add_test(tests, who_talks_comes_together);
    tcase_add_test(tests, unknown_ways_move_nobody);
    tcase_add_test(tests, nothing_is_gained);
    tcase_add_test(tests, who_was_left_on_a_drained_host_stays);
    tcase_add_test(tests, processes_that_are_bound_stay);
    tcase_add_test(tests, sleepers_are_not_slow);
    tcase_add_test(tests, hosts_that_cannot_measure);
    tcase_add_test(tests, half_a_look_is_none);
    tcase_add_test(tests, moves_are_not_in_a_hurry);
    tcase_add_test(tests, the_budget_is_of_the_whole_job);
    tcase_add_test(tests, the_time_that_has_passed_is_told);
    tcase_add_test(tests, little_memory_moves_at_once);
    tcase_add_test(tests, earlier_jobs_are_the_past);
    tcase_add_test(tests, shares_are_told);
    tcase_add_test(tests, not_everywhere);
    tcase_add_test(tests, broken_measurements);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
