/* test_link_even.c - whether another host with the same processes comes to barriers in time. */
#include <check.h>

#include "bsprun/link/link_even.h"
#include "tests/unit/suite.h"

#define STEP UINT64_C(22000000)
#define WAY  INT64_C(20000000)

/* Two hosts, each with what it knows of the other; their clocks have nothing in common. */
static struct link_arrivals arrivals[2];
static struct link_even evens[2];
static const uint64_t ahead[2] = {0, UINT64_C(9000000000)};
static uint64_t number;

static void set_up(void)
{
    for (int host = 0; host < 2; host++) {
        arrivals[host] = (struct link_arrivals){0};
        link_even_begin(&evens[host]);
    }
    number = 0;
}

static void arrive(int host, int64_t late)
{
    uint64_t now = ahead[host] + UINT64_C(1000000000) + number * STEP + (uint64_t)late;

    link_arrivals_add(&arrivals[host], number, now);
    link_even_came(&evens[host], &arrivals[host], now);
}

/* What the other one has sent when it arrived, that much later. */
static void hear(int host, int64_t late)
{
    uint64_t sent = UINT64_C(1000000000) + number * STEP + (uint64_t)late;

    link_even_told(&evens[host], evens[1 - host].after_ns);
    link_even_heard(&evens[host], &arrivals[host], number, ahead[host] + sent + (uint64_t)WAY);
}

/* A barrier to which host 1 comes that much later than host 0. */
static void barrier(int64_t late)
{
    number++;
    if (late <= WAY)
        arrive(1, late);
    arrive(0, 0);
    if (late > WAY) {
        hear(1, 0); /* before it has come itself */
        arrive(1, late);
    } else {
        hear(1, 0);
    }
    hear(0, late);
}

static void barriers(unsigned count, int64_t late)
{
    for (unsigned i = 0; i < count; i++)
        barrier(late);
}

START_TEST(who_comes_at_the_same_time_is_even)
{
    barriers(2, 0);
    ck_assert(!link_even_is(&evens[0]) && !link_even_is(&evens[1]));
    barriers(LINK_EVEN_FIRST, 0);
    ck_assert(link_even_is(&evens[0]) && link_even_is(&evens[1]));
    ck_assert_int_eq(evens[0].after_ns, WAY);
    ck_assert_int_eq(evens[1].after_ns, WAY);
}
END_TEST

START_TEST(who_is_late_is_not)
{
    const int64_t lates[] = {(int64_t)STEP / 3, WAY - 1, WAY + 1, 3 * WAY};
    int64_t late = lates[_i];

    barriers(20, 0);
    barriers(2, late);
    ck_assert(!link_even_is(&evens[0]));
    ck_assert(link_even_is(&evens[1])); /* the other way round it is early */
    barriers(LINK_EVEN_FIRST, 0);
    ck_assert(!link_even_is(&evens[0]));
    barriers(LINK_EVEN_FIRST + 1, 0);
    ck_assert(link_even_is(&evens[0]));
}
END_TEST

START_TEST(how_it_begins_does_not_count)
{
    barriers(3, 3 * WAY);
    barriers(LINK_EVEN_FIRST + 2, 0);
    ck_assert(link_even_is(&evens[0]));
}
END_TEST

/* How many barriers it takes until host 1, which is later by more each time, is not even. */
static unsigned drift(void)
{
    unsigned count = 0;

    while (link_even_is(&evens[0]))
        barrier((int64_t)STEP / 100 * ++count);
    return count;
}

static unsigned barriers_until_even(void)
{
    unsigned count = 0;

    while (!link_even_is(&evens[0])) {
        barrier(0);
        count++;
    }
    return count;
}

