/* test_dataspace_replicas.c - processes with replicas: single put, identical get, what differs, as
 * the owner of a tag sees it.  Losses at any moment are played in tests/sim/dataspace.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/copies.h"
#include "bsprun/dataspace/log.h"
#include "bsprun/dataspace/service.h"
#include "tests/unit/dataspace_calls.h"
#include "tests/unit/suite.h"

#define WINDOW 8u

/* Process 0 is on hosts 0 and 2, process 1 on hosts 1 and 3; this is host 0. */
static const uint32_t homes[] = {0, 1}, leads[] = {0, 1, 0, 1};
static struct dataspace *space;
static struct pool *pool;
static uint64_t now;
static char ours[8];
static unsigned char window[WINDOW];

static struct {
    unsigned answers, withdrawn, complaints, mismatches;
    unsigned granted[4], stored[4], forgotten[4]; /* by host */
    unsigned sends[4], offers[4], cuts[4];        /* ... told to */
    uint32_t behind;                              /* the host that is too far; 0: none */
    struct dataspace_mismatch mismatch;
    unsigned char data[WINDOW];
} seen;

static void on_send(void *context, uint32_t host, const struct wire_message *message)
{
    (void)context;
    if (message->kind == WIRE_DATA_GRANT) {
        seen.granted[host]++;
        memcpy(seen.data, message->data_grant.data.data, message->data_grant.data.size);
    }
    if (message->kind == WIRE_DATA_TURN)
        (message->data_turn.sends ? seen.sends : seen.offers)[host]++;
    seen.cuts[host] += message->kind == WIRE_DATA_CUT;
    seen.stored[host] += message->kind == WIRE_DATA_STORED;
    seen.forgotten[host] += message->kind == WIRE_DATA_WITHDRAWN;
}

static bool on_has_room(void *context, uint32_t host)
{
    (void)context, (void)host;
    return true;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    (void)context, (void)size, (void)length;
    ck_assert_uint_eq(pid, 0);
    seen.answers++;
}

static void on_withdrawn(void *context, uint32_t pid)
{
    (void)context, (void)pid;
    seen.withdrawn++;
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    (void)context, (void)host, (void)complaint;
    seen.complaints++;
}

static void on_mismatch(void *context, const struct dataspace_mismatch *mismatch)
{
    (void)context;
    seen.mismatches++;
    seen.mismatch = *mismatch;
}

static void on_too_far_behind(void *context, uint32_t pid, uint32_t host)
{
    (void)context;
    ck_assert_uint_eq(pid, 1);
    seen.behind = host;
}

static uint64_t on_now(void *context)
{
    (void)context;
    return now;
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .withdrawn = on_withdrawn,
                                             .no_memory = dataspace_has_memory,
                                             .broken = on_broken,
                                             .mismatch = on_mismatch,
                                             .too_far_behind = on_too_far_behind,
                                             .now_ms = on_now};

static void open_space(uint32_t copies)
{
    struct dataspace_setup setup = {.host = 0,
                                    .nprocs = 2,
                                    .homes = homes,
                                    .hosts = 4,
                                    .leads = leads,
                                    .copies = copies,
                                    .piece = 64,
                                    .log = 3 * LOG_ENTRY,
                                    .large = 3,
                                    .cut_every = 4,
                                    .behind_most = 2};

    setup.pool = pool = pool_open(UINT64_MAX, 1, 0, NULL, NULL);
    space = dataspace_open(&setup, &calls, NULL);
    ck_assert_ptr_nonnull(space);
    memset(&seen, 0, sizeof seen);
    now = 0;
    dataspace_find_tag(space, 0, ours);
}

static void set_up(void)
{
    open_space(1);
}

static void tear_down(void)
{
    dataspace_close(space);
    pool_close(pool);
}

static void post(uint64_t number, enum dataspace_kind kind, const char *text)
{
    struct dataspace_request one = {.kind = kind,
                                    .number = number,
                                    .tag = ours,
                                    .tag_size = (uint32_t)strlen(ours),
                                    .piece = window,
                                    .length =
                                        kind == DATASPACE_PUT ? (uint32_t)strlen(text) : WINDOW,
                                    .size = kind == DATASPACE_PUT ? strlen(text) : WINDOW};

    if (kind == DATASPACE_PUT)
        memcpy(window, text, strlen(text));
    dataspace_posted(space, 0, &one);
}

/* As a replica of process 1 on that host would; place: of the host in its cell. */
static void say_call(uint32_t host, uint64_t what)
{
    struct wire_message message = {.kind = WIRE_DATA_CALL};

    message.data_call.pid = 1;
    message.data_call.what = what | (host == 3);
    dataspace_message(space, host, &message);
}

