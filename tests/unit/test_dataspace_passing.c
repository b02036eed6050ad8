/* test_dataspace_passing.c - large objects that replicas get go over each link once, from one
 * replica to the next.  Losses at any moment are played in tests/sim/dataspace.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/service.h"
#include "tests/unit/suite.h"

#define HOSTS    8u
#define PIECE    10u
#define SIZE     100u /* of an object */
#define PASSED   50u  /* bytes of those that are passed on */
#define QUEUED   1000u
#define LINK     3u /* messages that it has room for */
#define NOBODY   HOSTS
#define OWNER    1u
#define SILENCE  200u
#define DEFERRED 5u

/* Process 0 is on the even hosts, and gets; process 1 on the odd ones, and puts. */
static const uint32_t homes[] = {0, 1}, leads[] = {0, 1, 0, 1, 0, 1, 0, 1};

static struct host {
    struct dataspace *space;
    struct pool *pool;
    unsigned char window[SIZE];
    struct dataspace_request request;
    unsigned answers;
    uint64_t size; /* of the last answer ... */
    uint32_t piece;
    unsigned queued[HOSTS];
    bool lost;
} hosts[HOSTS];

static struct {
    uint32_t from, to;
    struct wire_message message;
} queue[QUEUED];
static unsigned first, queued;
static uint32_t silent; /* what this host sends is held up */
static uint64_t now, bytes[HOSTS][HOSTS], asked[HOSTS];
static char tag[8];

static uint32_t number_of(const void *context)
{
    return (uint32_t)((const struct host *)context - hosts);
}

static void on_send(void *context, uint32_t to, const struct wire_message *message)
{
    uint32_t from = number_of(context);
    char error[WIRE_ERROR_SIZE];

    ck_assert_uint_lt(queued, QUEUED);
    ck_assert_int_eq(wire_copy(message, &queue[queued].message, error, sizeof error), 0);
    hosts[from].queued[to]++;
    queue[queued].from = from;
    queue[queued++].to = to;
    if (message->kind == WIRE_DATA_GRANT)
        bytes[from][to] += message->data_grant.data.size;
    if (message->kind == WIRE_DATA_PASS)
        bytes[from][to] += message->data_pass.data.size;
    asked[from] += message->kind == WIRE_DATA_ASK;
}

static bool on_has_room(void *context, uint32_t to)
{
    const struct host *host = context;

    return host->queued[to] < LINK;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    struct host *host = context;

    (void)pid;
    host->answers++;
    host->size = size;
    host->piece = length;
}

static void on_no_memory(void *context, uint32_t pid, uint64_t size)
{
    (void)context, (void)pid, (void)size;
    ck_abort_msg("no memory");
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    ck_abort_msg("host %u complains of host %u: %s", number_of(context), host, complaint);
}

static void on_mismatch(void *context, const struct dataspace_mismatch *mismatch)
{
    (void)context;
    ck_assert(mismatch->answered); /* only the room is different */
}

static uint64_t on_now(void *context)
{
    (void)context;
    return now;
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .no_memory = on_no_memory,
                                             .broken = on_broken,
                                             .mismatch = on_mismatch,
                                             .now_ms = on_now};

static void open_hosts(uint64_t log, uint32_t copies)
{
    for (uint32_t i = 0; i < HOSTS; i++) {
        struct dataspace_setup setup = {.host = i,
                                        .nprocs = 2,
                                        .homes = homes,
                                        .hosts = HOSTS,
                                        .leads = leads,
                                        .copies = copies,
                                        .piece = PIECE,
                                        .log = log,
                                        .passed = PASSED,
                                        .cut_every = 1};

        hosts[i] = (struct host){.pool = pool_open(UINT64_MAX, 1, NULL, NULL)};
        setup.pool = hosts[i].pool;
        hosts[i].space = dataspace_open(&setup, &calls, &hosts[i]);
        ck_assert_ptr_nonnull(hosts[i].space);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(tag, sizeof tag, "t%d", i);
        if (dataspace_owner(hosts[0].space, tag, strlen(tag)) == OWNER)
            return;
    }
    ck_abort_msg("no tag belongs to the host");
}

static void set_up(void)
{
    first = queued = 0;
    silent = NOBODY;
    now = 0;
    memset(bytes, 0, sizeof bytes);
    memset(asked, 0, sizeof asked);
    open_hosts(UINT64_MAX, 1);
}

