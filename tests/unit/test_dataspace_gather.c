/* test_dataspace_gather.c - the objects of hosts whose processes are not saved in a snapshot, where
 * processes have replicas: who sends them, and what is kept of them, also without room for them.
 */
#include <check.h>
#include <string.h>

#include "bsprun/dataspace/copies.h"
#include "bsprun/dataspace/keeper.h"
#include "bsprun/dataspace/log.h"
#include "bsprun/dataspace/service.h"
#include "lib/base/kept.h"
#include "tests/unit/dataspace_calls.h"
#include "tests/unit/suite.h"

/* Process 0 is on hosts 0 and 2, process 1 on hosts 1 and 3; this is host 0. */
static const uint32_t homes[] = {0, 1}, leads[] = {0, 1, 0, 1};
static struct dataspace *space;
static struct pool *pool;
static char ours[8];

static struct {
    unsigned complaints;
    unsigned kept[4], ends[4]; /* told to that host: objects for a snapshot, and that was all */
} seen;

static void on_send(void *context, uint32_t host, const struct wire_message *message)
{
    (void)context;
    if (message->kind == WIRE_DATA_COPY)
        (message->data_copy.has_object ? seen.kept : seen.ends)[host]++;
}

static bool on_has_room(void *context, uint32_t host)
{
    (void)context, (void)host;
    return true;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    (void)context, (void)pid, (void)size, (void)length;
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    (void)context, (void)host, (void)complaint;
    seen.complaints++;
}

static uint64_t on_now(void *context)
{
    (void)context;
    return 0;
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .no_memory = dataspace_has_memory,
                                             .broken = on_broken,
                                             .now_ms = on_now};

static void open_space(uint64_t room)
{
    struct dataspace_setup setup = {.host = 0,
                                    .nprocs = 2,
                                    .homes = homes,
                                    .hosts = 4,
                                    .leads = leads,
                                    .copies = 1,
                                    .piece = 64,
                                    .log = 3 * LOG_ENTRY};

    setup.pool = pool = pool_open(room, 1, 0, NULL, NULL);
    space = dataspace_open(&setup, &calls, NULL);
    ck_assert_ptr_nonnull(space);
    memset(&seen, 0, sizeof seen);
    dataspace_find_tag(space, 0, ours);
}

static void set_up(void)
{
    open_space(UINT64_MAX);
}

static void tear_down(void)
{
    dataspace_close(space);
    pool_close(pool);
}

static void put_ours(const char *text)
{
    unsigned char piece[8];
    struct dataspace_request one = {.kind = DATASPACE_PUT,
                                    .number = 1,
                                    .tag = ours,
                                    .tag_size = (uint32_t)strlen(ours),
                                    .piece = piece,
                                    .length = (uint32_t)strlen(text),
                                    .size = strlen(text)};

    memcpy(piece, text, strlen(text));
    dataspace_posted(space, 0, &one);
}

/* Of an object if there is a text; else that was all. */
static void give(uint32_t host, uint64_t snapshot, const char *tag, const char *text)
{
    struct wire_message message = {.kind = WIRE_DATA_COPY};

    message.data_copy.kind = COPY_KEPT;
    message.data_copy.number = snapshot;
    if (text) {
        message.data_copy.has_object = true;
        message.data_copy.size = strlen(text);
        message.data_copy.data = (struct wire_bytes){text, (uint32_t)strlen(text)};
        message.data_copy.tag = (struct wire_bytes){tag, (uint32_t)strlen(tag)};
    }
    dataspace_message(space, host, &message);
}

static uint64_t bytes_kept(void)
{
    struct keeper *keeper = dataspace_keep(space);
    uint64_t bytes;

    ck_assert_ptr_nonnull(keeper);
    bytes = keeper_size(keeper);
    keeper_end(keeper);
    return bytes;
}

#define BYTES(tag, text) (sizeof(struct bspz_kept_object) + strlen(tag) + strlen(text))

/* Hosts 0 and 2 belong to the first of the keepers. */
START_TEST(who_is_not_saved_sends_its_objects)
{
    static const uint64_t keepers[] = {3, 1};

    put_ours("one");
    dataspace_gather(space, 5, keepers, 2);
    ck_assert_uint_eq(seen.kept[3], 1);
    ck_assert_uint_eq(seen.ends[3], 1);
    ck_assert_uint_eq(seen.kept[1] + seen.kept[2] + seen.ends[1] + seen.ends[2], 0);
    ck_assert(dataspace_gathered(space));
    dataspace_gather(space, 6, keepers, 2);
    ck_assert_uint_eq(seen.kept[3], 2);
}
END_TEST

