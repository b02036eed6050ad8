/* test_dataspace_lives.c - processes that are restarted alone: the log of answers, and requests
 * that are made again.  Losses at any moment are played in tests/sim/dataspace.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/log.h"
#include "bsprun/dataspace/service.h"
#include "tests/unit/dataspace_calls.h"
#include "tests/unit/suite.h"

#define WINDOW 8u

/* Processes 0 and 1 are here, on host 0; 2 is on host 1. */
static const uint32_t homes[] = {0, 0, 1};
static struct dataspace *space;
static struct pool *pool;
static char ours[8], theirs[8]; /* tags of host 0, and of host 1 */
static unsigned char windows[3][WINDOW];

static struct {
    unsigned answers, sent, complaints, differs;
    struct wire_message message;
    unsigned char data[64];
} seen;

static void on_send(void *context, uint32_t host, const struct wire_message *message)
{
    (void)context, (void)host;
    seen.sent++;
    seen.message = *message;
    if (message->kind == WIRE_DATA_GRANT)
        memcpy(seen.data, message->data_grant.data.data, message->data_grant.data.size);
}

static bool on_has_room(void *context, uint32_t host)
{
    (void)context, (void)host;
    return true;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    (void)context, (void)pid, (void)size, (void)length;
    seen.answers++;
}

static void on_withdrawn(void *context, uint32_t pid)
{
    (void)context, (void)pid;
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    (void)context, (void)host, (void)complaint;
    seen.complaints++;
}

static void on_differs(void *context, uint32_t pid)
{
    (void)context, (void)pid;
    seen.differs++;
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .withdrawn = on_withdrawn,
                                             .no_memory = dataspace_has_memory,
                                             .broken = on_broken,
                                             .differs = on_differs};

static void set_up(void)
{
    struct dataspace_setup setup = {
        .host = 0, .nprocs = 3, .homes = homes, .piece = 64, .log = UINT64_MAX};

    setup.pool = pool = pool_open(UINT64_MAX, 1, 0, NULL, NULL);
    space = dataspace_open(&setup, &calls, NULL);
    ck_assert_ptr_nonnull(space);
    memset(&seen, 0, sizeof seen);
    dataspace_find_tag(space, 0, ours);
    dataspace_find_tag(space, 1, theirs);
}

static void tear_down(void)
{
    dataspace_close(space);
    pool_close(pool);
}

static void post(uint32_t pid, uint64_t number, enum dataspace_kind kind, const char *tag,
                 const char *text)
{
    struct dataspace_request one = {.kind = kind,
                                    .number = number,
                                    .tag = tag,
                                    .tag_size = (uint32_t)strlen(tag),
                                    .piece = windows[pid],
                                    .length =
                                        kind == DATASPACE_PUT ? (uint32_t)strlen(text) : WINDOW,
                                    .size = kind == DATASPACE_PUT ? strlen(text) : WINDOW};

    if (kind == DATASPACE_PUT)
        memcpy(windows[pid], text, strlen(text));
    else
        memset(windows[pid], 0, WINDOW);
    dataspace_posted(space, pid, &one);
}

static void put(uint32_t pid, uint64_t number, const char *tag, const char *text)
{
    post(pid, number, DATASPACE_PUT, tag, text);
}

static void ask(uint32_t pid, uint64_t number, enum dataspace_kind kind, const char *tag)
{
    post(pid, number, kind, tag, NULL);
}

static void ask_from_there(uint32_t life, uint64_t number, bool removes)
{
    struct wire_message message = {.kind = WIRE_DATA_ASK};

    message.data_ask.pid = 2;
    message.data_ask.life = life;
    message.data_ask.request = number;
    message.data_ask.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    message.data_ask.removes = removes;
    message.data_ask.room = 60;
    dataspace_message(space, 1, &message);
}

static void put_from_there(uint32_t life, uint64_t number, const char *text)
{
    struct wire_message message = {.kind = WIRE_DATA_PUT};

    message.data_put.pid = 2;
    message.data_put.life = life;
    message.data_put.request = number;
    message.data_put.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    message.data_put.size = strlen(text);
    message.data_put.data = (struct wire_bytes){text, (uint32_t)strlen(text)};
    dataspace_message(space, 1, &message);
}

/* ---- The log ---- */