static void ask(uint32_t host, uint64_t number, uint64_t what)
{
    struct wire_message message = {.kind = WIRE_DATA_ASK};

    say_call(host, what);
    message.data_ask.pid = 1;
    message.data_ask.request = number;
    message.data_ask.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    message.data_ask.removes = true;
    message.data_ask.room = 100;
    dataspace_message(space, host, &message);
}

static void put(uint32_t host, uint64_t number, uint64_t what, const char *text)
{
    struct wire_message message = {.kind = WIRE_DATA_PUT};

    say_call(host, what);
    message.data_put.pid = 1;
    message.data_put.request = number;
    message.data_put.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    message.data_put.size = strlen(text);
    message.data_put.data = (struct wire_bytes){text, (uint32_t)strlen(text)};
    dataspace_message(space, host, &message);
}

#define CALL    (UINT64_C(7) << 32)
#define CONTENT (UINT64_C(5) << 4)

START_TEST(all_replicas_that_wait_get_the_same_object_once)
{
    ask(1, 1, CALL);
    ask(3, 1, CALL);
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    post(1, DATASPACE_PUT, "one");
    ck_assert_uint_eq(seen.granted[1], 1);
    ck_assert_uint_eq(seen.granted[3], 1);
    ck_assert_mem_eq(seen.data, "one", 3);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
}
END_TEST

START_TEST(a_later_replica_gets_what_the_first_one_got)
{
    post(1, DATASPACE_PUT, "one");
    ask(1, 1, CALL);
    post(2, DATASPACE_PUT, "two");
    ask(3, 1, CALL);
    ck_assert_uint_eq(seen.granted[3], 1);
    ck_assert_mem_eq(seen.data, "one", 3);
    ck_assert_uint_eq(dataspace_totals(space).objects, 1);
}
END_TEST

START_TEST(a_put_takes_effect_once)
{
    put(3, 1, CALL, "one");
    ck_assert_uint_eq(seen.stored[3], 1);
    post(1, DATASPACE_GET, "");
    ck_assert_uint_eq(seen.answers, 1);
    put(1, 1, CALL, "one");
    ck_assert_uint_eq(seen.stored[1], 1);
    ck_assert_uint_eq(dataspace_totals(space).objects, 0);
}
END_TEST

START_TEST(one_that_withdraws_leaves_the_others_waiting)
{
    struct wire_message message = {.kind = WIRE_DATA_WITHDRAW};

    ask(1, 1, CALL);
    ask(3, 1, CALL);
    message.data_withdraw.pid = 1;
    message.data_withdraw.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    dataspace_message(space, 1, &message);
    ck_assert_uint_eq(seen.forgotten[1], 1);
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    post(1, DATASPACE_PUT, "one");
    ck_assert_uint_eq(seen.granted[1], 0);
    ck_assert_uint_eq(seen.granted[3], 1);
    ask(1, 1, CALL);
    ck_assert_uint_eq(seen.granted[1], 1);
}
END_TEST

START_TEST(the_loss_of_the_host_of_one_leaves_the_others_waiting)
{
    struct wire_message copied = {.kind = WIRE_DATA_COPIED, .data_copied = {0, 2}};

    tear_down();
    open_space(2);
    ask(1, 1, CALL);
    ask(3, 1, CALL);
    dataspace_lost(space, 3);
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    post(1, DATASPACE_PUT, "one");
    ck_assert_uint_eq(seen.granted[1], 0);
    dataspace_message(space, 1, &copied); /* the put, and what it granted */
    ck_assert_uint_eq(seen.granted[1], 1);
    ck_assert_uint_eq(seen.granted[3], 0);
}
END_TEST

static void expect_mismatch(uint64_t number, uint32_t second, uint32_t first, bool answered)
{
    ck_assert_uint_eq(seen.mismatches, 1);
    ck_assert_uint_eq(seen.mismatch.pid, 1);
    ck_assert_uint_eq(seen.mismatch.number, number);
    ck_assert_uint_eq(seen.mismatch.hosts[0], second);
    ck_assert_uint_eq(seen.mismatch.hosts[1], first);
    ck_assert_uint_eq(seen.mismatch.answered, answered);
}

START_TEST(data_that_differ_are_told_and_answered)
{
    put(3, 1, CALL, "one");
    put(1, 1, CALL | CONTENT, "two");
    expect_mismatch(1, 1, 3, true);
    ck_assert_uint_eq(seen.stored[1], 1);
    post(1, DATASPACE_GET, "");
    ck_assert_mem_eq(window, "one", 3);
}
END_TEST

START_TEST(another_call_is_told_and_not_answered)
{
    put(3, 1, CALL, "one");
    put(1, 1, 2 * CALL, "one");
    expect_mismatch(1, 1, 3, false);
    ck_assert_uint_eq(seen.stored[1], 0);
}
END_TEST

