/* test_gather.c - what processes are made of is brought here: all of it, each thing once, in the
 * order in which it becomes known; what becomes of it when nobody has something. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/roster.h"
#include "tests/ckpt/store_sample.h"
#include "tests/unit/fetch_play.h"
#include "tests/unit/loop_play.h"
#include "tests/unit/suite.h"

static struct kept kept[FETCH_PROCS];
static unsigned gathered;
static int gathered_error;
static bool here[FETCH_PROCS];

/* ---- In place of the rest of the agent ---- */

bool agent_is_here(const struct agent *at, int pid)
{
    (void)at;
    return here[pid];
}

/* ---- Fixture ---- */

static void set_up(void)
{
    loop_set_up();
    fetch_set_up();
    memset(kept, 0, sizeof kept);
    for (uint32_t pid = 0; pid < FETCH_PROCS; pid++) {
        agent_set_home(&agent, (int)pid, 1);
        here[pid] = true;
    }
    agent.term = 2;
    agent.snapshots->kept = kept;
    gathered = 0;
    gathered_error = 1;
}

static void tear_down(void)
{
    agent_gather_free(&agent);
    fetch_tear_down();
    loop_tear_down();
}

static bool is_to_be_made(const struct agent *at, int pid)
{
    return agent_is_here(at, pid) && !kept[pid].copied;
}

static bool is_expected(const struct agent *at, int pid)
{
    return !agent_is_here(at, pid);
}

static void on_gathered(struct agent *at, int error, const char *why)
{
    ck_assert_ptr_eq(at, &agent);
    ck_assert(error == 0 || why[0] != '\0');
    gathered++;
    gathered_error = error;
}

/* The n-th FETCH was for that. */
static void expect_fetch(unsigned number, enum wire_thing thing, uint32_t pid, uint32_t host)
{
    ck_assert_uint_eq(said_count, number);
    ck_assert_uint_eq(said[number - 1].message.kind, WIRE_FETCH);
    ck_assert_uint_eq(said[number - 1].message.fetch.thing, thing);
    ck_assert_uint_eq(said[number - 1].host, host);
    if (thing == WIRE_THING_IMAGE)
        ck_assert_uint_eq(said[number - 1].message.fetch.pid, pid);
}

static void deliver(const struct fetch_bytes *file)
{
    fetch_play_piece(1, 0, file->bytes, file->size, file->size);
}

/* The images say which programs they map; nobody has those. */
static void refuse_programs(unsigned before)
{
    unsigned was = gathered;

    ck_assert_uint_gt(said_count, before);
    for (unsigned i = 0; gathered == was; i++) {
        const struct said *last = fetch_last_said(WIRE_FETCH);

        ck_assert_uint_lt(i, 20);
        ck_assert_uint_eq(last->message.fetch.thing, WIRE_THING_BINARY);
        fetch_play_refuse(last->host, ENOENT);
    }
    ck_assert_uint_eq(gathered, was + 1);
    ck_assert_int_eq(gathered_error, -ENOENT);
}

/* Before a process moves, its own host has its newest images, and need not be that of process 0. */
START_TEST(ahead_of_a_move_the_host_of_the_process_is_asked)
{
    here[1] = false;
    agent_set_home(&agent, 1, 2);
    agent_gather(&agent, fetch_name, true, is_expected, on_gathered);
    expect_fetch(1, WIRE_THING_MANIFEST, 0, 1);
    deliver(&fetch_manifest);
    expect_fetch(2, WIRE_THING_IMAGE, 1, 2);
    fetch_play_piece(2, 0, fetch_image[1].bytes, fetch_image[1].size, fetch_image[1].size);
    refuse_programs(2);
}
END_TEST

START_TEST(each_thing_once)
{
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    expect_fetch(1, WIRE_THING_MANIFEST, 0, 1);
    deliver(&fetch_manifest);
    expect_fetch(2, WIRE_THING_IMAGE, 0, 1);
    deliver(&fetch_image[0]);
    expect_fetch(3, WIRE_THING_IMAGE, 1, 1);
    ck_assert_uint_eq(gathered, 0);
    deliver(&fetch_image[1]);
    refuse_programs(3);

    /* Only what is missing yet is asked for. */
    unsigned before = said_count;
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    refuse_programs(before);
}
END_TEST

/* Of processes that live elsewhere, or have a frozen copy here, nothing is needed. */
START_TEST(only_what_is_needed)
{
    here[0] = false;
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    deliver(&fetch_manifest);
    expect_fetch(2, WIRE_THING_IMAGE, 1, 1);
    deliver(&fetch_image[1]);
    refuse_programs(2);
    unsigned before = said_count;
    kept[1].copied = true;
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    ck_assert_uint_eq(gathered, 2);
    ck_assert_int_eq(gathered_error, 0);
    ck_assert_uint_eq(said_count, before);
}
END_TEST

/* Whoever has no process needs the manifest all the same. */
START_TEST(no_process_here)
{
    here[0] = here[1] = false;
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    expect_fetch(1, WIRE_THING_MANIFEST, 0, 1);
    deliver(&fetch_manifest);
    ck_assert_uint_eq(gathered, 1);
    ck_assert_int_eq(gathered_error, 0);
    ck_assert_uint_eq(said_count, 1);
}
END_TEST

