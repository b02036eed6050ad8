/* test_replicas.c - images that are kept for other hosts: offered, fetched, checked, told of;
 * offers that come early, too late or too often. */
#include <check.h>
#include <string.h>

#include "bsprun/agent/snapshot/inside.h"
#include "tests/ckpt/store_sample.h"
#include "tests/unit/fetch_play.h"
#include "tests/unit/loop_play.h"
#include "tests/unit/suite.h"

static void set_up(void)
{
    loop_set_up(); /* so that descriptors are counted */
    fetch_set_up();
}

static void tear_down(void)
{
    fetch_tear_down();
    loop_tear_down();
}

static void keep_it(uint32_t pid, bool with_digest)
{
    struct wire_message message = {.kind = WIRE_KEEP};

    message.envelope.superstep = fetch_name.superstep;
    message.keep.from = fetch_name.term;
    message.keep.pid = pid;
    message.keep.facts.size = fetch_image[1].size;
    if (with_digest)
        memcpy(message.keep.facts.digest, fetch_digest(1), BSPZ_IMAGE_DIGEST_SIZE);
    fetch_play_take(1, &message);
}

static void keep(uint32_t pid)
{
    keep_it(pid, true);
}

START_TEST(kept_for_another)
{
    keep(1);
    ck_assert(fetch_play_asked(1, 1));
    fetch_play_send(1, &fetch_image[1], 2000);
    ck_assert(fetch_play_has_image(1));
    const struct said *told = fetch_last_said(WIRE_IMAGE_DURABLE);
    ck_assert_ptr_nonnull(told);
    ck_assert_uint_eq(told->host, FETCH_ZERO);
    ck_assert_uint_eq(told->message.image_durable.pid, 1);
    ck_assert_uint_eq(told->message.image_durable.facts.size, fetch_image[1].size);
    ck_assert_mem_eq(told->message.image_durable.facts.digest, fetch_digest(1),
                     BSPZ_IMAGE_DIGEST_SIZE);
}
END_TEST

START_TEST(not_kept)
{
    keep(FETCH_PROCS); /* nobody */
    keep(WIRE_RANKS_MAX - 1);
    keep_it(1, false);
    ck_assert_uint_eq(said_count, 0);
    keep(1);
    agent.snapshots->ticket.name.superstep = fetch_name.superstep + 1; /* another one meanwhile */
    fetch_play_refuse(1, ENOENT);
    fetch_play_refuse(2, ENOENT);
    ck_assert_uint_eq(failed_images, 1);
    ck_assert(bspz_snapshot_same(failed_name, fetch_name));
    ck_assert_uint_eq(said_count, 2);
    ck_assert_ptr_null(fetch_last_said(WIRE_IMAGE_DURABLE));
}
END_TEST

START_TEST(not_kept_of_an_abandoned_one)
{
    keep(1);
    agent.snapshots->abandoned = fetch_name;
    fetch_play_refuse(1, ENOENT);
    fetch_play_refuse(2, ENOENT);
    ck_assert_uint_eq(said_count, 2);
    keep(1); /* was on its way */
    ck_assert_uint_eq(said_count, 2);
    ck_assert_uint_eq(failed_images, 0);
}
END_TEST

/* The host of a process may offer its image before Processor Zero's word of the processes comes. */
START_TEST(offered_early)
{
    fetch_play_place(0);
    keep(1);
    keep(FETCH_PROCS); /* nobody, as will be seen */
    ck_assert_uint_eq(said_count, 0);
    fetch_play_place(FETCH_PROCS);
    agent_replicas_placed(&agent);
    ck_assert(fetch_play_asked(1, 1));
    fetch_play_send(1, &fetch_image[1], 2000);
    ck_assert_ptr_nonnull(fetch_last_said(WIRE_IMAGE_DURABLE));
    said_count = 0;
    agent_replicas_placed(&agent);
    ck_assert_uint_eq(said_count, 0);
}
END_TEST

START_TEST(offered_early_too_often)
{
    fetch_play_place(0);
    for (int i = 0; i < 4096; i++)
        keep(1);
    ck_assert_uint_eq(dropped, 0);
    keep(1);
    ck_assert_uint_eq(dropped, 1);
    fetch_play_place(FETCH_PROCS);
}
END_TEST

