/* test_dataspace_ahead.c - objects that go on to the host that will back them while they are still
 * coming.  Losses at any moment are played in tests/sim/dataspace.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/copies.h"
#include "bsprun/dataspace/service.h"
#include "tests/unit/dataspace_calls.h"
#include "tests/unit/suite.h"

#define SENT_MOST 16u

static const char text[] = "twenty-four characters..";
#define SIZE 24u

/* This host is 0; process i lives on host i.  Host 1 backs what is here, this one what host 2 has.
 */
static const uint32_t homes[] = {0, 1, 2};
static struct dataspace *space;
static struct pool *pool;
static char ours[8], theirs[8]; /* tags of host 0, and of host 2 */

static struct {
    unsigned sent, complaints, answers;
    bool full;
    struct {
        uint32_t host;
        struct wire_message message;
        unsigned char data[SIZE];
    } to[SENT_MOST];
} seen;

static void on_send(void *context, uint32_t host, const struct wire_message *message)
{
    (void)context;
    ck_assert_uint_lt(seen.sent, SENT_MOST);
    seen.to[seen.sent].host = host;
    seen.to[seen.sent].message = *message;
    if (message->kind == WIRE_DATA_AHEAD && message->data_ahead.data.size > 0)
        memcpy(seen.to[seen.sent].data, message->data_ahead.data.data,
               message->data_ahead.data.size);
    seen.sent++;
}

static bool on_has_room(void *context, uint32_t host)
{
    (void)context, (void)host;
    return !seen.full;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    (void)context, (void)pid, (void)size, (void)length;
    seen.answers++;
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    (void)context, (void)host, (void)complaint;
    seen.complaints++;
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .no_memory = dataspace_has_memory,
                                             .broken = on_broken};

static void set_up(void)
{
    struct dataspace_setup setup = {.host = 0,
                                    .nprocs = 3,
                                    .homes = homes,
                                    .hosts = 3,
                                    .copies = 2,
                                    .piece = 8,
                                    .log = UINT64_MAX};

    setup.pool = pool = pool_open(UINT64_MAX, 1, 0, NULL, NULL);
    space = dataspace_open(&setup, &calls, NULL);
    ck_assert_ptr_nonnull(space);
    memset(&seen, 0, sizeof seen);
    dataspace_find_tag(space, 0, ours);
    dataspace_find_tag(space, 2, theirs);
}

static void tear_down(void)
{
    dataspace_close(space);
    pool_close(pool);
}

/* ---- The owner ---- */

/* 8 bytes of what the process of that host puts here. */
static void put_piece(uint32_t host, uint32_t life, uint64_t number, uint64_t offset)
{
    struct wire_message message = {.kind = WIRE_DATA_PUT};
    struct wire_bytes tag = {ours, (uint32_t)strlen(ours)};

    message.data_put.pid = host;
    message.data_put.life = life;
    message.data_put.request = number;
    message.data_put.size = SIZE;
    message.data_put.offset = offset;
    message.data_put.data = (struct wire_bytes){text + offset, 8};
    if (offset == 0 || offset + 8 == SIZE)
        message.data_put.tag = tag;
    dataspace_message(space, host, &message);
}

static void check_ahead(unsigned which, uint64_t offset)
{
    const struct wire_message *message = &seen.to[which].message;

    ck_assert_uint_eq(seen.to[which].host, 1);
    ck_assert_uint_eq(message->kind, WIRE_DATA_AHEAD);
    ck_assert_uint_eq(message->data_ahead.pid, 2);
    ck_assert_uint_eq(message->data_ahead.size, SIZE);
    ck_assert_uint_eq(message->data_ahead.offset, offset);
    ck_assert_uint_eq(message->data_ahead.data.size, 8);
    ck_assert_mem_eq(seen.to[which].data, text + offset, 8);
}

static void check_put(unsigned which, uint64_t offset, uint32_t length)
{
    const struct wire_message *message = &seen.to[which].message;

    ck_assert_uint_eq(seen.to[which].host, 1);
    ck_assert_uint_eq(message->kind, WIRE_DATA_COPY);
    ck_assert_uint_eq(message->data_copy.kind, COPY_PUT);
    ck_assert_uint_eq(message->data_copy.offset, offset);
    ck_assert_uint_eq(message->data_copy.data.size, length);
}