START_TEST(nobody_has_it)
{
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    if (_i > 0) {
        deliver(&fetch_manifest);
        expect_fetch(2, WIRE_THING_IMAGE, 0, 1);
    }
    fetch_play_refuse(1, ENOENT);
    expect_fetch(2 + (unsigned)_i, _i > 0 ? WIRE_THING_IMAGE : WIRE_THING_MANIFEST, 0, 2);
    fetch_play_refuse(2, ENOENT);
    if (_i > 0) { /* what was asked for besides comes, or does not */
        ck_assert_uint_eq(gathered, 0);
        expect_fetch(4, WIRE_THING_IMAGE, 1, 1);
        deliver(&fetch_image[1]);
    }
    ck_assert_uint_eq(gathered, 1);
    ck_assert_int_eq(gathered_error, -ENOENT);
}
END_TEST

/* What comes for an older term ends nothing of this one. */
START_TEST(the_term_is_over)
{
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    agent.term++;
    deliver(&fetch_manifest);
    ck_assert_uint_eq(gathered, 0);
    ck_assert_uint_eq(said_count, 1);
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    expect_fetch(2, WIRE_THING_IMAGE, 0, 1);
    deliver(&fetch_image[0]);
    deliver(&fetch_image[1]);
    refuse_programs(3);
}
END_TEST

/* An image that is none is not kept: another host may have a better one. */
START_TEST(an_image_that_is_none)
{
    memset(fetch_image[0].bytes, 'x', fetch_image[0].size);
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    deliver(&fetch_manifest);
    deliver(&fetch_image[0]);
    expect_fetch(3, WIRE_THING_IMAGE, 0, 2);
    ck_assert_uint_eq(noticed, 1);
    fetch_play_refuse(2, ENOENT);
    deliver(&fetch_image[1]);
    ck_assert_uint_eq(gathered, 1);
    ck_assert_int_eq(gathered_error, -ENOENT);
    ck_assert_uint_eq(said_count, 4);
}
END_TEST

static void gather_again(void)
{
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
}

/* What lies here is useless, and another host has a better one, which replaces it. */
START_TEST(a_damaged_image_is_as_a_missing_one)
{
    agent.snapshots->copies = 2;
    gather_again();
    deliver(&fetch_manifest);
    deliver(&fetch_image[0]);
    deliver(&fetch_image[1]);
    refuse_programs(3);
    fetch_play_spoil(1, (enum fetch_spoil)_i);

    unsigned before = said_count;
    gather_again();
    expect_fetch(before + 1, WIRE_THING_IMAGE, 1, 1);
    deliver(&fetch_image[1]);
    ck_assert(fetch_play_has_image(1));
    refuse_programs(before + 1);
    before = said_count;
    gather_again();
    refuse_programs(before);
}
END_TEST

/* Where all hosts use the same directory the others have nothing better: that is left to the
 * restore, which says what is damaged. */
START_TEST(a_damaged_image_in_a_common_directory)
{
    agent.snapshots->copies = 1;
    gather_again();
    deliver(&fetch_manifest);
    deliver(&fetch_image[0]);
    deliver(&fetch_image[1]);
    refuse_programs(3);
    fetch_play_spoil(1, SPOIL_END);

    unsigned before = said_count;
    gather_again();
    refuse_programs(before);
}
END_TEST

/* A manifest that lies about its length, in the middle of it all. */
START_TEST(a_lie)
{
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    fetch_play_piece(1, 0, fetch_manifest.bytes, 20, 40);
    fetch_play_piece(1, 20, fetch_manifest.bytes + 20, 100, UINT64_MAX);
    ck_assert_uint_eq(dropped, 1);
    ck_assert_uint_eq(gathered, 0);
}
END_TEST

/* Nobody can be asked: whoever gathers is told from the loop, and once. */
START_TEST(nobody_to_ask)
{
    fetch_play_hosts = 1;
    agent_gather(&agent, fetch_name, false, is_to_be_made, on_gathered);
    ck_assert_uint_eq(gathered, 0);
    uv_run(&agent.loop, UV_RUN_DEFAULT);
    ck_assert_uint_eq(gathered, 1);
    ck_assert_int_eq(gathered_error, -ENOENT);
    ck_assert_uint_eq(said_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gather");
    TCase *tests = tcase_create("gather");

    store_sample_scratch();
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, ahead_of_a_move_the_host_of_the_process_is_asked);
    tcase_add_test(tests, each_thing_once);
    tcase_add_test(tests, only_what_is_needed);
    tcase_add_test(tests, no_process_here);
    tcase_add_loop_test(tests, nobody_has_it, 0, 2);
    tcase_add_test(tests, the_term_is_over);
    tcase_add_test(tests, an_image_that_is_none);
    tcase_add_loop_test(tests, a_damaged_image_is_as_a_missing_one, 0, SPOIL_WAYS);
    tcase_add_test(tests, a_damaged_image_in_a_common_directory);
    tcase_add_test(tests, a_lie);
    tcase_add_test(tests, nobody_to_ask);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