static void tear_down(void)
{
    for (uint32_t i = 0; i < HOSTS; i++) {
        dataspace_close(hosts[i].space);
        pool_close(hosts[i].pool);
    }
    while (first < queued)
        wire_message_free(&queue[first++].message);
}

static void go_on(void)
{
    for (uint32_t i = 0; i < HOSTS; i++)
        if (!hosts[i].lost)
            dataspace_go_on(hosts[i].space);
}

/* Delivers messages until there are none but those of the host that is silent, or so many. */
static void deliver(unsigned most)
{
    for (unsigned i = first; i < queued && most > 0; i++) {
        if (queue[i].from == silent || queue[i].to == NOBODY)
            continue;
        if (!hosts[queue[i].to].lost)
            dataspace_message(hosts[queue[i].to].space, queue[i].from, &queue[i].message);
        hosts[queue[i].from].queued[queue[i].to]--;
        queue[i].to = NOBODY;
        most--;
        go_on();
    }
    while (first < queued && queue[first].to == NOBODY)
        wire_message_free(&queue[first++].message);
}

static void run(void)
{
    deliver(QUEUED);
    if (silent == NOBODY)
        ck_assert_uint_eq(first, queued);
}

static void post(uint32_t on, uint64_t number, enum dataspace_kind kind, uint64_t size)
{
    struct host *host = &hosts[on];

    host->request = (struct dataspace_request){.kind = kind,
                                               .number = number,
                                               .tag = tag,
                                               .tag_size = (uint32_t)strlen(tag),
                                               .piece = host->window,
                                               .length = (uint32_t)size,
                                               .size = size};
    dataspace_posted(host->space, kind == DATASPACE_PUT, &host->request);
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
        sum += bytes[from][to];
    return sum;
}

static uint64_t sent_to(uint32_t to)
{
    uint64_t sum = 0;

    for (uint32_t from = 0; from < HOSTS; from++)
        sum += bytes[from][to];
    return sum;
}

START_TEST(each_link_carries_what_all_replicas_wait_for_once)
{
    for (uint32_t host = 0; host < HOSTS; host += 2)
        post(host, 1, DATASPACE_GET, SIZE);
    run();
    put(1, SIZE);
    run();
    ck_assert_uint_eq(sent_by(OWNER), SIZE);
    for (uint32_t host = 0; host < HOSTS; host += 2) {
        expect(host, 1, SIZE);
        ck_assert_uint_le(sent_by(host), SIZE);
        ck_assert_uint_eq(sent_to(host), SIZE);
    }
}
END_TEST

START_TEST(a_later_replica_gets_it_from_the_one_before)
{
    put(1, SIZE);
    for (uint32_t host = 0; host < HOSTS; host += 2) {
        post(host, 1, DATASPACE_READ, SIZE);
        run();
        expect(host, 1, SIZE);
    }
    ck_assert_uint_eq(bytes[OWNER][0], SIZE);
    for (uint32_t host = 2; host < HOSTS; host += 2)
        ck_assert_uint_eq(bytes[host - 2][host], SIZE);
    ck_assert_uint_eq(sent_by(OWNER), SIZE);
}
END_TEST

START_TEST(pieces_go_on_as_they_come)
{
    put(1, SIZE);
    post(0, 1, DATASPACE_READ, SIZE);
    post(2, 1, DATASPACE_READ, SIZE);
    for (unsigned i = 0; i < QUEUED && bytes[0][2] == 0; i++)
        deliver(1);
    ck_assert_uint_eq(bytes[0][2] % PIECE, 0);
    ck_assert_uint_eq(hosts[0].answers, 0); /* it has not come whole */
    run();
    expect(2, 1, SIZE);
}
END_TEST

/* Whatever the order in which they ask: each gets its objects from the same host again. */
START_TEST(each_waits_a_little_for_the_one_before_it)
{
    put(1, SIZE);
    for (uint32_t host = HOSTS - 2; host > 0; host -= 2) {
        post(host, 1, DATASPACE_READ, SIZE);
        run();
        ck_assert_uint_eq(hosts[host].answers, 0);
    }
    post(0, 1, DATASPACE_READ, SIZE);
    run();
    ck_assert_uint_eq(bytes[OWNER][0], SIZE);
    for (uint32_t host = 2; host < HOSTS; host += 2) {
        expect(host, 1, SIZE);
        ck_assert_uint_eq(bytes[host - 2][host], SIZE);
    }
}
END_TEST

