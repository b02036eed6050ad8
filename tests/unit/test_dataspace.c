/* test_dataspace.c - one host's part of the dataspace: the order of operations on a tag, pieces,
 * and what other hosts must not send.  The dataspace of several hosts is played in
 * tests/sim/dataspace.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/keeper.h"
#include "bsprun/dataspace/service.h"
#include "lib/base/kept.h"
#include "tests/unit/dataspace_calls.h"
#include "tests/unit/suite.h"

#define WINDOW 8u

/* Processes 0 and 1 are here, on host 0; 2 is on host 1. */
static const uint32_t homes[] = {0, 0, 1};
static struct dataspace *space;
static struct pool *pool;
static char ours[8], theirs[8]; /* tags of host 0, and of host 1 */
static bool has_room;

static struct {
    unsigned answers, withdrawn, sent, complaints, failures;
    uint32_t pid, length, host;
    uint64_t size;
    struct wire_message message;
    unsigned char data[64];
} seen;

static unsigned char windows[3][WINDOW];

static void on_send(void *context, uint32_t host, const struct wire_message *message)
{
    (void)context;
    seen.sent++;
    seen.host = host;
    seen.message = *message;
    if (message->kind == WIRE_DATA_GRANT)
        memcpy(seen.data, message->data_grant.data.data, message->data_grant.data.size);
}

static bool on_has_room(void *context, uint32_t host)
{
    (void)context;
    ck_assert_uint_eq(host, 1);
    return has_room;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    (void)context;
    seen.answers++;
    seen.pid = pid;
    seen.size = size;
    seen.length = length;
}

static void on_withdrawn(void *context, uint32_t pid)
{
    (void)context, (void)pid;
    seen.withdrawn++;
}

static void on_no_memory(void *context, uint32_t pid, uint64_t bytes)
{
    (void)context, (void)pid, (void)bytes;
    seen.failures++;
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    (void)context;
    ck_assert_uint_eq(host, 1);
    ck_assert_uint_gt(strlen(complaint), 0);
    seen.complaints++;
}

static void on_differs(void *context, uint32_t pid)
{
    (void)context, (void)pid;
    ck_abort_msg("nothing has been asked for before");
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .withdrawn = on_withdrawn,
                                             .no_memory = on_no_memory,
                                             .broken = on_broken,
                                             .differs = on_differs};

static void set_up(void)
{
    struct dataspace_setup setup = {.host = 0, .nprocs = 3, .homes = homes, .piece = 4};

    setup.pool = pool = pool_open(UINT64_MAX, 1, 0, NULL, NULL);
    space = dataspace_open(&setup, &calls, NULL);
    ck_assert_ptr_nonnull(space);
    memset(&seen, 0, sizeof seen);
    has_room = true;
    dataspace_find_tag(space, 0, ours);
    dataspace_find_tag(space, 1, theirs);
}

static void tear_down(void)
{
    dataspace_close(space);
    pool_close(pool); /* which looks whether all objects are gone */
}

static struct dataspace_request request(enum dataspace_kind kind, uint32_t pid, const char *tag,
                                        uint64_t size)
{
    return (struct dataspace_request){
        .kind = kind,
        .tag = tag,
        .tag_size = (uint32_t)strlen(tag),
        .piece = windows[pid],
        .length = kind == DATASPACE_PUT && size < WINDOW ? (uint32_t)size : WINDOW,
        .size = size};
}

static void put(uint32_t pid, const char *tag, const char *text)
{
    struct dataspace_request one = request(DATASPACE_PUT, pid, tag, strlen(text));

    memcpy(windows[pid], text, strlen(text));
    dataspace_posted(space, pid, &one);
}

static void ask(enum dataspace_kind kind, uint32_t pid, const char *tag, uint64_t room)
{
    struct dataspace_request one = request(kind, pid, tag, room);

    dataspace_posted(space, pid, &one);
}

