/* test_traffic.c - what processes exchange, as looks see it, and the ways between hosts. */
#include <check.h>

#include "coordinator/core/traffic.h"
#include "coordinator/core/ways.h"
#include "tests/unit/suite.h"

#define LENGTH(array)   (sizeof(array) / sizeof(*(array)))
#define EQ(left, right) ck_assert_double_eq_tol(left, right, 1e-9 * (1 + (right)))
#define MOST            6u
#define HOSTS           4u

static struct traffic traffic;
static struct ways ways;

static void set_up(void)
{
    ck_assert_int_eq(traffic_begin(&traffic, MOST), 0);
    ck_assert_int_eq(ways_begin(&ways, HOSTS), 0);
}

static void tear_down(void)
{
    traffic_end(&traffic);
    ways_end(&ways);
}

static double of(uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < traffic.count; i++)
        if (traffic.pairs[i].from == from && traffic.pairs[i].to == to)
            return traffic.pairs[i].bytes;
    return 0;
}

/* Each host tells of its own processes, in any order; a pair may be told of by both. */
START_TEST(pairs_add_up)
{
    traffic_see(&traffic, 2, 1, 100);
    traffic_see(&traffic, 0, 1, 10);
    traffic_see(&traffic, 2, 1, 1000);
    traffic_see(&traffic, 1, 1, 7); /* not over any way */
    traffic_look(&traffic);
    ck_assert_uint_eq(traffic.count, 2);
    EQ(of(0, 1), 10);
    EQ(of(2, 1), 1100);
    ck_assert_uint_eq(traffic.pairs[0].from, 0);
}
END_TEST

/* Every second superstep has no messages, and a third pair talks for the first time late. */
START_TEST(looks_have_a_mean)
{
    for (uint32_t look = 0; look < 8; look++) {
        if (look % 2 == 0)
            traffic_see(&traffic, 0, 1, 1000);
        if (look == 7)
            traffic_see(&traffic, 3, 2, 800);
        traffic_look(&traffic);
    }
    EQ(of(0, 1), 500);
    EQ(of(3, 2), 100);
}
END_TEST

/* A program that talks to others from some superstep on. */
START_TEST(the_past_is_forgotten)
{
    for (uint32_t look = 0; look < 100; look++) {
        traffic_see(&traffic, 0, 1, 1000);
        traffic_look(&traffic);
    }
    for (uint32_t look = 0; look < 4 * TRAFFIC_LOOKS; look++) {
        traffic_see(&traffic, 0, 2, 1000);
        traffic_look(&traffic);
    }
    ck_assert(of(0, 1) < 50 && of(0, 2) > 950);
    for (uint32_t look = 0; look < 20 * TRAFFIC_LOOKS; look++)
        traffic_look(&traffic);
    ck_assert_uint_eq(traffic.count, 0);
}
END_TEST

START_TEST(half_a_look)
{
    traffic_see(&traffic, 0, 1, 1000);
    traffic_drop(&traffic);
    traffic_see(&traffic, 0, 2, 1000);
    traffic_look(&traffic);
    EQ(of(0, 1), 0);
    EQ(of(0, 2), 1000);
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
    for (uint32_t look = 0; look < 3; look++) {
        for (uint32_t i = 0; i < 2 * MOST; i++)
            traffic_see(&traffic, i, i + 1 + look, 1000);
        traffic_look(&traffic);
        ck_assert_uint_eq(traffic.count, MOST);
    }
}
END_TEST

static double bandwidth(uint32_t from, uint32_t to)
{
    return ways_expect(&ways)[from * HOSTS + to].bandwidth;
}

/* Hosts 2 and 3 are behind a slow line; of the ways within each side one is known. */
START_TEST(unknown_ways_are_as_slow_as_they_may_be)
{
    EQ(bandwidth(0, 1), 0);
    ways_measure(&ways, 0, 2, 1e6);
    ways_measure(&ways, 3, 1, 2e6);
    ways_measure(&ways, 0, 1, 1e9);
    EQ(bandwidth(0, 2), 1e6);
    EQ(bandwidth(2, 0), 1e6);
    EQ(bandwidth(3, 1), 2e6);
    EQ(bandwidth(0, 1), 1e9);
    EQ(bandwidth(0, 3), 2e6);
    EQ(bandwidth(2, 3), 1e6);
}
END_TEST

START_TEST(ways_change)
{
    ways_measure(&ways, 0, 2, 1e6);
    for (uint32_t look = 0; look < 40; look++)
        ways_measure(&ways, 0, 2, 1e8);
    ways_measure(&ways, 0, 2, 0); /* nothing was limited by the network */
    ck_assert(bandwidth(0, 2) > 0.99e8);
    ways_measure(&ways, 1, 1, 1e3);
    EQ(bandwidth(1, 3), 0);
}
END_TEST

START_TEST(too_many_hosts)
{
    struct ways many;

    ck_assert_int_eq(ways_begin(&many, WAYS_HOSTS_MOST + 1), 0);
    ways_measure(&many, 0, 1, 1e6);
    ck_assert_ptr_null(ways_expect(&many));
    ways_end(&many);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {pairs_add_up,
                                  looks_have_a_mean,
                                  the_past_is_forgotten,
                                  half_a_look,
                                  more_than_there_is_room_for,
                                  unknown_ways_are_as_slow_as_they_may_be,
                                  ways_change,
                                  too_many_hosts};

    return suite_run_tests("traffic", tests, LENGTH(tests), set_up, tear_down);
}