START_TEST(a_keeper_waits_for_those_of_others)
{
    static const uint64_t keepers[] = {0, 1};

    put_ours("one");
    give(2, 5, "theirs", "two"); /* it has heard of the snapshot before */
    dataspace_gather(space, 5, keepers, 2);
    ck_assert(!dataspace_gathered(space));
    give(2, 5, NULL, NULL);
    ck_assert(dataspace_gathered(space)); /* host 3 has another keeper */
    ck_assert_uint_eq(seen.kept[1] + seen.kept[2] + seen.kept[3], 0);
    ck_assert_uint_eq(bytes_kept(), BYTES(ours, "one") + BYTES("theirs", "two"));
    ck_assert_uint_eq(bytes_kept(), BYTES(ours, "one"));
    ck_assert_uint_eq(dataspace_totals(space).objects, 1);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(what_was_gathered_before_is_not_kept)
{
    static const uint64_t keepers[] = {0, 1};

    dataspace_gather(space, 5, keepers, 2);
    give(2, 5, "theirs", "two");
    dataspace_gather(space, 6, keepers, 2);
    give(2, 5, NULL, NULL);
    ck_assert(!dataspace_gathered(space));
    give(2, 6, NULL, NULL);
    ck_assert(dataspace_gathered(space));
    ck_assert_uint_eq(bytes_kept(), 0);
}
END_TEST

START_TEST(nobody_waits_for_a_host_that_is_lost)
{
    static const uint64_t keepers[] = {0, 1};

    dataspace_gather(space, 5, keepers, 2);
    dataspace_lost(space, 2);
    ck_assert(dataspace_gathered(space));
}
END_TEST

START_TEST(a_gathering_that_is_given_up)
{
    static const uint64_t keepers[] = {0, 1};

    dataspace_gather(space, 5, keepers, 2);
    dataspace_gather(space, 0, NULL, 0);
    ck_assert(dataspace_gathered(space));
}
END_TEST

/* That is no request, which would have to be answered: the job goes on, without the snapshot. */
START_TEST(without_room_for_those_of_others_nothing_is_kept)
{
    static const uint64_t keepers[] = {0, 1};

    tear_down();
    open_space(12 + 2 * strlen("theirs"));
    put_ours("one");
    give(2, 5, "theirs", "seven");
    dataspace_gather(space, 5, keepers, 2);
    give(2, 5, "theirs", "a long one");
    ck_assert(!dataspace_gathered(space)); /* it is told when all have come */
    give(2, 5, "theirs", "two");
    give(2, 5, NULL, NULL);
    ck_assert(dataspace_gathered(space));
    ck_assert_ptr_null(dataspace_keep(space));
    dataspace_gather(space, 6, keepers, 2); /* there is for the next one */
    give(2, 6, "theirs", "seven");
    give(2, 6, NULL, NULL);
    ck_assert_uint_eq(bytes_kept(), BYTES(ours, "one") + BYTES("theirs", "seven"));
    ck_assert_uint_eq(dataspace_traffic(space).received, 6);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

/* An object that comes in pieces when it turns out that there is no room for that of another host.
 */
START_TEST(without_room_what_is_coming_is_dropped)
{
    static const uint64_t keepers[] = {0, 0};
    static char large[80];
    struct wire_message piece = {.kind = WIRE_DATA_COPY};
    struct wire_data_copy *copy = &piece.data_copy;

    tear_down();
    open_space(100);
    dataspace_gather(space, 5, keepers, 2);
    *copy = (struct wire_data_copy){
        .kind = COPY_KEPT, .number = 5, .has_object = true, .size = sizeof large};
    copy->data = (struct wire_bytes){large, 64};
    dataspace_message(space, 2, &piece);
    dataspace_message(space, 3, &piece);
    copy->offset = 64;
    copy->data.size = sizeof large - 64;
    dataspace_message(space, 2, &piece);
    dataspace_message(space, 3, &piece);
    ck_assert_uint_eq(pool_in_memory(pool), 0);
    ck_assert_uint_eq(dataspace_traffic(space).received, 2);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

START_TEST(what_was_gathered_for_a_snapshot_that_is_given_up_is_dropped)
{
    static const uint64_t keepers[] = {0, 1};

    dataspace_gather(space, 5, keepers, 2);
    give(2, 5, "theirs", "two");
    dataspace_gather_over(space, 4);
    ck_assert(!dataspace_gathered(space));
    ck_assert_uint_eq(pool_in_memory(pool), strlen("two"));
    dataspace_gather_over(space, 5);
    give(2, 5, "more", "three");
    give(2, 5, NULL, NULL);
    ck_assert(dataspace_gathered(space));
    ck_assert_uint_eq(pool_in_memory(pool), 0);
    ck_assert_uint_eq(bytes_kept(), 0);
    ck_assert_uint_eq(seen.complaints, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {who_is_not_saved_sends_its_objects,
                                  a_keeper_waits_for_those_of_others,
                                  what_was_gathered_before_is_not_kept,
                                  nobody_waits_for_a_host_that_is_lost,
                                  a_gathering_that_is_given_up,
                                  without_room_for_those_of_others_nothing_is_kept,
                                  without_room_what_is_coming_is_dropped,
                                  what_was_gathered_for_a_snapshot_that_is_given_up_is_dropped};

    return suite_run_tests("dataspace, gathered", tests, sizeof tests / sizeof *tests, set_up,
                           tear_down);
}
