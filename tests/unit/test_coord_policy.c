/* test_coord_policy.c - Processor Zero: when snapshots are taken, and which of them count in later
 * terms. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "coordinator/core/lineage.h"
#include "coordinator/core/policy.h"
#include "tests/unit/suite.h"

START_TEST(when_to_take_one)
{
    struct policy_rule rule = {POLICY_AUTO, 0, 0.05};
    struct policy_facts facts = {.superstep = 1, .now_ns = 1000};
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT); /* the first barrier */
    facts.taken = true;
    facts.counted = 2;
    facts.last_ns = 1000;
    facts.costs.pause_ns = 5;
    ck_assert_uint_eq(policy_interval_ns(&rule, &facts), 95); /* 5 of 100 */
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.now_ns = 1094;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.now_ns = 1095;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);
    facts.writing = true;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), POLICY_NEVER);
    facts.requested = true;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_WAIT);
    /* With a bound that was given, what has been spent must be earned first, and the next as well:
     * 1090 and 5 need 21900. */
    rule.bounded = true;
    facts = (struct policy_facts){.superstep = 1,
                                  .begun_ns = 1000,
                                  .now_ns = 20000,
                                  .last_ns = 10000,
                                  .spent_ns = 1090,
                                  .taken = true,
                                  .counted = 2,
                                  .costs = {.pause_ns = 5}};
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), 2900);
    rule.bounded = false;
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), 0); /* 95 are over */
    rule.bounded = true;
    facts.counted = 1; /* the next may cost twice as much: 1090 and 10 */
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), 3000);
    facts.counted = 2;
    facts.now_ns = 22900;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);
    /* A long time without barriers does not make up for many close to each other. */
    facts.last_ns = 22890;
    facts.now_ns = 1000000;
    facts.last_ns = 999990;
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), 85);
    facts.spent_ns = UINT64_MAX;
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), POLICY_NEVER);

    rule.bounded = false;
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), 85);

    /* Failures every 10 ns, every millisecond: the optimum, not every 95, whether that is more or
     * less.  An overhead that the user gave is kept in any case. */
    facts.costs.between_failures_ns = 10;
    ck_assert_uint_eq(policy_interval_ns(&rule, &facts), 6);
    facts.costs.between_failures_ns = 1000000;
    ck_assert_uint_eq(policy_interval_ns(&rule, &facts), 3158);
    rule.bounded = true;
    ck_assert_uint_eq(policy_interval_ns(&rule, &facts), 3158);
    facts.costs.between_failures_ns = 10;
    ck_assert_uint_eq(policy_interval_ns(&rule, &facts), 95);

    struct policy_costs costs = {.pause_ns = 10, .busy_ns = 20, .copied_ns = 30};
    ck_assert_uint_eq(policy_cost_ns(&costs), 60);
    costs.busy_ns = UINT64_MAX;
    ck_assert_uint_eq(policy_cost_ns(&costs), POLICY_NEVER);

    rule = (struct policy_rule){POLICY_SUPERSTEPS, 3, 0};
    facts = (struct policy_facts){.superstep = 2};
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.superstep = 3;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);
    facts.writing = true;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_WAIT);
    rule.skips = true;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.requested = true;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.writing = false;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);
    ck_assert_uint_eq(policy_next(&rule, 4), 6);
    ck_assert_uint_eq(policy_next(&rule, 6), 6);
    ck_assert_uint_eq(policy_next(&rule, UINT64_MAX - 1), POLICY_NEVER);

    rule = (struct policy_rule){POLICY_TIME, 30, 0};
    facts = (struct policy_facts){.superstep = 2, .now_ns = 29};
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), 1);
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.now_ns = 30;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);
    facts.writing = true; /* longer than the interval: the processes compute meanwhile */
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), POLICY_NEVER);
    facts.requested = true;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_WAIT);

    rule = (struct policy_rule){POLICY_OFF, 0, 0};
    facts.requested = false;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
}
END_TEST

/* ---- AUTO, once something is known of failures ---------------------------------------------- */

#define SECOND UINT64_C(1000000000)

/* A snapshot costs 20 s, a restore 50 s, one failure in 900 s: every 176.6 s.  At `now` seconds
 * after the last one's resume. */
static struct policy_facts known_facts(double now)
{
    return (struct policy_facts){.superstep = 100,
                                 .begun_ns = 1000 * SECOND,
                                 .last_ns = 2000 * SECOND,
                                 .now_ns = 2000 * SECOND + (uint64_t)(now * 1e9),
                                 .spent_ns = 900 * SECOND, /* more than any bound allows */
                                 .taken = true,
                                 .counted = 3,
                                 .costs = {.pause_ns = 20 * SECOND},
                                 .known = true,
                                 .model = {8 / 7200.0, 20, 50, 5}};
}