START_TEST(a_request_past_one_that_waits_differs)
{
    ask(1, 1, CALL);
    ask(3, 2, CALL);
    expect_mismatch(2, 3, 1, false);
}
END_TEST

START_TEST(a_request_that_was_made_elsewhere_differs)
{
    put(3, 2, CALL, "one");
    put(1, 1, CALL, "one");
    expect_mismatch(1, 1, 3, false);
}
END_TEST

START_TEST(a_replica_speaks_for_itself)
{
    say_call(1, 1);
    ck_assert_uint_eq(seen.complaints, 1);
    ask(2, 1, 0); /* it has no replica of process 1 */
    ck_assert_uint_ge(seen.complaints, 2);
}
END_TEST

static void offer(uint32_t host, uint64_t number, uint64_t what)
{
    struct wire_message message = {.kind = WIRE_DATA_OFFER};

    message.data_offer.pid = 1;
    message.data_offer.request = number;
    message.data_offer.what = what | (host == 3);
    message.data_offer.tag = (struct wire_bytes){ours, (uint32_t)strlen(ours)};
    dataspace_message(space, host, &message);
}

/* The place of process 1 among processes that go on alone is one of process 0 here. */
START_TEST(a_process_with_replicas_does_not_go_on_alone)
{
    struct wire_message past = {.kind = WIRE_DATA_PAST,
                                .data_past = {.pid = 1, .life = 1, .round = 1}};

    tear_down();
    open_space(2);
    dataspace_lost(space, 2);
    dataspace_message(space, 3, &past);
    ck_assert_uint_eq(seen.complaints, 1);
    past.kind = WIRE_DATA_PAST_IS;
    past.data_past_is.pid = 1;
    dataspace_message(space, 3, &past);
    ck_assert_uint_eq(seen.complaints, 2);
}
END_TEST

START_TEST(what_is_offered_is_stored_when_another_one_sends_it)
{
    offer(3, 1, CALL);
    ck_assert(dataspace_go_on(space));
    put(1, 1, CALL, "one");
    ck_assert_uint_eq(seen.stored[1], 1);
    ck_assert_uint_eq(seen.stored[3], 1);
    ck_assert_uint_eq(seen.sends[3], 0);
    ck_assert(!dataspace_go_on(space));
    offer(3, 1, CALL);
    ck_assert_uint_eq(seen.stored[3], 2);
}
END_TEST

START_TEST(what_nobody_sends_for_a_while_is_sent_by_who_offers_it)
{
    offer(3, 1, CALL);
    now = 19;
    dataspace_go_on(space);
    ck_assert_uint_eq(seen.sends[3], 0);
    now = 20;
    dataspace_go_on(space);
    dataspace_go_on(space);
    ck_assert_uint_eq(seen.sends[3], 1);
    put(3, 1, CALL, "one");
    ck_assert_uint_eq(seen.stored[3], 1);
    put(1, 1, CALL, "one"); /* it had the turn before */
    ck_assert_uint_eq(seen.stored[1], 1);
    ck_assert_uint_eq(seen.offers[1], 1);
}
END_TEST

START_TEST(what_the_only_replica_offers_it_sends)
{
    tear_down();
    open_space(2);
    dataspace_lost(space, 1);
    offer(3, 1, CALL);
    ck_assert_uint_eq(seen.sends[3], 1);
}
END_TEST

START_TEST(an_offer_of_other_data_differs)
{
    put(1, 1, CALL, "one");
    offer(3, 1, CALL | CONTENT);
    expect_mismatch(1, 3, 1, true);
    ck_assert_uint_eq(seen.stored[3], 1);
}
END_TEST

static void cut(uint32_t host, uint64_t number)
{
    struct wire_message message = {.kind = WIRE_DATA_CUT};

    message.data_cut.pid = 1;
    message.data_cut.request = number;
    dataspace_message(space, host, &message);
}

START_TEST(what_all_replicas_have_is_not_kept)
{
    uint32_t most;

    put(1, 1, CALL, "a");
    put(1, 2, CALL, "a");
    cut(1, 3);
    ck_assert_uint_eq(dataspace_logged(space, &most), 2 * LOG_ENTRY);
    cut(3, 2);
    ck_assert_uint_eq(dataspace_logged(space, &most), LOG_ENTRY);
    cut(3, 3);
    ck_assert_uint_eq(dataspace_logged(space, &most), 0);
}
END_TEST

START_TEST(a_replica_says_now_and_then_how_far_it_is)
{
    for (uint64_t number = 1; number <= 9; number++)
        post(number, DATASPACE_PUT, "a");
    for (uint32_t host = 1; host < 4; host++)
        ck_assert_uint_eq(seen.cuts[host], 2);
}
END_TEST