START_TEST(a_log_of_answers)
{
    struct log *log = log_open(2, UINT64_MAX);
    struct object *object = object_make(pool, 100), *found = NULL;
    uint64_t get = log_what(DATASPACE_GET, "a", 1), put = log_what(DATASPACE_PUT, "a", 1);

    ck_assert(get != put && get != log_what(DATASPACE_GET, "b", 1));
    ck_assert_int_eq(log_add(log, 1, 3, put, NULL), 0);
    ck_assert_int_eq(log_add(log, 1, 5, get, object), 0);
    ck_assert_int_eq(log_add(log, 1, 0, get, NULL), 0); /* without a number nothing is noted */
    ck_assert_uint_eq(log_bytes(log, 1), 2 * LOG_ENTRY + 100);
    ck_assert_uint_eq(log_bytes(log, 0), 0);
    ck_assert_int_eq(log_find(log, 1, 3, put, true, &found), LOG_STORED);
    ck_assert_int_eq(log_find(log, 1, 5, get, false, &found), LOG_OBJECT);
    ck_assert_ptr_eq(found, object);
    object_drop(found);
    ck_assert_int_eq(log_find(log, 1, 3, put, true, &found), LOG_STORED); /* from the start again */
    ck_assert_int_eq(log_find(log, 1, 6, get, false, &found), LOG_NEW);
    ck_assert_int_eq(log_find(log, 0, 1, get, false, &found), LOG_NEW);
    ck_assert_int_eq(log_find(log, 1, 0, get, false, &found), LOG_NEW);
    ck_assert_int_eq(log_find(log, 1, 6, get, true, &found), LOG_DIFFERS); /* another had it */
    ck_assert_int_eq(log_find(log, 1, 5, put, true, &found), LOG_DIFFERS);
    ck_assert_int_eq(log_find(log, 1, 4, get, true, &found), LOG_DIFFERS);
    log_cut(log, 1, 5);
    ck_assert_uint_eq(log_bytes_all(log), LOG_ENTRY + 100);
    ck_assert_int_eq(log_find(log, 1, 3, put, true, &found), LOG_DIFFERS);
    log_cut(log, 1, 6);
    ck_assert_uint_eq(log_bytes_all(log), 0);
    ck_assert_uint_eq(pool_in_memory(pool), 0);
    log_close(log);
}
END_TEST

START_TEST(a_log_that_is_full)
{
    struct log *log = log_open(2, 3 * LOG_ENTRY);
    struct object *found;

    ck_assert_int_eq(log_add(log, 0, 1, 7, NULL), 0);
    for (uint64_t number = 1; number <= 4; number++)
        ck_assert_int_eq(log_add(log, 1, number, 7, NULL), 0);
    ck_assert_uint_eq(log_bytes_all(log), 3 * LOG_ENTRY);
    ck_assert_int_eq(log_find(log, 1, 2, 7, true, &found), LOG_DIFFERS);
    ck_assert_int_eq(log_find(log, 1, 3, 7, true, &found), LOG_STORED);
    ck_assert_int_eq(log_find(log, 0, 1, 7, true, &found), LOG_STORED);
    log_close(log);
}
END_TEST

/* ---- Processes of this host ---- */

START_TEST(the_same_again)
{
    put(0, 1, ours, "one");
    ask(1, 1, DATASPACE_READ, ours);
    put(0, 2, ours, "two");
    ask(1, 2, DATASPACE_GET, ours);
    ck_assert_mem_eq(windows[1], "two", 3);
    dataspace_restarted(space, 1);
    ask(1, 1, DATASPACE_READ, ours);
    ck_assert_mem_eq(windows[1], "one", 3);
    ask(1, 2, DATASPACE_GET, ours);
    ck_assert_mem_eq(windows[1], "two", 3);
    dataspace_restarted(space, 0);
    put(0, 1, ours, "one");
    put(0, 2, ours, "two");
    ck_assert_uint_eq(seen.answers, 8);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0); /* both were put once */
    put(0, 3, ours, "three");
    ck_assert_uint_eq(dataspace_totals(space).objects, 1);
}
END_TEST

START_TEST(what_is_lost_waits_no_longer)
{
    ask(1, 1, DATASPACE_GET, ours);
    dataspace_restarted(space, 1);
    ck_assert_ptr_null(dataspace_waits_for(space, 1));
    put(0, 1, ours, "one");
    ck_assert_uint_eq(dataspace_totals(space).objects, 1);
    ask(1, 1, DATASPACE_GET, ours);
    ck_assert_mem_eq(windows[1], "one", 3);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
}
END_TEST