START_TEST(who_comes_too_late_is_waited_for_once)
{
    put(1, SIZE);
    post(2, 1, DATASPACE_READ, SIZE);
    run();
    now = DEFERRED - 1;
    go_on();
    run();
    ck_assert_uint_eq(hosts[2].answers, 0);
    now = DEFERRED;
    go_on();
    run();
    expect(2, 1, SIZE);
    ck_assert_uint_eq(bytes[OWNER][2], SIZE);
    post(2, 2, DATASPACE_READ, SIZE);
    run();
    ck_assert_uint_eq(hosts[2].answers, 2);
    post(0, 1, DATASPACE_READ, SIZE);
    run();
    expect(0, 1, SIZE);
    ck_assert_uint_eq(bytes[2][0], SIZE);
}
END_TEST

START_TEST(who_is_first_again_is_waited_for_again)
{
    put(1, SIZE);
    post(2, 1, DATASPACE_READ, SIZE);
    now = DEFERRED;
    go_on();
    run();
    now += DEFERRED;
    go_on();
    run();
    ck_assert_uint_eq(hosts[2].answers, 1);
    for (uint64_t number = 1; number <= 2; number++) {
        post(0, number, DATASPACE_READ, SIZE);
        run();
    }
    post(2, 2, DATASPACE_READ, SIZE);
    run();
    post(2, 3, DATASPACE_READ, SIZE);
    run();
    ck_assert_uint_eq(hosts[2].answers, 2);
}
END_TEST

START_TEST(a_replica_asks_at_once_where_it_got_its_last_object)
{
    put(1, SIZE);
    post(0, 1, DATASPACE_READ, SIZE);
    post(2, 1, DATASPACE_READ, SIZE);
    run();
    post(0, 2, DATASPACE_READ, SIZE);
    run();
    silent = OWNER;
    post(2, 2, DATASPACE_READ, SIZE);
    run();
    ck_assert_uint_eq(bytes[0][2], 2 * SIZE);
    ck_assert_uint_eq(hosts[2].answers, 1); /* the owner has not granted it */
    silent = NOBODY;
    run();
    ck_assert_uint_eq(hosts[2].answers, 2);
    ck_assert_uint_eq(bytes[0][2], 2 * SIZE);
}
END_TEST

START_TEST(small_objects_come_from_the_owner)
{
    put(1, PASSED - 1);
    for (uint32_t host = 0; host < HOSTS; host += 2) {
        post(host, 1, DATASPACE_READ, SIZE);
        run();
        ck_assert_uint_eq(bytes[OWNER][host], PASSED - 1);
        expect(host, 1, PASSED - 1);
    }
}
END_TEST

START_TEST(one_with_other_room_gets_it_from_the_owner)
{
    put(1, SIZE);
    post(0, 1, DATASPACE_READ, SIZE);
    post(2, 1, DATASPACE_READ, PASSED);
    run();
    ck_assert_uint_eq(bytes[OWNER][2], PASSED);
    expect(2, 1, PASSED);
}
END_TEST

/* Of those that a host has got it keeps the newest. */
START_TEST(what_is_not_kept_comes_from_the_owner)
{
    tear_down();
    open_hosts(SIZE, 1);
    for (uint64_t number = 1; number <= 2; number++) {
        put(number, SIZE);
        post(0, number, DATASPACE_GET, SIZE);
        run();
    }
    for (uint64_t number = 1; number <= 2; number++) {
        post(2, number, DATASPACE_GET, SIZE);
        run();
        expect(2, number, SIZE);
        ck_assert_uint_eq(bytes[OWNER][2], SIZE);
        ck_assert_uint_eq(bytes[0][2], (number - 1) * SIZE);
    }
    ck_assert_uint_eq(asked[2], 3);
}
END_TEST

START_TEST(what_all_have_got_is_not_kept)
{
    put(1, SIZE);
    for (uint32_t host = 0; host < HOSTS; host += 2)
        post(host, 1, DATASPACE_GET, SIZE);
    run();
    ck_assert_uint_eq(pool_in_memory(hosts[0].pool), SIZE);
    put(2, 1);
    for (uint32_t host = 0; host < HOSTS; host += 2)
        post(host, 2, DATASPACE_READ, SIZE);
    run();
    for (uint32_t host = 0; host < HOSTS; host += 2)
        ck_assert_uint_eq(pool_in_memory(hosts[host].pool), 0);
}
END_TEST