/* Once it is chance; for long it is as good as never even. */
START_TEST(who_is_always_a_little_late_is_not)
{
    unsigned even = 0;

    barriers(20, 0);
    barrier((int64_t)STEP / 6);
    ck_assert(link_even_is(&evens[0]));
    for (int i = 0; i < 500; i++) {
        barrier((int64_t)STEP / 6);
        even += link_even_is(&evens[0]);
    }
    ck_assert_uint_lt(even, 30);
    ck_assert(link_even_is(&evens[1]));
}
END_TEST

/* Both are even again soon; not so soon if they drift apart again and again. */
START_TEST(who_drifts_is_even_again_soon)
{
    const unsigned waits[] = {LINK_EVEN_FIRST, 2 * LINK_EVEN_FIRST, 4 * LINK_EVEN_FIRST,
                              LINK_EVEN_CALM, LINK_EVEN_CALM};

    barriers(20, 0);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        ck_assert_uint_gt(drift(), 12);
        ck_assert(link_even_is(&evens[1]));
        ck_assert_uint_eq(barriers_until_even(), waits[i]);
    }
    barriers(LINK_EVEN_CALM, 0);
    drift(); /* by chance, as it was in time so often */
    ck_assert_uint_eq(barriers_until_even(), LINK_EVEN_FIRST);
}
END_TEST

/* A stall now and then costs few messages; one of four barriers is another matter. */
START_TEST(who_is_often_late_is_not)
{
    unsigned even = 0;

    barriers(20, 0);
    for (int i = 0; i < 400; i++) {
        barrier(i % 80 == 0 ? (int64_t)STEP / 3 : 0);
        even += link_even_is(&evens[0]);
    }
    ck_assert_uint_gt(even, 340);
    even = 0;
    for (int i = 0; i < 400; i++) {
        barrier(i % 4 == 0 ? (int64_t)STEP / 3 : 0);
        even += link_even_is(&evens[0]);
    }
    ck_assert_uint_eq(even, 0);
}
END_TEST

START_TEST(who_is_far_behind_is_not)
{
    uint64_t behind;

    barriers(20, 0);
    behind = number + 1;
    for (unsigned i = 0; i < 2 * LINK_EVEN_ARRIVALS; i++) {
        number++;
        arrive(0, 0);
    }
    ck_assert(link_even_is(&evens[0]));
    link_even_heard(&evens[0], &arrivals[0], behind, ahead[0] + number * STEP);
    ck_assert(!link_even_is(&evens[0]));
}
END_TEST

START_TEST(what_makes_no_sense_counts_as_nothing)
{
    barriers(20, 0);
    link_even_told(&evens[0], _i == 0 ? INT64_MIN : INT64_MAX - 1);
    ck_assert_int_eq(evens[0].theirs_ns, LINK_EVEN_UNKNOWN);
}
END_TEST

START_TEST(small_delays_do_not_count)
{
    barriers(20, 0);
    for (int i = 0; i < 40; i++) {
        barrier((int64_t)STEP / 12 * (i % 2));
        ck_assert(link_even_is(&evens[0]) && link_even_is(&evens[1]));
    }
}
END_TEST

START_TEST(who_says_nothing_is_not)
{
    for (number = 1; number < 100; number++) {
        arrive(0, 0);
        link_even_heard(&evens[0], &arrivals[0], number, ahead[0] + number * STEP);
        ck_assert(!link_even_is(&evens[0]));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("link_even");
    TCase *cases = tcase_create("link_even");

    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, who_comes_at_the_same_time_is_even);
    tcase_add_loop_test(cases, who_is_late_is_not, 0, 4);
    tcase_add_test(cases, how_it_begins_does_not_count);
    tcase_add_test(cases, who_is_always_a_little_late_is_not);
    tcase_add_test(cases, who_drifts_is_even_again_soon);
    tcase_add_test(cases, who_is_often_late_is_not);
    tcase_add_test(cases, who_is_far_behind_is_not);
    tcase_add_loop_test(cases, what_makes_no_sense_counts_as_nothing, 0, 2);
    tcase_add_test(cases, small_delays_do_not_count);
    tcase_add_test(cases, who_says_nothing_is_not);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
