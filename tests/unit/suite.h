/* suite.h - how every program of unit tests ends: its suite is run, and what failed is its status.
 */
#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

#include <check.h>
#include <stdlib.h>

/* The exit status of the program.  The suite is freed. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The same for tests that have one fixture in common, or none (NULL). */
static inline int suite_run_tests(const char *name, const TTest *const *tests, size_t count,
                                  SFun set_up, SFun tear_down)
{
    Suite *suite = suite_create(name);
    TCase *cases = tcase_create(name);

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60); /* what hangs is told from a machine that has much else to do */
    for (size_t i = 0; i < count; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}

#endif