static const struct policy_rule automatic = {POLICY_AUTO, 0, 0.05, false};

START_TEST(the_best_interval)
{
    struct policy_facts facts = known_facts(176.6);
    ck_assert_double_eq_tol((double)policy_interval_ns(&automatic, &facts) / 1e9, 176.644, 0.001);
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_GO);
    ck_assert_double_eq_tol((double)policy_due_ns(&automatic, &facts) / 1e9, 0.044, 0.001);
    facts = known_facts(176.7);
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_SNAPSHOT);
    facts.retry_ns = facts.now_ns + 1; /* one has just failed */
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_GO);
    /* Of the time since the resume what the last one cost after it is not useful. */
    facts = known_facts(176.7);
    facts.costs.copied_ns = 6 * SECOND;
    facts.costs.busy_ns = 4 * SECOND;
    ck_assert_double_eq_tol((double)policy_due_ns(&automatic, &facts) / 1e9, 9.944, 0.001);
    facts.counted = 0; /* that was in an earlier term */
    ck_assert_uint_eq(policy_due_ns(&automatic, &facts), 0);
    /* The model counts, not what costs say besides. */
    facts = known_facts(0);
    facts.costs.between_failures_ns = 1;
    ck_assert_double_eq_tol((double)policy_interval_ns(&automatic, &facts) / 1e9, 176.644, 0.001);
}
END_TEST

START_TEST(the_first_one)
{
    struct policy_facts facts = known_facts(0.001);
    facts.taken = false;
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_SNAPSHOT);
    facts.restored = true; /* there is one already, from which the term began */
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_GO);
    facts.now_ns += 177 * SECOND;
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_SNAPSHOT);
    /* Nothing is known, not even what one costs: early. */
    facts =
        (struct policy_facts){.now_ns = 1000, .begun_ns = 999, .last_ns = 999, .restored = true};
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_SNAPSHOT);
}
END_TEST

/* Where supersteps are long, the nearer of the two barriers around the interval. */
START_TEST(the_nearer_barrier)
{
    for (double step = 1; step < 700; step *= 1.13) {
        double taken = 0;
        for (unsigned i = 1; taken == 0; i++) {
            struct policy_facts facts = known_facts(i * step);
            facts.superstep_ns = (uint64_t)(step * 1e9);
            if (policy_decide(&automatic, &facts) == POLICY_SNAPSHOT)
                taken = i * step;
            /* With a timer and a question at the barrier after it, the same. */
            ck_assert((policy_due_ns(&automatic, &facts) == 0) == (taken > 0));
        }
        double other = taken > 176.644 ? taken - step : taken + step;
        if (other > 0.5)
            ck_assert_msg(fabs(taken - 176.644) <= fabs(other - 176.644) + 0.001,
                          "supersteps of %g s: %g, not %g", step, taken, other);
    }
    /* Longer than the interval: at each. */
    struct policy_facts facts = known_facts(0);
    facts.superstep_ns = 400 * SECOND;
    ck_assert_uint_eq(policy_due_ns(&automatic, &facts), 0);
    facts.superstep_ns = UINT64_MAX;
    ck_assert_uint_eq(policy_due_ns(&automatic, &facts), 0);
}
END_TEST

/* One is written at a time: the next not before it is committed, and at the first barrier after. */
START_TEST(slow_commits)
{
    struct policy_facts facts = known_facts(300);
    facts.model.delay = 400;
    facts.writing = true;
    ck_assert_double_eq_tol((double)policy_interval_ns(&automatic, &facts) / 1e9, 400, 0.001);
    ck_assert_uint_eq(policy_due_ns(&automatic, &facts), POLICY_NEVER);
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_GO);
    facts = known_facts(401);
    facts.model.delay = 400;
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_SNAPSHOT);
    /* None is being written when a term goes on from a snapshot: the first comes earlier. */
    facts = known_facts(0);
    facts.model.delay = 400;
    facts.taken = false;
    facts.counted = 0;
    facts.restored = true;
    ck_assert_double_eq_tol((double)policy_due_ns(&automatic, &facts) / 1e9,
                            900 - 400 / expm1(420 / 900.0), 0.001);
}
END_TEST

