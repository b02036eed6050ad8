/* test_coord_policy.c - Processor Zero: when snapshots are taken, and which of them count in later
 * terms. */
#include <check.h>
#include <stdlib.h>

#include "coordinator/core/lineage.h"
#include "coordinator/core/policy.h"

START_TEST(when_to_take_one)
{
    struct policy_rule rule = {POLICY_AUTO, 0, 0.05};
    struct policy_facts facts = {.superstep = 1, .now_ns = 1000};
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT); /* the first barrier */
    facts.taken = true;
    facts.last_ns = 1000;
    facts.costs.pause_ns = 5;
    ck_assert_uint_eq(policy_interval_ns(&rule, &facts.costs), 95); /* 5 of 100 */
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.now_ns = 1094;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.now_ns = 1095;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);
    facts.writing = true;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.requested = true;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_WAIT);

    /* Failures every 10 ns: sqrt(2 * 5 * 10), not every 95. */
    facts.costs.between_failures_ns = 10;
    ck_assert_uint_eq(policy_interval_ns(&rule, &facts.costs), 10);
    facts.costs.between_failures_ns = 1000000;
    ck_assert_uint_eq(policy_interval_ns(&rule, &facts.costs), 95);

    /* A copy of each of 1000 pages that change while it is written. */
    struct policy_costs costs = {
        .pause_ns = 10, .commit_ns = 110, .changed_bytes = 4096000, .changed_over_ns = 200};
    ck_assert_uint_eq(policy_cost_ns(&costs), 10 + 500 * 2500);

    rule = (struct policy_rule){POLICY_SUPERSTEPS, 3, 0};
    facts = (struct policy_facts){.superstep = 2};
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.superstep = 3;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);
    facts.writing = true;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_WAIT);
    ck_assert_uint_eq(policy_next(&rule, 4), 6);
    ck_assert_uint_eq(policy_next(&rule, 6), 6);
    ck_assert_uint_eq(policy_next(&rule, UINT64_MAX - 1), POLICY_NEVER);

    rule = (struct policy_rule){POLICY_TIME, 30, 0};
    facts = (struct policy_facts){.superstep = 2, .now_ns = 29};
    ck_assert_uint_eq(policy_due_ns(&rule, &facts), 1);
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
    facts.now_ns = 30;
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_SNAPSHOT);

    rule = (struct policy_rule){POLICY_OFF, 0, 0};
    ck_assert_int_eq(policy_decide(&rule, &facts), POLICY_GO);
}
END_TEST

START_TEST(which_snapshots_count)
{
    struct coord_lineage lineage = {0};
    struct coord_name late = {9, 1}, early = {4, 1}, of_2 = {6, 2}, of_3 = {7, 3};
    ck_assert(coord_lineage_allows(&lineage, late));
    coord_lineage_add(&lineage, 2, (struct coord_name){5, 1});
    ck_assert(!coord_lineage_allows(&lineage, late));
    ck_assert(coord_lineage_allows(&lineage, early));
    ck_assert(coord_lineage_allows(&lineage, of_2));
    coord_lineage_add(&lineage, 3, (struct coord_name){6, 2});
    ck_assert(coord_lineage_allows(&lineage, of_2));
    coord_lineage_add(&lineage, 4, (struct coord_name){2, 1});
    ck_assert_uint_eq(lineage.count, 1); /* says more than the others */
    ck_assert(!coord_lineage_allows(&lineage, of_3));
    ck_assert(!coord_lineage_allows(&lineage, early));
    for (uint32_t i = 0; i < 2 * WIRE_BEGUN_MAX; i++)
        coord_lineage_add(&lineage, 5 + i, (struct coord_name){10 + i, 4 + i});
    ck_assert_uint_eq(lineage.count, WIRE_BEGUN_MAX);
    ck_assert(coord_name_newer((struct coord_name){2, 1}, (struct coord_name){1, 2}));
    ck_assert(coord_name_newer((struct coord_name){2, 2}, (struct coord_name){2, 1}));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coord policy");
    TCase *tests = tcase_create("policy and lineage");
    tcase_add_test(tests, when_to_take_one);
    tcase_add_test(tests, which_snapshots_count);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
