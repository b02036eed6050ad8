/* test_dataspace_passing.c - large objects that replicas get go over each link once, from one
 * replica to the next.  Losses at any moment are played in tests/sim/dataspace.
 */
#include <check.h>
#include <string.h>

#include "tests/unit/dataspace_hosts.h"
#include "tests/unit/suite.h"

#define HOSTS    8u
#define PASSED   50u /* bytes of those that are passed on */
#define OWNER    1u
#define DEFERRED 5u
#define SILENCE  200u

/* Process 0 is on the even hosts, and gets; process 1 on the odd ones, and puts. */
static const uint32_t homes[] = {0, 1}, leads[] = {0, 1, 0, 1, 0, 1, 0, 1};
static char tag[8];

static void open_hosts(uint64_t log, uint32_t copies)
{
    struct dataspace_setup setup = {.nprocs = 2,
                                    .homes = homes,
                                    .hosts = HOSTS,
                                    .leads = leads,
                                    .copies = copies,
                                    .log = log,
                                    .passed = PASSED,
                                    .cut_every = 1};

    hosts_open(&setup);
    dataspace_find_tag(hosts[0].space, OWNER, tag);
}

static void set_up(void)
{
    open_hosts(UINT64_MAX, 1);
}

static void tear_down(void)
{
    hosts_close();
}

static void post(uint32_t on, uint64_t number, enum dataspace_kind kind, uint64_t size)
{
    host_posts(on, kind == DATASPACE_PUT, number, kind, tag, size);
}

/* The owner's own replica puts an object of that many bytes. */
static void put(uint64_t number, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        hosts[OWNER].window[i] = (unsigned char)(number + i);
    post(OWNER, number, DATASPACE_PUT, size);
}

static void expect(uint32_t on, uint64_t number, uint64_t size)
{
    ck_assert_uint_eq(hosts[on].size, size);
    for (uint64_t i = 0; i < size; i++)
        ck_assert_uint_eq(hosts[on].window[i], (unsigned char)(number + i));
}

static uint64_t sent_by(uint32_t from)
{
    uint64_t sum = 0;

    for (uint32_t to = 0; to < HOSTS; to++)
        sum += hosts_bytes[from][to];
    return sum;
}

static uint64_t sent_to(uint32_t to)
{
    uint64_t sum = 0;

    for (uint32_t from = 0; from < HOSTS; from++)
        sum += hosts_bytes[from][to];
    return sum;
}

START_TEST(each_link_carries_what_all_replicas_wait_for_once)
{
    for (uint32_t host = 0; host < HOSTS; host += 2)
        post(host, 1, DATASPACE_GET, HOSTS_SIZE);
    hosts_run();
    put(1, HOSTS_SIZE);
    hosts_run();
    ck_assert_uint_eq(sent_by(OWNER), HOSTS_SIZE);
    for (uint32_t host = 0; host < HOSTS; host += 2) {
        expect(host, 1, HOSTS_SIZE);
        ck_assert_uint_le(sent_by(host), HOSTS_SIZE);
        ck_assert_uint_eq(sent_to(host), HOSTS_SIZE);
    }
}
END_TEST

START_TEST(a_later_replica_gets_it_from_the_one_before)
{
    put(1, HOSTS_SIZE);
    for (uint32_t host = 0; host < HOSTS; host += 2) {
        post(host, 1, DATASPACE_READ, HOSTS_SIZE);
        hosts_run();
        expect(host, 1, HOSTS_SIZE);
    }
    ck_assert_uint_eq(hosts_bytes[OWNER][0], HOSTS_SIZE);
    for (uint32_t host = 2; host < HOSTS; host += 2)
        ck_assert_uint_eq(hosts_bytes[host - 2][host], HOSTS_SIZE);
    ck_assert_uint_eq(sent_by(OWNER), HOSTS_SIZE);
}
END_TEST

START_TEST(pieces_go_on_as_they_come)
{
    put(1, HOSTS_SIZE);
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    post(2, 1, DATASPACE_READ, HOSTS_SIZE);
    for (unsigned i = 0; i < HOSTS_QUEUED && hosts_bytes[0][2] == 0; i++)
        hosts_deliver(1);
    ck_assert_uint_eq(hosts_bytes[0][2] % HOSTS_PIECE, 0);
    ck_assert_uint_eq(hosts[0].answers, 0); /* it has not come whole */
    hosts_run();
    expect(2, 1, HOSTS_SIZE);
}
END_TEST

/* Whatever the order in which they ask: each gets its objects from the same host again. */
START_TEST(each_waits_a_little_for_the_one_before_it)
{
    put(1, HOSTS_SIZE);
    for (uint32_t host = HOSTS - 2; host > 0; host -= 2) {
        post(host, 1, DATASPACE_READ, HOSTS_SIZE);
        hosts_run();
        ck_assert_uint_eq(hosts[host].answers, 0);
    }
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    ck_assert_uint_eq(hosts_bytes[OWNER][0], HOSTS_SIZE);
    for (uint32_t host = 2; host < HOSTS; host += 2) {
        expect(host, 1, HOSTS_SIZE);
        ck_assert_uint_eq(hosts_bytes[host - 2][host], HOSTS_SIZE);
    }
}
END_TEST