static void expect(uint32_t pid, const char *text)
{
    ck_assert_uint_eq(seen.pid, pid);
    ck_assert_uint_eq(seen.length, strlen(text));
    ck_assert_mem_eq(windows[pid], text, strlen(text));
}

/* ---- Operations ---- */

START_TEST(a_read_leaves_and_a_get_removes)
{
    put(0, ours, "one");
    ask(DATASPACE_READ, 1, ours, WINDOW);
    expect(1, "one");
    ask(DATASPACE_GET, 1, ours, WINDOW);
    expect(1, "one");
    ck_assert_uint_eq(seen.answers, 3);
    ck_assert_uint_eq(dataspace_totals(space).tags, 0);
    ask(DATASPACE_READ, 1, ours, WINDOW);
    ck_assert_uint_eq(seen.answers, 3);
    ck_assert_uint_eq(dataspace_totals(space).tags, 1);
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    ck_assert_ptr_nonnull(dataspace_waits_for(space, 1));
    ck_assert_ptr_null(dataspace_waits_for(space, 0));
}
END_TEST

START_TEST(a_put_replaces)
{
    put(0, ours, "one");
    put(0, ours, "other");
    ck_assert_uint_eq(dataspace_totals(space).objects, 1);
    ck_assert_uint_eq(dataspace_totals(space).bytes, 5);
    ask(DATASPACE_GET, 1, ours, WINDOW);
    expect(1, "other");
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
    ck_assert_uint_eq(dataspace_totals(space).bytes, 0);
}
END_TEST

START_TEST(who_waits_gets_it_in_order)
{
    struct wire_message message = {.kind = WIRE_DATA_ASK};

    ask(DATASPACE_GET, 0, ours, WINDOW);
    message.data_ask.pid = 2;
    message.data_ask.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    message.data_ask.room = 100;
    dataspace_message(space, 1, &message); /* a read behind the get */
    ck_assert_uint_eq(dataspace_totals(space).waiting, 2);
    put(1, ours, "one");
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    ck_assert_uint_eq(seen.sent, 0); /* the get came first, and nothing was left */
    put(1, ours, "two");
    ck_assert_uint_eq(seen.sent, 1);
    ck_assert_uint_eq(seen.message.data_grant.pid, 2);
    ck_assert_mem_eq(seen.data, "two", 3);
    ck_assert_uint_eq(dataspace_totals(space).objects, 1); /* it was read */
}
END_TEST

START_TEST(nothing_is_an_object_too)
{
    put(0, ours, "");
    ask(DATASPACE_GET, 1, ours, 0);
    ck_assert_uint_eq(seen.answers, 2);
    ck_assert_uint_eq(seen.size, 0);
    ask(DATASPACE_GET, 1, ours, 0); /* which a put ends, and nothing is left of the tag */
    put(0, ours, "x");
    ck_assert_uint_eq(seen.answers, 4);
    ck_assert_uint_eq(dataspace_totals(space).tags, 0);
}
END_TEST

START_TEST(no_more_than_there_is_room_for)
{
    put(0, ours, "abcdef");
    ask(DATASPACE_GET, 1, ours, 2);
    expect(1, "ab");
    ck_assert_uint_eq(seen.size, 2);
}
END_TEST

/* The board is the program's memory, too: what it says of later pieces may be anything. */
START_TEST(pieces_that_claim_more)
{
    struct dataspace_request one = request(DATASPACE_PUT, 0, ours, 12);

    dataspace_posted(space, 0, &one);
    one.size = 1000;
    one.length = 8;
    dataspace_posted(space, 0, &one);
    ck_assert_uint_eq(seen.length, 4);
    ck_assert_uint_eq(seen.size, 12);
    ck_assert_uint_eq(dataspace_totals(space).bytes, 12);
}
END_TEST