START_TEST(a_bound_that_was_given)
{
    struct policy_rule rule = {POLICY_AUTO, 0, 0.02, true};
    struct policy_facts facts = known_facts(400);
    facts.spent_ns = 20 * SECOND;
    facts.begun_ns = 0;
    ck_assert_double_eq_tol((double)policy_interval_ns(&rule, &facts) / 1e9, 980, 0.001);
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.now_ns = 2979 * SECOND;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.now_ns = 2980 * SECOND;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);
    facts.spent_ns = 100 * SECOND; /* has to be earned first */
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), (6000 - 2980) * SECOND);
    /* Above the optimum it changes nothing. */
    rule.overhead = 0.5;
    facts = known_facts(176.7);
    facts.spent_ns = 0;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);
    rule.overhead = 0;
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), POLICY_NEVER);
    rule.overhead = 1;
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), 0);
}
END_TEST

/* Nothing ever fails and nothing is known of failures: 5 %, however long. */
START_TEST(no_failures_ever)
{
    struct policy_facts facts = known_facts(379);
    facts.known = false;
    facts.spent_ns = 0;
    facts.begun_ns = 0;
    ck_assert_uint_eq(policy_interval_ns(&automatic, &facts), 380 * SECOND);
    ck_assert_uint_eq(policy_due_ns(&automatic, &facts), SECOND);
    facts.now_ns += UINT64_C(10000000000) * SECOND / 1000; /* four months */
    facts.last_ns = facts.now_ns;
    ck_assert_uint_eq(policy_due_ns(&automatic, &facts), 380 * SECOND);
    /* It is known that nothing does: only the first. */
    facts.known = true;
    facts.model.rate = 0;
    ck_assert_uint_eq(policy_interval_ns(&automatic, &facts), POLICY_NEVER);
    ck_assert_uint_eq(policy_due_ns(&automatic, &facts), POLICY_NEVER);
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_GO);
    facts.taken = false;
    ck_assert_int_eq(policy_decide(&automatic, &facts), POLICY_SNAPSHOT);
}
END_TEST

/* Numbers at the ends of their ranges: an answer, and the same by both functions. */
START_TEST(odd_numbers)
{
    static const double some[] = {0, -1, NAN, INFINITY, 5e-324, 1e-9, 1, 1e9, 1e300};
    static const uint64_t times[] = {0, 1, 1000000, UINT64_C(1) << 62, UINT64_MAX - 1, UINT64_MAX};
    size_t n = sizeof(some) / sizeof(*some), m = sizeof(times) / sizeof(*times);

    for (size_t i = 0; i < n * n * n * m * m; i++) {
        struct policy_facts facts = {
            .superstep = 3,
            .taken = true,
            .counted = i % 3,
            .known = true,
            .model = {some[i % n], some[i / n % n], 1, some[i / n / n % n]},
            .now_ns = times[i / n / n / n % m],
            .last_ns = times[i % m],
            .superstep_ns = times[i / n / n / n / m],
            .costs = {.pause_ns = times[i / n % m], .busy_ns = times[i / n / n % m]},
            .spent_ns = times[i / n % m],
        };
        struct policy_rule rule = automatic;
        rule.bounded = i / 7 % 2;
        bool due = policy_due_ns(&rule, &facts) == 0;
        if ((policy_decide(&rule, &facts) == POLICY_SNAPSHOT) != due)
            ck_abort_msg("%g %g %g", facts.model.rate, facts.model.cost, facts.model.delay);
    }
    /* A cost of 0 and a commit at once: every barrier. */
    struct policy_facts facts = known_facts(0);
    facts.model.cost = facts.model.delay = 0;
    ck_assert_uint_eq(policy_due_ns(&automatic, &facts), 0);
    facts.model.rate = NAN; /* counts as 0 */
    ck_assert_uint_eq(policy_due_ns(&automatic, &facts), POLICY_NEVER);
    /* The clock has gone back: as if no time had passed. */
    facts = known_facts(0);
    facts.now_ns -= 1500 * SECOND;
    ck_assert_double_eq_tol((double)policy_due_ns(&automatic, &facts) / 1e9, 176.644, 0.001);
}
END_TEST

/* A program whose supersteps are of all lengths, with snapshots that cost now less, now more. */
struct made_up {
    uint64_t random;
    uint64_t superstep_ns, cost_ns; /* of this kind of program, about */
    struct policy_facts facts;
    uint64_t cost_most_ns;
};

static double chance(struct made_up *job)
{
    job->random = job->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(job->random >> 11) / (double)(UINT64_C(1) << 53);
}

/* Mostly short, sometimes a thousand times as long. */
static uint64_t about(struct made_up *job, uint64_t ns)
{
    return (uint64_t)((double)ns * pow(1000, pow(chance(job), 3)) / 4);
}