START_TEST(who_comes_too_late_is_waited_for_once)
{
    put(1, HOSTS_SIZE);
    post(2, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    hosts_now = DEFERRED - 1;
    hosts_go_on();
    hosts_run();
    ck_assert_uint_eq(hosts[2].answers, 0);
    hosts_now = DEFERRED;
    hosts_go_on();
    hosts_run();
    expect(2, 1, HOSTS_SIZE);
    ck_assert_uint_eq(hosts_bytes[OWNER][2], HOSTS_SIZE);
    post(2, 2, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    ck_assert_uint_eq(hosts[2].answers, 2);
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    expect(0, 1, HOSTS_SIZE);
    ck_assert_uint_eq(hosts_bytes[2][0], HOSTS_SIZE);
}
END_TEST

START_TEST(who_is_first_again_is_waited_for_again)
{
    put(1, HOSTS_SIZE);
    post(2, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts_now = DEFERRED;
    hosts_go_on();
    hosts_run();
    hosts_now += DEFERRED;
    hosts_go_on();
    hosts_run();
    ck_assert_uint_eq(hosts[2].answers, 1);
    for (uint64_t number = 1; number <= 2; number++) {
        post(0, number, DATASPACE_READ, HOSTS_SIZE);
        hosts_run();
    }
    post(2, 2, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    post(2, 3, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    ck_assert_uint_eq(hosts[2].answers, 2);
}
END_TEST

START_TEST(a_replica_asks_at_once_where_it_got_its_last_object)
{
    put(1, HOSTS_SIZE);
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    post(2, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    post(0, 2, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    hosts_silent = OWNER;
    post(2, 2, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    ck_assert_uint_eq(hosts_bytes[0][2], 2 * HOSTS_SIZE);
    ck_assert_uint_eq(hosts[2].answers, 1); /* the owner has not granted it */
    hosts_silent = HOSTS_MOST;
    hosts_run();
    ck_assert_uint_eq(hosts[2].answers, 2);
    ck_assert_uint_eq(hosts_bytes[0][2], 2 * HOSTS_SIZE);
}
END_TEST

START_TEST(small_objects_come_from_the_owner)
{
    put(1, PASSED - 1);
    for (uint32_t host = 0; host < HOSTS; host += 2) {
        post(host, 1, DATASPACE_READ, HOSTS_SIZE);
        hosts_run();
        ck_assert_uint_eq(hosts_bytes[OWNER][host], PASSED - 1);
        expect(host, 1, PASSED - 1);
    }
}
END_TEST

START_TEST(one_with_other_room_gets_it_from_the_owner)
{
    put(1, HOSTS_SIZE);
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    post(2, 1, DATASPACE_READ, PASSED);
    hosts_run();
    ck_assert_uint_eq(hosts_bytes[OWNER][2], PASSED);
    expect(2, 1, PASSED);
}
END_TEST

/* Of those that a host has got it keeps the newest. */
START_TEST(what_is_not_kept_comes_from_the_owner)
{
    tear_down();
    open_hosts(HOSTS_SIZE, 1);
    for (uint64_t number = 1; number <= 2; number++) {
        put(number, HOSTS_SIZE);
        post(0, number, DATASPACE_GET, HOSTS_SIZE);
        hosts_run();
    }
    for (uint64_t number = 1; number <= 2; number++) {
        post(2, number, DATASPACE_GET, HOSTS_SIZE);
        hosts_run();
        expect(2, number, HOSTS_SIZE);
        ck_assert_uint_eq(hosts_bytes[OWNER][2], HOSTS_SIZE);
        ck_assert_uint_eq(hosts_bytes[0][2], (number - 1) * HOSTS_SIZE);
    }
    ck_assert_uint_eq(hosts[2].asked, 3);
}
END_TEST

START_TEST(what_all_have_got_is_not_kept)
{
    put(1, HOSTS_SIZE);
    for (uint32_t host = 0; host < HOSTS; host += 2)
        post(host, 1, DATASPACE_GET, HOSTS_SIZE);
    hosts_run();
    ck_assert_uint_eq(pool_in_memory(hosts[0].pool), HOSTS_SIZE);
    put(2, 1);
    for (uint32_t host = 0; host < HOSTS; host += 2)
        post(host, 2, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    for (uint32_t host = 0; host < HOSTS; host += 2)
        ck_assert_uint_eq(pool_in_memory(hosts[host].pool), 0);
}
END_TEST

START_TEST(the_owner_sends_what_a_lost_host_has_not)
{
    tear_down();
    open_hosts(UINT64_MAX, 2);
    put(1, HOSTS_SIZE);
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    hosts_silent = 0;
    post(2, 1, DATASPACE_READ, HOSTS_SIZE);
    post(4, 1, DATASPACE_READ, HOSTS_SIZE); /* from host 2, which goes on */
    hosts_run();
    ck_assert_uint_eq(hosts[2].answers + hosts[4].answers, 0);
    hosts_lose(0);
    hosts_run();
    expect(2, 1, HOSTS_SIZE);
    expect(4, 1, HOSTS_SIZE);
    ck_assert_uint_eq(hosts_bytes[OWNER][2], HOSTS_SIZE);
    ck_assert_uint_eq(hosts_bytes[OWNER][4], 0);
}
END_TEST

START_TEST(who_is_lost_already_is_not_asked)
{
    tear_down();
    open_hosts(UINT64_MAX, 2);
    put(1, HOSTS_SIZE);
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    post(2, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts[0].lost = true;
    dataspace_lost(hosts[2].space, 0); /* and not the owner yet */
    hosts_run();
    expect(2, 1, HOSTS_SIZE);
    ck_assert_uint_eq(hosts_bytes[OWNER][2], HOSTS_SIZE);
}
END_TEST

START_TEST(one_that_is_silent_is_not_waited_for)
{
    put(1, HOSTS_SIZE);
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    hosts_silent = 0;
    post(2, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts_run();
    hosts_now = SILENCE - 1;
    ck_assert(dataspace_go_on(hosts[2].space));
    hosts_run();
    ck_assert_uint_eq(hosts[2].answers, 0);
    hosts_now = SILENCE;
    dataspace_go_on(hosts[2].space);
    hosts_run();
    expect(2, 1, HOSTS_SIZE);
    hosts_silent = HOSTS_MOST; /* what comes late is ignored */
    hosts_run();
    ck_assert_uint_eq(hosts[2].answers, 1);
    ck_assert(!dataspace_go_on(hosts[2].space));
}
END_TEST

START_TEST(the_next_owner_refers_anew)
{
    tear_down();
    open_hosts(UINT64_MAX, 2);
    put(1, HOSTS_SIZE);
    hosts_run();
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    post(2, 1, DATASPACE_READ, HOSTS_SIZE);
    for (unsigned i = 0; i < HOSTS_QUEUED && hosts_bytes[0][2] == 0; i++)
        hosts_deliver(1);
    hosts_lose(OWNER);
    hosts_run();
    expect(0, 1, HOSTS_SIZE);
    expect(2, 1, HOSTS_SIZE);
}
END_TEST

/* Posts requests of host 0 for a piece after the other, until all have come or have to. */
static uint64_t take_pieces(unsigned char *got, uint64_t done)
{
    struct test_host *host = &hosts[0];
    unsigned answers;

    do {
        answers = host->answers;
        host->piece = 0;
        dataspace_posted(host->space, 0, &host->request);
        memcpy(got + done, host->window, host->piece);
        done += host->piece;
    } while (host->answers > answers && done < HOSTS_SIZE);
    return done;
}

START_TEST(who_has_some_of_it_gets_the_rest_from_the_next_owner)
{
    unsigned char got[HOSTS_SIZE];
    uint64_t done;

    tear_down();
    open_hosts(UINT64_MAX, 2);
    put(1, HOSTS_SIZE);
    hosts_run();
    post(0, 1, DATASPACE_READ, HOSTS_SIZE);
    hosts[0].request.length = 2 * HOSTS_PIECE;
    for (unsigned i = 0; i < HOSTS_QUEUED && hosts_bytes[OWNER][0] < HOSTS_SIZE / 2; i++)
        hosts_deliver(1);
    done = take_pieces(got, 0);
    ck_assert_uint_gt(done, 0);
    ck_assert_uint_lt(done, HOSTS_SIZE);
    hosts_lose(OWNER);
    ck_assert_ptr_null(dataspace_waits_for(hosts[0].space, 0));
    dataspace_withdraw(hosts[0].space, 0); /* it waits for no object */
    hosts_run();
    memcpy(got + done, hosts[0].window, hosts[0].piece); /* for which it waited */
    done = take_pieces(got, done + hosts[0].piece);
    ck_assert_uint_eq(done, HOSTS_SIZE);
    for (uint64_t i = 0; i < HOSTS_SIZE; i++)
        ck_assert_uint_eq(got[i], (unsigned char)(1 + i));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {each_link_carries_what_all_replicas_wait_for_once,
                                  a_later_replica_gets_it_from_the_one_before,
                                  pieces_go_on_as_they_come,
                                  each_waits_a_little_for_the_one_before_it,
                                  who_comes_too_late_is_waited_for_once,
                                  who_is_first_again_is_waited_for_again,
                                  a_replica_asks_at_once_where_it_got_its_last_object,
                                  small_objects_come_from_the_owner,
                                  one_with_other_room_gets_it_from_the_owner,
                                  what_is_not_kept_comes_from_the_owner,
                                  what_all_have_got_is_not_kept,
                                  the_owner_sends_what_a_lost_host_has_not,
                                  who_is_lost_already_is_not_asked,
                                  one_that_is_silent_is_not_waited_for,
                                  the_next_owner_refers_anew,
                                  who_has_some_of_it_gets_the_rest_from_the_next_owner};

    return suite_run_tests("dataspace passing", tests, sizeof tests / sizeof *tests, set_up,
                           tear_down);
}