START_TEST(in_pieces)
{
    struct dataspace_request one = request(DATASPACE_PUT, 0, ours, 12);

    memcpy(windows[0], "abcdefgh", 8);
    dataspace_posted(space, 0, &one);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
    one.length = 4;
    memcpy(windows[0], "ijkl", 4);
    dataspace_posted(space, 0, &one);
    ck_assert_uint_eq(dataspace_totals(space).objects, 1);
    ask(DATASPACE_GET, 1, ours, 100);
    expect(1, "abcdefgh");
    ck_assert_uint_eq(seen.size, 12);
    ask(DATASPACE_GET, 1, ours, 100); /* the next piece, whatever it says */
    expect(1, "ijkl");
}
END_TEST

/* ---- Snapshots ---- */

START_TEST(what_waits_is_withdrawn)
{
    ask(DATASPACE_GET, 0, ours, WINDOW);
    ask(DATASPACE_READ, 1, ours, WINDOW);
    dataspace_withdraw(space, 0);
    ck_assert_uint_eq(seen.withdrawn, 1);
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    dataspace_withdraw(space, 0); /* waits for nothing */
    ck_assert_uint_eq(seen.withdrawn, 1);
    ck_assert_ptr_null(dataspace_waits_for(space, 0));
    put(0, ours, "one"); /* the reader gets it, and nobody takes it away */
    ck_assert_mem_eq(windows[1], "one", 3);
    ck_assert_uint_eq(seen.answers, 2);
    ck_assert_uint_eq(dataspace_totals(space).objects, 1);
    ask(DATASPACE_GET, 0, ours, WINDOW);
    expect(0, "one");
    dataspace_withdraw(space, 0);
    ck_assert_uint_eq(seen.withdrawn, 1);
}
END_TEST

/* The owner forgets it, or has granted it before it hears of that. */
START_TEST(withdrawn_at_another_host)
{
    struct wire_message withdrawn = {.kind = WIRE_DATA_WITHDRAWN};
    struct wire_message grant = {.kind = WIRE_DATA_GRANT,
                                 .data_grant = {.pid = 0, .size = 3, .data = {"one", 3}}};

    ask(DATASPACE_GET, 0, theirs, WINDOW);
    dataspace_withdraw(space, 0);
    ck_assert_uint_eq(seen.message.kind, WIRE_DATA_WITHDRAW);
    ck_assert_uint_eq(seen.message.data_withdraw.tag.size, strlen(theirs));
    ck_assert_uint_eq(seen.withdrawn, 0);
    ck_assert_ptr_null(dataspace_waits_for(space, 0)); /* something is on its way */
    dataspace_withdraw(space, 0);
    ck_assert_uint_eq(seen.sent, 2);
    dataspace_message(space, 1, &withdrawn);
    ck_assert_uint_eq(seen.withdrawn, 1);
    ask(DATASPACE_GET, 0, theirs, WINDOW);
    dataspace_withdraw(space, 0);
    dataspace_message(space, 1, &grant);
    expect(0, "one");
    ck_assert_uint_eq(seen.complaints, 0);
    dataspace_message(space, 1, &withdrawn);
    ck_assert_uint_eq(seen.complaints, 1);
    ck_assert_uint_eq(seen.withdrawn, 1);
}
END_TEST

START_TEST(another_host_withdraws)
{
    struct wire_bytes tag = {ours, (uint32_t)strlen(ours)};
    struct wire_message asks = {.kind = WIRE_DATA_ASK,
                                .data_ask = {.pid = 2, .tag = tag, .removes = true, .room = 9}};
    struct wire_message withdraws = {.kind = WIRE_DATA_WITHDRAW,
                                     .data_withdraw = {.pid = 2, .tag = tag}};

    dataspace_message(space, 1, &asks);
    dataspace_message(space, 1, &withdraws);
    ck_assert_uint_eq(seen.sent, 1);
    ck_assert_uint_eq(seen.message.kind, WIRE_DATA_WITHDRAWN);
    ck_assert_uint_eq(dataspace_totals(space).tags, 0);
    put(0, ours, "x");
    dataspace_message(space, 1, &asks); /* granted at once */
    ck_assert_uint_eq(seen.message.kind, WIRE_DATA_GRANT);
    dataspace_message(space, 1, &withdraws); /* too late, and no answer */
    ck_assert_uint_eq(seen.sent, 2);
    dataspace_message(space, 1, &asks);
    withdraws.data_withdraw.tag = (struct wire_bytes){"another", 7};
    dataspace_message(space, 1, &withdraws);
    ck_assert_uint_eq(seen.complaints, 1);
}
END_TEST