static void lose(uint32_t lost)
{
    hosts[lost].lost = true;
    silent = lost;
    for (uint32_t host = 0; host < HOSTS; host++)
        if (host != lost)
            dataspace_lost(hosts[host].space, lost);
}

START_TEST(the_owner_sends_what_a_lost_host_has_not)
{
    tear_down();
    open_hosts(UINT64_MAX, 2);
    put(1, SIZE);
    post(0, 1, DATASPACE_READ, SIZE);
    run();
    silent = 0;
    post(2, 1, DATASPACE_READ, SIZE);
    post(4, 1, DATASPACE_READ, SIZE); /* from host 2, which goes on */
    run();
    ck_assert_uint_eq(hosts[2].answers + hosts[4].answers, 0);
    lose(0);
    run();
    expect(2, 1, SIZE);
    expect(4, 1, SIZE);
    ck_assert_uint_eq(bytes[OWNER][2], SIZE);
    ck_assert_uint_eq(bytes[OWNER][4], 0);
}
END_TEST

START_TEST(who_is_lost_already_is_not_asked)
{
    tear_down();
    open_hosts(UINT64_MAX, 2);
    put(1, SIZE);
    post(0, 1, DATASPACE_READ, SIZE);
    run();
    post(2, 1, DATASPACE_READ, SIZE);
    hosts[0].lost = true;
    dataspace_lost(hosts[2].space, 0); /* and not the owner yet */
    run();
    expect(2, 1, SIZE);
    ck_assert_uint_eq(bytes[OWNER][2], SIZE);
}
END_TEST

START_TEST(one_that_is_silent_is_not_waited_for)
{
    put(1, SIZE);
    post(0, 1, DATASPACE_READ, SIZE);
    run();
    silent = 0;
    post(2, 1, DATASPACE_READ, SIZE);
    run();
    now = SILENCE - 1;
    ck_assert(dataspace_go_on(hosts[2].space));
    run();
    ck_assert_uint_eq(hosts[2].answers, 0);
    now = SILENCE;
    dataspace_go_on(hosts[2].space);
    run();
    expect(2, 1, SIZE);
    silent = NOBODY; /* what comes late is ignored */
    run();
    ck_assert_uint_eq(hosts[2].answers, 1);
    ck_assert(!dataspace_go_on(hosts[2].space));
}
END_TEST

START_TEST(the_next_owner_refers_anew)
{
    tear_down();
    open_hosts(UINT64_MAX, 2);
    put(1, SIZE);
    run();
    post(0, 1, DATASPACE_READ, SIZE);
    post(2, 1, DATASPACE_READ, SIZE);
    for (unsigned i = 0; i < QUEUED && bytes[0][2] == 0; i++)
        deliver(1);
    lose(OWNER);
    run();
    expect(0, 1, SIZE);
    expect(2, 1, SIZE);
}
END_TEST

/* Posts requests of host 0 for a piece after the other, until all have come or have to. */
static uint64_t take_pieces(unsigned char *got, uint64_t done)
{
    struct host *host = &hosts[0];
    unsigned answers;

    do {
        answers = host->answers;
        host->piece = 0;
        dataspace_posted(host->space, 0, &host->request);
        memcpy(got + done, host->window, host->piece);
        done += host->piece;
    } while (host->answers > answers && done < SIZE);
    return done;
}

START_TEST(who_has_some_of_it_gets_the_rest_from_the_next_owner)
{
    unsigned char got[SIZE];
    uint64_t done;

    tear_down();
    open_hosts(UINT64_MAX, 2);
    put(1, SIZE);
    run();
    post(0, 1, DATASPACE_READ, SIZE);
    hosts[0].request.length = 2 * PIECE;
    for (unsigned i = 0; i < QUEUED && bytes[OWNER][0] < SIZE / 2; i++)
        deliver(1);
    done = take_pieces(got, 0);
    ck_assert_uint_gt(done, 0);
    ck_assert_uint_lt(done, SIZE);
    lose(OWNER);
    ck_assert_ptr_null(dataspace_waits_for(hosts[0].space, 0));
    dataspace_withdraw(hosts[0].space, 0); /* it waits for no object */
    run();
    memcpy(got + done, hosts[0].window, hosts[0].piece); /* for which it waited */
    done = take_pieces(got, done + hosts[0].piece);
    ck_assert_uint_eq(done, SIZE);
    for (uint64_t i = 0; i < SIZE; i++)
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