/* What is counted is known a little after the snapshot. */
static void take_made_up(struct made_up *job)
{
    struct policy_facts *facts = &job->facts;
    uint64_t cost = about(job, job->cost_ns);
    double pause = chance(job), busy = chance(job) * (1 - pause);

    facts->costs.pause_ns = (uint64_t)((double)cost * pause);
    facts->costs.busy_ns = (uint64_t)((double)cost * busy);
    facts->costs.copied_ns = cost - facts->costs.pause_ns - facts->costs.busy_ns;
    facts->now_ns += cost;
    facts->last_ns = facts->now_ns;
    facts->spent_ns += cost;
    facts->taken = true;
    facts->counted++;
    if (cost > job->cost_most_ns)
        job->cost_most_ns = cost;
}

/* Never more than the share, but for the first, which is always taken, and for one that has just
 * cost more than the one before. */
START_TEST(overhead_is_bounded)
{
    double share = _i % 3 == 0 ? 0.05 : _i % 3 == 1 ? 0.005 : 0.3;
    struct policy_rule rule = {POLICY_AUTO, 0, share, _i % 2 == 1};
    struct made_up job = {.random = (uint64_t)_i, .facts = {.begun_ns = 7777, .now_ns = 7777}};
    unsigned taken = 0;

    job.superstep_ns = (uint64_t)pow(10, 3 + 5 * chance(&job));
    job.cost_ns = (uint64_t)pow(10, 5 + 3 * chance(&job));
    for (unsigned barriers = 0; barriers < 20000; barriers++) {
        struct policy_facts *facts = &job.facts;

        facts->superstep++;
        facts->now_ns += about(&job, job.superstep_ns);
        if (policy_decide(&rule, facts) == POLICY_SNAPSHOT) {
            take_made_up(&job);
            taken++;
        }
        double run_ns = (double)(facts->now_ns - facts->begun_ns);
        if ((double)facts->spent_ns > share * run_ns + (double)job.cost_most_ns)
            ck_abort_msg("%llu ns of %.0f after %u barriers", (unsigned long long)facts->spent_ns,
                         run_ns, barriers);
        if (barriers == 0)
            ck_assert_uint_eq(taken, 1);
    }
    /* And it is used: with short supersteps a snapshot is taken soon after it can be afforded. */
    double run_ns = (double)(job.facts.now_ns - job.facts.begun_ns);
    if (share * run_ns > 40 * (double)job.cost_most_ns && job.superstep_ns < job.cost_ns)
        ck_assert_double_ge((double)job.facts.spent_ns, share * run_ns / 10);
}
END_TEST

START_TEST(which_snapshots_count)
{
    struct coord_lineage lineage = {0};
    struct bspz_snapshot_name late = {9, 1}, early = {4, 1}, of_2 = {6, 2}, of_3 = {7, 3};
    ck_assert(coord_lineage_allows(&lineage, late));
    coord_lineage_add(&lineage, 2, (struct bspz_snapshot_name){5, 1});
    ck_assert(!coord_lineage_allows(&lineage, late));
    ck_assert(coord_lineage_allows(&lineage, early));
    ck_assert(coord_lineage_allows(&lineage, of_2));
    coord_lineage_add(&lineage, 3, (struct bspz_snapshot_name){6, 2});
    ck_assert(coord_lineage_allows(&lineage, of_2));
    coord_lineage_add(&lineage, 4, (struct bspz_snapshot_name){2, 1});
    ck_assert_uint_eq(lineage.count, 1); /* says more than the others */
    ck_assert(!coord_lineage_allows(&lineage, of_3));
    ck_assert(!coord_lineage_allows(&lineage, early));
    for (uint32_t i = 0; i < 2 * WIRE_BEGUN_MAX; i++)
        coord_lineage_add(&lineage, 5 + i, (struct bspz_snapshot_name){10 + i, 4 + i});
    ck_assert_uint_eq(lineage.count, WIRE_BEGUN_MAX);
    ck_assert(
        bspz_snapshot_newer((struct bspz_snapshot_name){2, 1}, (struct bspz_snapshot_name){1, 2}));
    ck_assert(
        bspz_snapshot_newer((struct bspz_snapshot_name){2, 2}, (struct bspz_snapshot_name){2, 1}));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coord policy");
    TCase *tests = tcase_create("policy and lineage");
    tcase_add_test(tests, when_to_take_one);
    tcase_add_loop_test(tests, overhead_is_bounded, 0, 60);
    tcase_add_test(tests, the_best_interval);
    tcase_add_test(tests, the_first_one);
    tcase_add_test(tests, the_nearer_barrier);
    tcase_add_test(tests, slow_commits);
    tcase_add_test(tests, a_bound_that_was_given);
    tcase_add_test(tests, no_failures_ever);
    tcase_add_test(tests, odd_numbers);
    tcase_add_test(tests, which_snapshots_count);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