/* The stream in rooms of that many bytes is of the moment at which it began. */
static void read_in(uint32_t room)
{
    static const char *const texts[] = {"", "one", "seven"};
    char names[3][16] = {"", "b", "a longer tag"}, stream[1024];
    struct keeper *keeper;
    uint64_t done = 0, at = 0;
    uint32_t length;

    for (int i = 0; i < 3; i++) { /* by the owner of all tags */
        for (int more = 0; dataspace_owner(space, names[i], strlen(names[i])) != 0; more++)
            snprintf(names[i], sizeof names[i], "%.*s%d", i, "xx", more);
        put(0, names[i], texts[i]);
    }
    keeper = dataspace_keep(space);
    ck_assert_ptr_nonnull(keeper);
    put(0, names[1], "other");
    put(0, ours, "new");
    while ((length = keeper_read(keeper, stream + done, room)) > 0)
        done += length;
    ck_assert_uint_eq(done, keeper_size(keeper));
    ck_assert_uint_eq(done, keeper_done(keeper));
    for (int i = 0; i < 3; i++) {
        struct bspz_kept_object header;
        const char *tag = stream + at + sizeof header;
        int which = 0;

        memcpy(&header, stream + at, sizeof header);
        while (which < 3 && (strlen(names[which]) != header.tag_size ||
                             memcmp(names[which], tag, header.tag_size) != 0))
            which++;
        ck_assert_int_lt(which, 3);
        ck_assert_uint_eq(header.size, strlen(texts[which]));
        ck_assert_mem_eq(tag + header.tag_size, texts[which], header.size);
        at += sizeof header + header.tag_size + header.size;
    }
    ck_assert_uint_eq(at, done);
    keeper_end(keeper);
    ask(DATASPACE_GET, 1, ours, WINDOW);
}

START_TEST(all_objects_as_a_stream)
{
    struct keeper *keeper;
    char some[20];

    read_in(1);
    read_in(7);
    read_in(1000);
    keeper = dataspace_keep(space); /* given up halfway */
    keeper_read(keeper, some, sizeof some);
    keeper_end(keeper);
}
END_TEST

/* ---- Other hosts ---- */

START_TEST(a_put_for_another_host)
{
    struct wire_message stored = {.kind = WIRE_DATA_STORED};

    has_room = false;
    put(0, theirs, "one");
    ck_assert_uint_eq(seen.sent, 0);
    ck_assert(dataspace_go_on(space));
    has_room = true;
    ck_assert(!dataspace_go_on(space));
    ck_assert_uint_eq(seen.sent, 1);
    ck_assert_uint_eq(seen.message.data_put.tag.size, strlen(theirs));
    ck_assert_uint_eq(seen.answers, 0); /* it has not taken effect */
    dataspace_message(space, 1, &stored);
    ck_assert_uint_eq(seen.answers, 1);
    dataspace_message(space, 1, &stored);
    ck_assert_uint_eq(seen.complaints, 1);
}
END_TEST

