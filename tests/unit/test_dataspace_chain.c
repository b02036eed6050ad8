/* test_dataspace_chain.c - large objects that several hosts back go over each link once, from one
 * of these hosts to the next.  Losses at any moment are played in tests/sim/dataspace.
 */
#include <check.h>
#include <string.h>

#include "tests/unit/dataspace_hosts.h"
#include "tests/unit/suite.h"

#define HOSTS  5u
#define SIZE   HOSTS_SIZE
#define CHAIN  50u /* bytes of those that go so */
#define WRITER 4u  /* puts what host 0 owns, and hosts 1 to 3 back */

/* Process i is on host i. */
static const uint32_t homes[HOSTS] = {0, 1, 2, 3, 4};
static char tag[8];

static void set_up(void)
{
    struct dataspace_setup setup = {.nprocs = HOSTS,
                                    .homes = homes,
                                    .hosts = HOSTS,
                                    .copies = 4,
                                    .log = UINT64_MAX,
                                    .passed = CHAIN};

    hosts_open(&setup);
    dataspace_find_tag(hosts[0].space, 0, tag);
}

static void put(uint32_t on, uint64_t number, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        hosts[on].window[i] = (unsigned char)(on + i);
    host_posts(on, on, number, DATASPACE_PUT, tag, size);
}

/* That which the process of that host has put is there. */
static void expect(uint32_t by, uint64_t number, uint64_t size)
{
    struct test_host *reader = &hosts[WRITER];
    unsigned answers = reader->answers;

    host_posts(WRITER, WRITER, number, DATASPACE_READ, tag, SIZE);
    hosts_run();
    ck_assert_uint_eq(reader->answers, answers + 1);
    ck_assert_uint_eq(reader->size, size);
    for (uint64_t i = 0; i < size; i++)
        ck_assert_uint_eq(reader->window[i], (unsigned char)(by + i));
}

/* Until the last of the hosts that back it has the first piece. */
static void deliver_some(void)
{
    for (unsigned i = 0; i < HOSTS_QUEUED && hosts_backed[2][3] == 0; i++)
        hosts_deliver(1);
    ck_assert_uint_gt(hosts_backed[2][3], 0);
    ck_assert_uint_lt(hosts_backed[0][1], SIZE);
}

START_TEST(each_link_carries_it_once)
{
    put(WRITER, 1, SIZE);
    deliver_some(); /* pieces go on as they come */
    hosts_run();
    ck_assert_uint_eq(hosts[WRITER].answers, 1);
    for (uint32_t from = 0; from < HOSTS; from++)
        for (uint32_t to = 0; to < HOSTS; to++)
            ck_assert_uint_eq(hosts_backed[from][to], to == from + 1 && to < WRITER ? SIZE : 0);
    hosts_lose(0);
    hosts_run();
    hosts_lose(1);
    hosts_run();
    hosts_lose(2);
    hosts_run();
    expect(WRITER, 2, SIZE);
}
END_TEST

START_TEST(small_objects_come_from_the_owner)
{
    put(WRITER, 1, CHAIN - 1);
    hosts_run();
    for (uint32_t to = 1; to < WRITER; to++)
        ck_assert_uint_eq(hosts_backed[0][to], CHAIN - 1);
}
END_TEST

START_TEST(who_puts_it_has_it)
{
    put(1, 1, SIZE);
    hosts_run();
    ck_assert_uint_eq(hosts[1].answers, 1);
    ck_assert_uint_eq(hosts_backed[0][1], 0);
    ck_assert_uint_eq(hosts_backed[0][2], SIZE);
    ck_assert_uint_eq(hosts_backed[2][3], SIZE);
}
END_TEST

START_TEST(later_changes_wait_behind_it)
{
    put(WRITER, 1, SIZE);
    deliver_some();
    hosts_silent = 1;
    hosts_run();
    put(3, 1, 3);
    hosts_run();
    ck_assert_uint_eq(hosts[WRITER].answers + hosts[3].answers, 0);
    hosts_silent = HOSTS_MOST;
    hosts_run();
    ck_assert_uint_eq(hosts[WRITER].answers, 1);
    ck_assert_uint_eq(hosts[3].answers, 1);
    hosts_lose(0);
    hosts_run();
    expect(3, 2, 3);
}
END_TEST

START_TEST(a_host_on_the_way_is_lost)
{
    put(WRITER, 1, SIZE);
    deliver_some();
    hosts_lose(1);
    hosts_run();
    ck_assert_uint_eq(hosts[WRITER].answers, 1);
    hosts_lose(0);
    hosts_run();
    expect(WRITER, 2, SIZE);
}
END_TEST

/* Those that have the object wait for its change. */
START_TEST(a_host_on_the_way_is_lost_when_others_have_it)
{
    put(WRITER, 1, SIZE);
    for (unsigned i = 0; i < HOSTS_QUEUED && hosts_backed[2][3] < SIZE; i++)
        hosts_deliver(1);
    hosts_lose(2);
    hosts_run();
    ck_assert_uint_eq(hosts[WRITER].answers, 1);
    hosts_lose(0);
    hosts_run();
    hosts_lose(1);
    hosts_run();
    expect(WRITER, 2, SIZE);
}
END_TEST

START_TEST(the_owner_is_lost)
{
    put(WRITER, 1, SIZE);
    deliver_some();
    hosts_lose(0);
    hosts_run();
    ck_assert_uint_eq(hosts[WRITER].answers, 1); /* it was put again */
    expect(WRITER, 2, SIZE);
}
END_TEST

START_TEST(the_process_is_lost)
{
    put(WRITER, 1, SIZE);
    deliver_some();
    dataspace_restarted(hosts[WRITER].space, WRITER);
    hosts_run();
    for (uint32_t host = 0; host < WRITER; host++)
        ck_assert_uint_eq(pool_in_memory(hosts[host].pool), 0);
    put(WRITER, 1, SIZE);
    hosts_run();
    expect(WRITER, 2, SIZE);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        each_link_carries_it_once, small_objects_come_from_the_owner,
        who_puts_it_has_it,        later_changes_wait_behind_it,
        a_host_on_the_way_is_lost, a_host_on_the_way_is_lost_when_others_have_it,
        the_owner_is_lost,         the_process_is_lost};

    return suite_run_tests("dataspace chain", tests, sizeof tests / sizeof *tests, set_up,
                           hosts_close);
}