static void check_in_vain(unsigned which)
{
    ck_assert_uint_eq(seen.to[which].host, 1);
    ck_assert_uint_eq(seen.to[which].message.kind, WIRE_DATA_AHEAD);
    ck_assert_uint_eq(seen.to[which].message.data_ahead.pid, 2);
    ck_assert_uint_eq(seen.to[which].message.data_ahead.size, 0);
}

START_TEST(pieces_go_on_as_they_come)
{
    put_piece(2, 0, 1, 0);
    ck_assert_uint_eq(seen.sent, 1);
    check_ahead(0, 0);
    put_piece(2, 0, 1, 8);
    ck_assert_uint_eq(seen.sent, 2);
    check_ahead(1, 8);
    put_piece(2, 0, 1, 16);
    ck_assert_uint_eq(seen.sent, 3);
    check_put(2, 16, 8);
    ck_assert_uint_eq(dataspace_totals(space).objects, 1);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(what_finds_no_room_goes_later)
{
    put_piece(2, 0, 1, 0);
    seen.full = true;
    put_piece(2, 0, 1, 8);
    put_piece(2, 0, 1, 16);
    ck_assert_uint_eq(seen.sent, 1);
    put_piece(2, 1, 2, 0); /* its next life, for which the first object does not make room */
    seen.full = false;
    put_piece(2, 1, 2, 8);
    ck_assert_uint_eq(seen.sent, 1); /* not before what waits */
    dataspace_go_on(space);
    ck_assert_uint_eq(seen.sent, 3);
    check_put(1, 8, 8);
    check_put(2, 16, 8);
    put_piece(2, 1, 2, 16);
    ck_assert_uint_eq(seen.sent, 6);
    check_put(3, 0, 8);
    check_put(5, 16, 8);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(who_puts_it_has_it)
{
    put_piece(1, 0, 1, 0);
    put_piece(1, 0, 1, 8);
    ck_assert_uint_eq(seen.sent, 0);
    put_piece(1, 0, 1, 16);
    ck_assert_uint_eq(seen.sent, 1);
    check_put(0, 0, 0);
    ck_assert(!seen.to[0].message.data_copy.has_object);
}
END_TEST

START_TEST(the_process_is_restarted)
{
    struct wire_message copied = {.kind = WIRE_DATA_COPIED, .data_copied = {0, 1}};

    put_piece(2, 0, 1, 0);
    put_piece(2, 1, 1, 0);
    ck_assert_uint_eq(seen.sent, 3);
    check_in_vain(1);
    check_ahead(2, 0);
    put_piece(2, 1, 1, 8);
    put_piece(2, 1, 1, 16);
    ck_assert_uint_eq(seen.sent, 5);
    dataspace_message(space, 1, &copied);
    ck_assert_uint_eq(seen.sent, 6); /* DATA_STORED */
    put_piece(2, 2, 1, 0); /* again what is stored, which only the last piece makes known */
    put_piece(2, 2, 1, 8);
    put_piece(2, 2, 1, 16);
    ck_assert_uint_eq(seen.sent, 10);
    check_ahead(7, 8);
    ck_assert_uint_eq(seen.to[8].message.kind, WIRE_DATA_STORED);
    check_in_vain(9);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(the_process_is_restarted_and_does_nothing)
{
    struct wire_message message = {.kind = WIRE_DATA_WITHDRAW, .data_withdraw = {2, 1, {NULL, 0}}};

    put_piece(2, 0, 1, 0);
    dataspace_message(space, 2, &message);
    ck_assert_uint_eq(seen.sent, 2);
    check_in_vain(1);
    put_piece(2, 0, 1, 8);
    ck_assert_uint_eq(seen.sent, 2);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(the_host_of_the_process_is_lost)
{
    put_piece(2, 0, 1, 0);
    dataspace_lost(space, 2);
    ck_assert_uint_eq(seen.to[1].message.kind, WIRE_DATA_LOST);
    check_in_vain(seen.sent - 1); /* behind what else follows */
}
END_TEST

START_TEST(the_host_that_backs_it_is_lost)
{
    put_piece(2, 0, 1, 0);
    dataspace_lost(space, 1);
    seen.sent = 0;
    put_piece(2, 0, 1, 8);
    put_piece(2, 0, 1, 16);
    ck_assert_uint_eq(seen.sent, 1); /* host 2 backs it now, and has it */
    ck_assert_uint_eq(seen.to[0].host, 2);
    ck_assert(!seen.to[0].message.data_copy.has_object);
}
END_TEST

START_TEST(an_object_of_this_host)
{
    static char window[8];
    struct dataspace_request request = {.kind = DATASPACE_PUT,
                                        .number = 1,
                                        .tag = ours,
                                        .tag_size = (uint32_t)strlen(ours),
                                        .piece = window,
                                        .length = sizeof window,
                                        .size = SIZE};

    for (unsigned i = 0; i < 2; i++) {
        memcpy(window, text + 8 * i, sizeof window);
        dataspace_posted(space, 0, &request);
    }
    ck_assert_uint_eq(seen.sent, 2);
    ck_assert_mem_eq(seen.to[1].data, text + 8, 8);
    dataspace_restarted(space, 0);
    ck_assert_uint_eq(seen.sent, 3);
    ck_assert_uint_eq(seen.to[2].message.data_ahead.size, 0);
    for (unsigned i = 0; i < 3; i++) {
        memcpy(window, text + 8 * i, sizeof window);
        dataspace_posted(space, 0, &request);
    }
    ck_assert_uint_eq(seen.sent, 6);
    check_put(5, 16, 8);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

/* ---- The host of the process ---- */

/* The next 8 bytes of an object for host 2. */
static void post(uint64_t offset)
{
    static char window[8];
    struct dataspace_request request = {.kind = DATASPACE_PUT,
                                        .number = 1,
                                        .tag = theirs,
                                        .tag_size = (uint32_t)strlen(theirs),
                                        .piece = window,
                                        .length = sizeof window,
                                        .size = SIZE};

    memcpy(window, text + offset, sizeof window);
    dataspace_posted(space, 0, &request);
}

static void check_posted(unsigned which, uint32_t host, uint64_t offset)
{
    ck_assert_uint_eq(seen.to[which].host, host);
    ck_assert_uint_eq(seen.to[which].message.kind, WIRE_DATA_PUT);
    ck_assert_uint_eq(seen.to[which].message.data_put.offset, offset);
    ck_assert_uint_eq(seen.to[which].message.data_put.data.size, 8);
    ck_assert_uint_eq(seen.to[which].message.data_put.tag.size > 0,
                      offset == 0 || offset + 8 == SIZE);
}

START_TEST(each_piece_goes_as_it_is_posted)
{
    for (unsigned i = 0; i < 3; i++) {
        post(8 * i);
        ck_assert_uint_eq(seen.sent, i + 1);
        check_posted(i, 2, 8 * i);
    }
    ck_assert_uint_eq(seen.answers, 2);
}
END_TEST

START_TEST(the_process_goes_on_while_there_is_no_room)
{
    seen.full = true;
    post(0);
    post(8);
    ck_assert_uint_eq(seen.answers, 2);
    ck_assert_uint_eq(seen.sent, 0);
    post(16);
    ck_assert_uint_eq(seen.answers, 2);
    seen.full = false;
    ck_assert(!dataspace_go_on(space));
    ck_assert_uint_eq(seen.sent, 3);
    check_posted(2, 2, 16);
}
END_TEST

START_TEST(the_owner_is_lost_between_pieces)
{
    post(0);
    post(8);
    dataspace_lost(space, 2);
    ck_assert_uint_eq(seen.to[seen.sent - 1].message.kind, WIRE_DATA_AHEAD);
    seen.sent = 0; /* this host owns the tag now */
    post(16);
    ck_assert_uint_eq(seen.sent, 1);
    check_put(0, 16, 8);
    ck_assert_uint_eq(dataspace_totals(space).objects, 1);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(the_process_is_lost_between_pieces)
{
    post(0);
    dataspace_restarted(space, 0);
    ck_assert_uint_eq(seen.sent, 2);
    ck_assert_uint_eq(seen.to[1].host, 2);
    ck_assert_uint_eq(seen.to[1].message.kind, WIRE_DATA_WITHDRAW);
    ck_assert_uint_eq(seen.to[1].message.data_withdraw.life, 1);
    for (unsigned i = 0; i < 3; i++)
        post(8 * i);
    dataspace_restarted(space, 0); /* host 2 has it all */
    ck_assert_uint_eq(seen.sent, 5);
}
END_TEST

/* ---- A host that backs it ---- */

static void ahead(uint64_t size, uint64_t offset)
{
    struct wire_message message = {.kind = WIRE_DATA_AHEAD};

    message.data_ahead.pid = 1;
    message.data_ahead.size = size;
    message.data_ahead.offset = offset;
    if (size > 0)
        message.data_ahead.data = (struct wire_bytes){text + offset, 8};
    dataspace_message(space, 2, &message);
}

/* The rest of it, as the first change. */
static void rest(uint64_t offset)
{
    struct wire_message message = {.kind = WIRE_DATA_COPY};
    struct wire_data_copy *copy = &message.data_copy;

    copy->kind = COPY_PUT;
    copy->part = 2;
    copy->pid = 1;
    copy->change = copy->number = 1;
    copy->has_object = true;
    copy->size = SIZE;
    copy->offset = offset;
    copy->data = (struct wire_bytes){text + offset, SIZE - (uint32_t)offset};
    copy->tag = (struct wire_bytes){theirs, (uint32_t)strlen(theirs)};
    dataspace_message(space, 2, &message);
}

static void get_theirs(void)
{
    struct wire_message message = {.kind = WIRE_DATA_ASK};

    message.data_ask.pid = 1;
    message.data_ask.request = 2;
    message.data_ask.tag = (struct wire_bytes){theirs, (uint32_t)strlen(theirs)};
    message.data_ask.room = SIZE;
    dataspace_message(space, 1, &message);
}

START_TEST(it_is_no_change_before_it_is_whole)
{
    struct wire_message whole = {.kind = WIRE_DATA_COPIED, .data_copied = {2, 1}};

    ahead(SIZE, 0);
    ahead(SIZE, 8);
    ck_assert_uint_eq(seen.sent, 0);
    rest(16);
    ck_assert_uint_eq(seen.sent, 1);
    ck_assert_uint_eq(seen.to[0].message.kind, WIRE_DATA_COPIED);
    dataspace_lost(space, 2);
    dataspace_message(space, 1, &whole);
    get_theirs();
    seen.sent = 0;
    whole.data_copied.change = 2;
    dataspace_message(space, 1, &whole);
    ck_assert_uint_eq(seen.sent, 3);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_mem_eq(seen.to[i].message.data_grant.data.data, text + 8 * i, 8);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(what_is_not_put_after_all)
{
    ahead(SIZE, 0);
    ahead(0, 0);
    ahead(0, 0);
    ck_assert_uint_eq(seen.complaints, 0);
    ahead(SIZE, 8);
    ck_assert_uint_eq(seen.complaints, 1);
    rest(8);
    ck_assert_uint_eq(seen.complaints, 2);
    rest(0);
    ck_assert_uint_eq(seen.complaints, 2);
    ck_assert_uint_eq(seen.sent, 1);
}
END_TEST

START_TEST(it_begins_anew)
{
    ahead(SIZE, 0);
    ahead(SIZE, 8);
    ahead(SIZE, 0);
    rest(8);
    ck_assert_uint_eq(seen.sent, 1);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(its_owner_is_lost)
{
    ahead(SIZE, 0);
    dataspace_lost(space, 2);
    get_theirs(); /* of this host now: there is none */
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
}
END_TEST

START_TEST(pieces_that_do_not_fit)
{
    ahead(SIZE, 0);
    ahead(SIZE, 16);
    ahead(SIZE - 1, 8);
    rest(16);
    ck_assert_uint_eq(seen.complaints, 3);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {pieces_go_on_as_they_come,
                                  what_finds_no_room_goes_later,
                                  who_puts_it_has_it,
                                  the_process_is_restarted,
                                  the_process_is_restarted_and_does_nothing,
                                  the_host_of_the_process_is_lost,
                                  the_host_that_backs_it_is_lost,
                                  an_object_of_this_host,
                                  each_piece_goes_as_it_is_posted,
                                  the_process_goes_on_while_there_is_no_room,
                                  the_owner_is_lost_between_pieces,
                                  the_process_is_lost_between_pieces,
                                  it_is_no_change_before_it_is_whole,
                                  what_is_not_put_after_all,
                                  it_begins_anew,
                                  its_owner_is_lost,
                                  pieces_that_do_not_fit};

    return suite_run_tests("dataspace ahead", tests, sizeof tests / sizeof *tests, set_up,
                           tear_down);
}