START_TEST(lost_between_pieces)
{
    struct dataspace_request one = {.kind = DATASPACE_PUT,
                                    .number = 1,
                                    .tag = ours,
                                    .tag_size = (uint32_t)strlen(ours),
                                    .piece = windows[0],
                                    .length = WINDOW,
                                    .size = 12};

    dataspace_posted(space, 0, &one);
    dataspace_restarted(space, 0);
    put(0, 1, ours, "again");
    ck_assert_uint_eq(dataspace_totals(space).bytes, 5);
}
END_TEST

START_TEST(something_else_than_before)
{
    put(0, 1, ours, "one");
    put(0, 2, ours, "two");
    dataspace_restarted(space, 0);
    ask(0, 1, DATASPACE_READ, ours);
    ck_assert_uint_eq(seen.differs, 1);
    ck_assert_uint_eq(seen.answers, 2);
}
END_TEST

START_TEST(an_image_cuts_the_log)
{
    uint32_t most;

    put(0, 1, ours, "one");
    put(0, 2, ours, "two");
    ask(1, 1, DATASPACE_GET, ours);
    ck_assert_uint_eq(dataspace_logged(space, &most), 3 * LOG_ENTRY + 3);
    ck_assert_uint_eq(most, 0);
    dataspace_cut(space, 0, 2);
    ck_assert_uint_eq(dataspace_logged(space, &most), 2 * LOG_ENTRY + 3);
    ck_assert_uint_eq(most, 1);
    ck_assert_uint_eq(seen.sent, 1); /* to the other owner */
    ck_assert_uint_eq(seen.message.kind, WIRE_DATA_CUT);
    dataspace_cut(space, 1, 2);
    dataspace_cut(space, 0, 3);
    ck_assert_uint_eq(dataspace_logged(space, &most), 0);
    ck_assert_uint_eq(pool_in_memory(pool), 0);
}
END_TEST

/* ---- Other hosts ---- */