/* A byte of the data, of the tables, of the end; or it is the image of another process. */
START_TEST(damaged_ones_do_not_count)
{
    const size_t size = fetch_image[1].size, at[] = {size / 2, 400, size - 90};
    struct fetch_bytes *bad = _i < 3 ? &fetch_image[1] : &fetch_image[0];

    keep(1);
    if (_i < 3)
        bad->bytes[at[_i]] ^= 4;
    fetch_play_send(1, bad, 5000);
    if (_i < 3)
        bad->bytes[at[_i]] ^= 4;
    ck_assert(!fetch_play_has_image(1));
    ck_assert_ptr_null(fetch_last_said(WIRE_IMAGE_DURABLE));
    ck_assert_uint_eq(noticed, 1);
    ck_assert(fetch_play_asked(2, 2)); /* it has a better one */
    fetch_play_send(2, &fetch_image[1], 5000);
    ck_assert(fetch_play_has_image(1));
    ck_assert_ptr_nonnull(fetch_last_said(WIRE_IMAGE_DURABLE));
}
END_TEST

/* What the term began from: nobody is told, and only what is missing is fetched. */
START_TEST(kept_again)
{
    agent.term = fetch_name.term + 1;
    agent.committed = fetch_name;
    keep(1);
    ck_assert_uint_eq(said[0].message.fetch.thing, WIRE_THING_MANIFEST);
    fetch_play_send(1, &fetch_manifest, 1000);
    ck_assert(fetch_play_asked(2, 1));
    fetch_play_send(1, &fetch_image[1], 1000);
    ck_assert(fetch_play_has_manifest());
    ck_assert(fetch_play_has_image(1));
    keep(1);
    ck_assert_uint_eq(said_count, 2);
    ck_assert_uint_eq(noticed, 0);
}
END_TEST

/* What became useless meanwhile is missing. */
START_TEST(kept_again_for_a_damaged_one)
{
    agent.term = fetch_name.term + 1;
    agent.committed = fetch_name;
    keep(1);
    fetch_play_send(1, &fetch_manifest, 1000);
    fetch_play_send(1, &fetch_image[1], 1000);
    fetch_play_spoil(1, (enum fetch_spoil)_i);
    keep(1);
    ck_assert(fetch_play_asked(3, 1));
    fetch_play_send(1, &fetch_image[1], 1000);
    ck_assert(fetch_play_has_image(1));
    keep(1);
    ck_assert_uint_eq(said_count, 3);
    ck_assert_uint_eq(noticed, 0);
}
END_TEST

START_TEST(kept_again_too_late)
{
    agent.term = fetch_name.term + 1;
    agent.committed = fetch_name;
    keep(1);
    fetch_play_send(1, &fetch_manifest, 1000);
    agent.committed.superstep++;
    fetch_play_piece(1, 0, fetch_image[1].bytes, 100, fetch_image[1].size);
    ck_assert(!agent.fetches->first);
    ck_assert_uint_eq(noticed, 0);
    ck_assert_uint_eq(failed_images, 0);
}
END_TEST

/* The host that was offered an image is lost: the next one is offered it. */
START_TEST(offered_to_another)
{
    static char staging;
    struct kept kept[FETCH_PROCS] = {{.written = true, .facts = {.size = 7}}};

    agent.snapshots->copies = 2;
    agent.snapshots->kept = kept;
    agent.snapshots->ticket.staging = (struct store_snapshot *)&staging;
    agent.snapshots->ticket.name = fetch_name;
    agent_replicas_spread(&agent, 0, 2);
    ck_assert_uint_eq(said_count, 1);
    ck_assert_uint_eq(said[0].host, 1);
    fetch_play_lost = 2;
    agent_replicas_lost(&agent, 2); /* which was not */
    ck_assert_uint_eq(said_count, 1);
    fetch_play_lost = 1;
    agent_replicas_lost(&agent, 1);
    ck_assert_uint_eq(said_count, 2);
    ck_assert_uint_eq(said[1].host, 2);
    ck_assert_int_eq(said[1].message.kind, WIRE_KEEP);
    ck_assert_uint_eq(said[1].message.keep.facts.size, 7);
    kept[0].written = false;
    agent_replicas_lost(&agent, 1); /* it is not there yet */
    ck_assert_uint_eq(said_count, 2);
    agent.snapshots->ticket.staging = NULL;
    agent.snapshots->kept = NULL;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("keep");
    TCase *tests = tcase_create("keep");

    store_sample_scratch();
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, kept_for_another);
    tcase_add_test(tests, not_kept);
    tcase_add_test(tests, not_kept_of_an_abandoned_one);
    tcase_add_test(tests, offered_early);
    tcase_add_test(tests, offered_early_too_often);
    tcase_add_loop_test(tests, damaged_ones_do_not_count, 0, 4);
    tcase_add_test(tests, kept_again);
    tcase_add_loop_test(tests, kept_again_for_a_damaged_one, 0, SPOIL_WAYS);
    tcase_add_test(tests, kept_again_too_late);
    tcase_add_test(tests, offered_to_another);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