START_TEST(a_grant_while_there_is_no_room)
{
    struct wire_message message = {.kind = WIRE_DATA_ASK};

    put(0, ours, "abcdefg");
    message.data_ask.pid = 2;
    message.data_ask.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    message.data_ask.removes = true;
    message.data_ask.room = 6;
    has_room = false;
    dataspace_message(space, 1, &message);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
    ck_assert_uint_eq(seen.sent, 0);
    has_room = true;
    ck_assert(!dataspace_go_on(space));
    ck_assert_uint_eq(seen.sent, 2); /* 4 bytes and 2 */
    ck_assert_uint_eq(seen.message.data_grant.offset, 4);
    ck_assert_uint_eq(seen.message.data_grant.size, 6);
    ck_assert_mem_eq(seen.data, "ef", 2);
}
END_TEST

static void grant(uint64_t offset, const char *text)
{
    struct wire_message message = {.kind = WIRE_DATA_GRANT};

    message.data_grant.size = 20;
    message.data_grant.offset = offset;
    message.data_grant.data = (struct wire_bytes){text, (uint32_t)strlen(text)};
    dataspace_message(space, 1, &message);
}

START_TEST(a_process_takes_what_has_come)
{
    ask(DATASPACE_GET, 0, theirs, 100);
    grant(0, "abcd");
    ck_assert_uint_eq(seen.answers, 0);
    grant(4, "efghij");
    expect(0, "abcdefgh");
    ck_assert_uint_eq(seen.size, 20);
    grant(10, "klmnop"); /* it has not asked for that */
    ck_assert_uint_eq(seen.answers, 1);
    dataspace_withdraw(space, 0); /* it waits for no object */
    ask(DATASPACE_GET, 0, theirs, 100);
    expect(0, "ijklmnop");
    ask(DATASPACE_GET, 0, theirs, 100);
    ck_assert_ptr_null(dataspace_waits_for(space, 0));
    ck_assert_uint_eq(seen.answers, 2);
    grant(16, "qrst");
    expect(0, "qrst");
    ck_assert_uint_eq(seen.answers, 3);
    ck_assert_uint_eq(seen.sent + seen.withdrawn, 1);
}
END_TEST

/* Each is refused, and nothing comes of it. */
START_TEST(what_breaks_the_rules)
{
    struct wire_bytes data = {"abcd", 4};
    struct wire_bytes our_tag = {ours, (uint32_t)strlen(ours)};
    struct wire_bytes their_tag = {theirs, (uint32_t)strlen(theirs)};
    struct wire_message bad[] = {
        {.kind = WIRE_DATA_ASK, .data_ask = {.pid = 3, .tag = our_tag}},
        {.kind = WIRE_DATA_ASK, .data_ask = {.pid = 0, .tag = our_tag}},
        {.kind = WIRE_DATA_ASK, .data_ask = {.pid = 2, .tag = their_tag}},
        {.kind = WIRE_DATA_PUT, .data_put = {.pid = 1, .tag = our_tag, .size = 4, .data = data}},
        {.kind = WIRE_DATA_STORED, .data_stored = {.pid = 0}},
        {.kind = WIRE_DATA_STORED, .data_stored = {.pid = 2}},
        {.kind = WIRE_DATA_GRANT, .data_grant = {.pid = 0, .size = 4, .data = data}},
        {.kind = WIRE_DATA_GRANT, .data_grant = {.pid = 9, .size = 4, .data = data}},
        {.kind = WIRE_DATA_WITHDRAW, .data_withdraw = {.pid = 0, .tag = our_tag}},
        {.kind = WIRE_DATA_WITHDRAW, .data_withdraw = {.pid = 3, .tag = our_tag}},
        {.kind = WIRE_DATA_WITHDRAWN, .data_withdrawn = {.pid = 0}},
        {.kind = WIRE_DATA_WITHDRAWN, .data_withdrawn = {.pid = 2}},
    };

    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        dataspace_message(space, 1, &bad[i]);
        ck_assert_msg(seen.complaints == i + 1, "message %u is taken", i);
    }
    ck_assert_uint_eq(seen.sent + seen.answers + seen.failures, 0);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
}
END_TEST

