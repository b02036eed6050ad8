/* test_link_spin.c - how long an agent polls its connections, barrier by barrier. */
#include <check.h>

#include "bsprun/link/link_spin.h"
#include "tests/unit/suite.h"

#define NS UINT64_C(100000)

static struct link_spin spin;
static uint64_t quiet_ns;

static void set_up(void)
{
    spin = (struct link_spin){.spin_ns = NS};
    quiet_ns = 1;
}

/* Barriers at which it polls in vain, until it looks only once; then how many with one look follow.
 */
static unsigned in_vain(unsigned *polled)
{
    unsigned looked = 0;

    *polled = 0;
    do {
        ck_assert(link_spin_begin(&spin, &quiet_ns));
        ck_assert_uint_eq(quiet_ns, NS);
        link_spin_in_vain(&spin, quiet_ns);
        ++*polled;
    } while (spin.looks == 0);
    while (spin.looks > 0) {
        ck_assert(link_spin_begin(&spin, &quiet_ns));
        ck_assert_uint_eq(quiet_ns, 0);
        link_spin_in_vain(&spin, quiet_ns);
        looked++;
    }
    return looked;
}

START_TEST(more_and_more_barriers_with_one_look)
{
    static const unsigned looks[] = {1, 3, 7, 15, 31, 31, 31};
    unsigned polled;

    for (unsigned i = 0; i < sizeof looks / sizeof *looks; i++) {
        ck_assert_uint_eq(in_vain(&polled), looks[i]);
        ck_assert_uint_eq(polled, i == 0 ? LINK_SPIN_FEW + 1 : 1);
    }
}
END_TEST

/* A link of which half the answers come in time is polled each time. */
START_TEST(one_that_comes_in_time_counts)
{
    unsigned polled;

    for (unsigned i = 0; i < 100; i++) {
        ck_assert(link_spin_begin(&spin, &quiet_ns));
        ck_assert_uint_eq(quiet_ns, NS);
        if (i % LINK_SPIN_FEW == 0)
            link_spin_came(&spin);
        else
            link_spin_in_vain(&spin, quiet_ns);
    }
    link_spin_came(&spin);
    in_vain(&polled);
    ck_assert(link_spin_begin(&spin, &quiet_ns));
    link_spin_in_vain(&spin, quiet_ns);
    ck_assert(link_spin_begin(&spin, &quiet_ns));
    ck_assert_uint_eq(quiet_ns, 0);
    link_spin_came(&spin); /* at the one look */
    in_vain(&polled);
    ck_assert_uint_eq(polled, LINK_SPIN_FEW + 1);
}
END_TEST

START_TEST(others_need_the_processor)
{
    link_spin_disturbed(&spin);
    for (unsigned i = 0; i < LINK_SPIN_PAUSE; i++)
        ck_assert(!link_spin_begin(&spin, &quiet_ns));
    ck_assert(link_spin_begin(&spin, &quiet_ns));
    ck_assert_uint_eq(quiet_ns, NS);
}
END_TEST

START_TEST(not_at_all)
{
    spin.spin_ns = 0;
    ck_assert(!link_spin_begin(&spin, &quiet_ns));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("link_spin");
    TCase *cases = tcase_create("link_spin");

    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, more_and_more_barriers_with_one_look);
    tcase_add_test(cases, one_that_comes_in_time_counts);
    tcase_add_test(cases, others_need_the_processor);
    tcase_add_test(cases, not_at_all);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