static void answer_how_far(uint64_t number)
{
    struct wire_message answer = {.kind = WIRE_DATA_HOW_FAR};

    answer.data_how_far.pid = 1;
    answer.data_how_far.answers = true;
    answer.data_how_far.request = number;
    dataspace_message(space, 3, &answer);
}

START_TEST(who_has_not_moved_when_asked_is_too_far_behind)
{
    for (uint64_t number = 1; number <= 4; number++)
        put(1, number, CALL, "a");
    ck_assert_uint_eq(seen.behind, 0);
    answer_how_far(0);
    ck_assert_uint_eq(seen.behind, 3);
    put(3, 1, CALL, "a"); /* nothing is lost */
    ck_assert_uint_eq(seen.stored[3], 1);
}
END_TEST

START_TEST(who_has_moved_when_asked_is_not)
{
    for (uint64_t number = 1; number <= 4; number++)
        put(1, number, CALL, "a");
    answer_how_far(4);
    ck_assert_uint_eq(seen.behind, 0);
}
END_TEST

/* ---- Where processes stop -------------------------------------------------------------------- */

static const uint64_t no_more[] = {1, 9}, one_more[] = {2, 9};

START_TEST(nothing_new_is_begun_until_it_is_known_where_to_stop)
{
    post(1, DATASPACE_PUT, "one");
    dataspace_halt(space);
    ck_assert(dataspace_halted(space));
    post(2, DATASPACE_PUT, "two");
    ck_assert_uint_eq(seen.answers, 1);
    ck_assert_uint_eq(dataspace_reached(space, 0), 1);
    dataspace_halt_at(space, one_more); /* another replica has made it */
    ck_assert_uint_eq(seen.answers, 2);
    post(3, DATASPACE_PUT, "three");
    ck_assert_uint_eq(seen.answers, 2);
    ck_assert_uint_eq(seen.withdrawn, 1);
    dataspace_halt_over(space);
    post(3, DATASPACE_PUT, "three");
    ck_assert_uint_eq(seen.answers, 3);
}
END_TEST

START_TEST(what_is_held_goes_on_when_nobody_stops)
{
    dataspace_halt(space);
    post(1, DATASPACE_PUT, "one");
    ck_assert_uint_eq(seen.answers, 0);
    dataspace_halt_over(space);
    ck_assert_uint_eq(seen.answers, 1);
    ck_assert_uint_eq(seen.withdrawn, 0);
}
END_TEST

START_TEST(who_waits_when_all_are_to_stop_takes_it_back)
{
    post(1, DATASPACE_GET, "");
    dataspace_halt(space);
    ck_assert_uint_eq(seen.withdrawn, 1);
    ck_assert_uint_eq(dataspace_reached(space, 0), 0);
    post(1, DATASPACE_GET, "");
    ck_assert_uint_eq(dataspace_totals(space).waiting, 0);
    dataspace_halt_at(space, no_more); /* another replica got it */
    ck_assert_uint_eq(dataspace_totals(space).waiting, 1);
    dataspace_halt(space); /* or did not, as a host was lost */
    ck_assert_uint_eq(seen.withdrawn, 2);
}
END_TEST

START_TEST(what_others_have_made_here_counts)
{
    put(3, 4, CALL, "one");
    ck_assert_uint_eq(dataspace_reached(space, 1), 4);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {all_replicas_that_wait_get_the_same_object_once,
                                  a_later_replica_gets_what_the_first_one_got,
                                  a_put_takes_effect_once,
                                  one_that_withdraws_leaves_the_others_waiting,
                                  the_loss_of_the_host_of_one_leaves_the_others_waiting,
                                  data_that_differ_are_told_and_answered,
                                  another_call_is_told_and_not_answered,
                                  a_request_past_one_that_waits_differs,
                                  a_request_that_was_made_elsewhere_differs,
                                  a_replica_speaks_for_itself,
                                  a_process_with_replicas_does_not_go_on_alone,
                                  what_is_offered_is_stored_when_another_one_sends_it,
                                  what_nobody_sends_for_a_while_is_sent_by_who_offers_it,
                                  what_the_only_replica_offers_it_sends,
                                  an_offer_of_other_data_differs,
                                  what_all_replicas_have_is_not_kept,
                                  a_replica_says_now_and_then_how_far_it_is,
                                  who_has_not_moved_when_asked_is_too_far_behind,
                                  who_has_moved_when_asked_is_not,
                                  nothing_new_is_begun_until_it_is_known_where_to_stop,
                                  what_is_held_goes_on_when_nobody_stops,
                                  who_waits_when_all_are_to_stop_takes_it_back,
                                  what_others_have_made_here_counts};

    return suite_run_tests("dataspace replicas", tests, sizeof tests / sizeof *tests, set_up,
                           tear_down);
}