START_TEST(pieces_out_of_place)
{
    struct wire_message piece = {.kind = WIRE_DATA_PUT};
    struct wire_message ask_again = {.kind = WIRE_DATA_ASK};

    piece.data_put.pid = 2;
    piece.data_put.size = 12;
    piece.data_put.data = (struct wire_bytes){"abcd", 4};
    dataspace_message(space, 1, &piece);
    ck_assert_uint_eq(seen.complaints, 0);
    ask_again.data_ask.pid = 2;
    ask_again.data_ask.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    dataspace_message(space, 1, &ask_again);
    ck_assert_uint_eq(seen.complaints, 1);
    piece.data_put.offset = 8; /* a gap, before what would be the end */
    piece.data_put.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    dataspace_message(space, 1, &piece);
    ck_assert_uint_eq(seen.complaints, 2);
    piece.data_put.offset = 4;
    piece.data_put.size = 13; /* another size */
    dataspace_message(space, 1, &piece);
    ck_assert_uint_eq(seen.complaints, 3);
    piece.data_put.size = 12;
    piece.data_put.data.size = 0; /* which would go on for ever */
    dataspace_message(space, 1, &piece);
    ck_assert_uint_eq(seen.complaints, 4);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
}
END_TEST

START_TEST(a_grant_of_more_than_was_asked_for)
{
    struct wire_message grant = {.kind = WIRE_DATA_GRANT};

    ask(DATASPACE_GET, 0, theirs, 3);
    ck_assert_uint_eq(seen.sent, 1);
    ck_assert_uint_eq(seen.message.data_ask.room, 3);
    grant.data_grant.size = 4;
    grant.data_grant.data = (struct wire_bytes){"abcd", 4};
    dataspace_message(space, 1, &grant);
    ck_assert_uint_eq(seen.complaints, 1);
    ck_assert_uint_eq(seen.answers, 0);
}
END_TEST

/* Further pieces of an object that there was no memory for must not be taken. */
START_TEST(no_memory_for_what_comes)
{
    struct pool *none = pool_open(0, 1000, 0, NULL, NULL);
    struct dataspace_setup setup = {
        .host = 0, .nprocs = 3, .homes = homes, .piece = 4, .pool = none};
    struct wire_message piece = {.kind = WIRE_DATA_PUT};
    struct wire_message grant = {.kind = WIRE_DATA_GRANT};

    tear_down();
    pool = none;
    space = dataspace_open(&setup, &calls, NULL);
    piece.data_put.pid = 2;
    piece.data_put.size = grant.data_grant.size = 8;
    piece.data_put.data = grant.data_grant.data = (struct wire_bytes){"abcd", 4};
    dataspace_message(space, 1, &piece);
    ck_assert_uint_eq(seen.failures, 1);
    piece.data_put.offset = 4;
    dataspace_message(space, 1, &piece);
    ck_assert_uint_eq(seen.complaints, 1);
    ask(DATASPACE_GET, 0, theirs, 8);
    dataspace_message(space, 1, &grant);
    ck_assert_uint_eq(seen.failures, 2);
    grant.data_grant.offset = 4;
    dataspace_message(space, 1, &grant);
    ck_assert_uint_eq(seen.failures + seen.complaints, 4);
    ck_assert_uint_eq(seen.answers, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_read_leaves_and_a_get_removes,
                                  a_put_replaces,
                                  who_waits_gets_it_in_order,
                                  nothing_is_an_object_too,
                                  no_more_than_there_is_room_for,
                                  in_pieces,
                                  pieces_that_claim_more,
                                  what_waits_is_withdrawn,
                                  withdrawn_at_another_host,
                                  another_host_withdraws,
                                  all_objects_as_a_stream,
                                  a_put_for_another_host,
                                  a_grant_while_there_is_no_room,
                                  a_process_takes_what_has_come,
                                  what_breaks_the_rules,
                                  pieces_out_of_place,
                                  a_grant_of_more_than_was_asked_for,
                                  no_memory_for_what_comes};

    return suite_run_tests("dataspace", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