START_TEST(answers_to_an_earlier_life)
{
    struct wire_message grant = {.kind = WIRE_DATA_GRANT};
    struct wire_message stored = {.kind = WIRE_DATA_STORED};
    struct wire_message withdrawn = {.kind = WIRE_DATA_WITHDRAWN};

    grant.data_grant.size = 3;
    grant.data_grant.data = (struct wire_bytes){"one", 3};
    ask(0, 1, DATASPACE_GET, theirs);
    ck_assert_uint_eq(seen.message.data_ask.life, 0);
    dataspace_restarted(space, 0);
    dataspace_message(space, 1, &grant);
    dataspace_message(space, 1, &stored);
    dataspace_message(space, 1, &withdrawn);
    ck_assert_uint_eq(seen.answers, 0);
    ask(0, 1, DATASPACE_GET, theirs);
    ck_assert_uint_eq(seen.message.data_ask.life, 1);
    ck_assert_uint_eq(seen.message.data_ask.request, 1);
    dataspace_message(space, 1, &grant);
    ck_assert_uint_eq(seen.answers, 0);
    grant.data_grant.life = 1;
    dataspace_message(space, 1, &grant);
    ck_assert_uint_eq(seen.answers, 1);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(another_host_asks_again)
{
    ask_from_there(0, 1, true);
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    ask_from_there(1, 1, true); /* the one that waited is of an earlier life */
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    put(0, 1, ours, "one");
    ck_assert_uint_eq(seen.message.data_grant.life, 1);
    ck_assert_mem_eq(seen.data, "one", 3);
    ask_from_there(0, 1, true); /* of one that is thought dead */
    ck_assert_uint_eq(seen.sent, 1);
    memset(seen.data, 0, sizeof seen.data);
    ask_from_there(2, 1, true);
    ck_assert_uint_eq(seen.sent, 2);
    ck_assert_mem_eq(seen.data, "one", 3);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(another_host_puts_again)
{
    put_from_there(0, 4, "one");
    ck_assert_uint_eq(seen.message.kind, WIRE_DATA_STORED);
    ask(0, 1, DATASPACE_GET, ours);
    put_from_there(1, 4, "one");
    ck_assert_uint_eq(seen.sent, 2);
    ck_assert_uint_eq(seen.message.data_stored.life, 1);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
    ask_from_there(1, 4, false); /* under that number it has put */
    ck_assert_uint_eq(seen.message.kind, WIRE_DATA_DIFFERS);
    seen.message.data_differs.pid = 0;
    dataspace_message(space, 1, &seen.message); /* of a life that is not */
    ck_assert_uint_eq(seen.differs, 0);
    seen.message.data_differs.life = 0;
    dataspace_message(space, 1, &seen.message);
    ck_assert_uint_eq(seen.differs, 1);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(another_host_cuts)
{
    struct wire_message cut = {.kind = WIRE_DATA_CUT, .data_cut = {.pid = 2, .request = 5}};
    uint32_t most;

    put_from_there(0, 4, "one");
    dataspace_message(space, 1, &cut);
    ck_assert_uint_eq(dataspace_logged(space, &most), 0);
    cut.data_cut.pid = 0; /* not its own */
    dataspace_message(space, 1, &cut);
    ck_assert_uint_eq(seen.complaints, 1);
}
END_TEST

static bool any(void *context, uint32_t pid)
{
    ck_assert_uint_lt(pid, 2); /* it is of this host */
    return pid != *(const uint32_t *)context;
}

START_TEST(another_host_is_told_that_its_process_is_to_be_saved)
{
    const uint64_t all = 4 * LOG_ENTRY;
    struct wire_message cut = {.kind = WIRE_DATA_CUT, .data_cut = {.pid = 2, .request = 3}};
    uint32_t none = 3;

    for (uint64_t number = 1; number <= 3; number++)
        put_from_there(0, number, "one");
    ck_assert_uint_eq(dataspace_burden(space, all, any, &none), 3);
    ck_assert_uint_eq(seen.message.kind, WIRE_DATA_HOW_FAR);
    ck_assert(!seen.message.data_how_far.answers);
    ck_assert_uint_eq(seen.message.data_how_far.pid, 2);
    ck_assert_uint_eq(seen.message.data_how_far.request, 3);
    ck_assert_uint_eq(seen.sent, 4);
    ck_assert_uint_eq(dataspace_burden(space, all, any, &none), 3); /* it knows */
    ck_assert_uint_eq(seen.sent, 4);
    put(1, 1, ours, "two"); /* ... and does not keep others from it */
    ck_assert_uint_eq(dataspace_burden(space, all, any, &none), 1);
    dataspace_cut(space, 1, 2);
    dataspace_message(space, 1, &cut);
    ck_assert_uint_eq(dataspace_burden(space, all, any, &none), 3);
    for (uint64_t number = 4; number <= 5; number++)
        put_from_there(0, number, "one");
    ck_assert_uint_eq(dataspace_burden(space, all, any, &none), 3);
    ck_assert_uint_eq(seen.message.kind, WIRE_DATA_HOW_FAR);
    ck_assert_uint_eq(seen.message.data_how_far.request, 5);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(another_host_wants_a_process_to_be_saved)
{
    struct wire_message wants = {.kind = WIRE_DATA_HOW_FAR,
                                 .data_how_far = {.pid = 0, .request = 5}};
    uint32_t none = 3, zero = 0;

    dataspace_message(space, 1, &wants);
    ck_assert_uint_eq(dataspace_burden(space, UINT64_MAX, any, &zero), 3);
    ck_assert_uint_eq(dataspace_burden(space, UINT64_MAX, any, &none), 0);
    dataspace_cut(space, 0, 5); /* it may repeat that one */
    ck_assert_uint_eq(dataspace_burden(space, UINT64_MAX, any, &none), 0);
    dataspace_cut(space, 0, 6);
    ck_assert_uint_eq(dataspace_burden(space, UINT64_MAX, any, &none), 3);
    dataspace_message(space, 1, &wants); /* before it heard of that */
    ck_assert_uint_eq(dataspace_burden(space, UINT64_MAX, any, &none), 3);
    ck_assert_uint_eq(seen.complaints, 0);
    wants.data_how_far.pid = 2; /* which is its own */
    dataspace_message(space, 1, &wants);
    ck_assert_uint_eq(seen.complaints, 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_log_of_answers,
                                  a_log_that_is_full,
                                  the_same_again,
                                  what_is_lost_waits_no_longer,
                                  lost_between_pieces,
                                  something_else_than_before,
                                  an_image_cuts_the_log,
                                  answers_to_an_earlier_life,
                                  another_host_asks_again,
                                  another_host_puts_again,
                                  another_host_cuts,
                                  another_host_is_told_that_its_process_is_to_be_saved,
                                  another_host_wants_a_process_to_be_saved};

    return suite_run_tests("dataspace lives", tests, sizeof tests / sizeof *tests, set_up,
                           tear_down);
}
