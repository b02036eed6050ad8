/* test_agent.c - what a node agent works out about snapshots without touching anything. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/agent/snapshot/plan.h"
#include "tests/unit/suite.h"

#define MIB (UINT64_C(1) << 20)

START_TEST(paths_are_divided)
{
    char start[32], end[8];

    ck_assert(snapshot_split_path("/a/b.0/4.1/0.img.tmp", start, sizeof start, end, sizeof end) ==
              false);
    ck_assert(snapshot_split_path("/a/b.0/4.1/0.img", start, sizeof start, end, sizeof end));
    ck_assert_str_eq(start, "/a/b.0/4.1/");
    ck_assert_str_eq(end, ".img");
    ck_assert(!snapshot_split_path("/a/1.img", start, sizeof start, end, sizeof end));
    ck_assert(!snapshot_split_path("/a/00.img", start, sizeof start, end, sizeof end));
    ck_assert(!snapshot_split_path("0.img", start, sizeof start, end, sizeof end));
    ck_assert(!snapshot_split_path("/a-very-long-name-of-a-directory/1/0.img", start, sizeof start,
                                   end, sizeof end));
}
END_TEST

START_TEST(the_committed_copy_stays)
{
    const struct bspz_snapshot_name none = {0}, old = {4, 1}, kept = {5, 1};
    const struct bspz_snapshot_name empty[] = {none, none}, first[] = {kept, none},
                                    second[] = {none, kept}, both[] = {kept, old},
                                    turned[] = {old, kept};

    ck_assert_int_eq(snapshot_free_slot(empty, none), 0);
    ck_assert_int_eq(snapshot_free_slot(first, kept), 1);
    ck_assert_int_eq(snapshot_free_slot(second, kept), 0);
    ck_assert_int_eq(snapshot_free_slot(both, kept), 1);
    ck_assert_int_eq(snapshot_free_slot(turned, kept), 0);
    ck_assert_int_eq(snapshot_free_slot(first, old), 0); /* of a snapshot that never was one */
    ck_assert_int_eq(snapshot_free_slot(empty, (struct bspz_snapshot_name){5, 0}), 0);
}
END_TEST

static void expect_way(enum wire_async async, uint64_t resident, uint64_t available, bool copies,
                       bool forked, bool is_short)
{
    struct snapshot_way way = snapshot_choose_way(async, resident * MIB, available * MIB);

    ck_assert_int_eq(way.copies, copies);
    ck_assert_int_eq(way.forked, forked);
    ck_assert_int_eq(way.short_of_memory, is_short);
}

START_TEST(memory_decides)
{
    expect_way(WIRE_ASYNC_AUTO, 400, 800, true, true, false);
    expect_way(WIRE_ASYNC_AUTO, 400, 799, true, false, true);
    expect_way(WIRE_ASYNC_AUTO, 400, 399, false, false, true);
    expect_way(WIRE_ASYNC_ON, 4, 1000, true, true, false);
    expect_way(WIRE_ASYNC_ON, 400, 100, false, true, true); /* as the user wants it */
    expect_way(WIRE_ASYNC_OFF, 400, 1000, true, false, false);
    expect_way(WIRE_ASYNC_OFF, 400, 100, false, false, true);
}
END_TEST

START_TEST(cores_decide_what_a_snapshot_costs)
{
    struct snapshot_load load = {
        .cpu_ns = 900, .changed = 4096 * 60, .page_copy_ns = 100, .processes = 3, .cores = 3};

    ck_assert_uint_eq(snapshot_busy_ns(&load), 300);
    ck_assert_uint_eq(snapshot_copied_ns(&load), 2000); /* 20 pages of each process */
    load.processes = 30;
    ck_assert_uint_eq(snapshot_busy_ns(&load), 300);
    ck_assert_uint_eq(snapshot_copied_ns(&load), 2000); /* three at a time */
    load.processes = 2;
    ck_assert_uint_eq(snapshot_busy_ns(&load), 0); /* the third core did it */
    ck_assert_uint_eq(snapshot_copied_ns(&load), 3000);
    load.page_copy_ns = 0;
    ck_assert_uint_eq(snapshot_copied_ns(&load), 0); /* nothing is shared */
    load.page_copy_ns = 5000000;
    ck_assert_uint_eq(snapshot_copied_ns(&load), 30 * 20000); /* not even on the slowest machine */
    load.changed = UINT64_MAX;
    ck_assert_uint_ge(snapshot_copied_ns(&load), UINT64_MAX / 4096);
    ck_assert(snapshot_cores_full(3, 3) && snapshot_cores_full(4, 3));
    ck_assert(!snapshot_cores_full(2, 3) && !snapshot_cores_full(2, 0));
    load.processes = load.cores = 0;
    ck_assert_uint_eq(snapshot_busy_ns(&load) + snapshot_copied_ns(&load), 0);
}
END_TEST

/* Everybody gets it, in at most so many steps, and nobody sends it to more than two. */
static void expect_tree(const uint32_t *home, uint32_t nprocs, uint32_t hosts, uint32_t most_steps)
{
    uint32_t sends[COORD_HOSTS_MAX] = {0};

    for (uint32_t host = 0; host < hosts; host++) {
        uint32_t steps = 0;

        if (host == home[0])
            continue;
        sends[snapshot_source(home, nprocs, host)]++;
        for (uint32_t at = host; at != home[0]; at = snapshot_source(home, nprocs, at))
            ck_assert_uint_lt(steps++, most_steps);
    }
    for (uint32_t host = 0; host < hosts; host++)
        ck_assert_uint_le(sends[host], SNAPSHOT_BRANCHES);
}

START_TEST(the_image_goes_down_a_tree)
{
    static uint32_t home[4 * COORD_HOSTS_MAX];
    const uint32_t mixed[] = {5, 5, 2, 0, 2, 7};

    ck_assert_uint_eq(snapshot_source(mixed, 6, 5), 5);
    ck_assert_uint_eq(snapshot_source(mixed, 6, 2), 5);
    ck_assert_uint_eq(snapshot_source(mixed, 6, 0), 5);
    ck_assert_uint_eq(snapshot_source(mixed, 6, 7), 2);
    ck_assert_uint_eq(snapshot_source(mixed, 6, 1), 5); /* it has no process */
    for (uint32_t i = 0; i < 4 * COORD_HOSTS_MAX; i++)
        home[i] = i / 4;
    expect_tree(home, 4 * 32, 32, 5);
    expect_tree(home, 4 * COORD_HOSTS_MAX, COORD_HOSTS_MAX, 10);
    for (uint32_t i = 0; i < 64; i++)
        home[i] = (i + 3) % 32; /* in turn, and the first one is not 0 */
    expect_tree(home, 64, 32, 5);
}
END_TEST

START_TEST(an_interval_that_is_set_is_kept)
{
    ck_assert_int_eq(snapshot_writer_share(true, 0), BSPZ_SHARE_IDLE);
    ck_assert_int_eq(snapshot_writer_share(true, 5000000000), BSPZ_SHARE_IDLE);
    ck_assert_int_eq(snapshot_writer_share(true, 15000000000), BSPZ_SHARE_TENTH); /* too long */
    ck_assert_int_eq(snapshot_writer_share(false, 0), BSPZ_SHARE_TENTH);
    ck_assert_int_eq(snapshot_writer_share(false, 15000000000), BSPZ_SHARE_TENTH);
}
END_TEST

START_TEST(compressed_in_time_that_nobody_else_needs)
{
    ck_assert(!snapshot_compress(true, 1, 2, 2));
    ck_assert(snapshot_compress(true, 1, 1, 2));
    ck_assert(!snapshot_compress(true, 1, 0, 2));
    ck_assert(snapshot_compress(false, 1, 2, 2)); /* the user says when, whatever it costs */
    ck_assert(snapshot_compress(true, 2, 2, 2));  /* it travels */
}
END_TEST

START_TEST(texts_are_packed_and_unpacked)
{
    const char *const items[] = {"A=1", "", "BSPZERO_BOARD=7"};
    const struct wire_texts texts = {items, 3};
    char room[21];
    uint32_t bytes, count;
    char **unpacked;

    ck_assert(snapshot_pack_texts(&texts, room, sizeof room, &bytes));
    ck_assert_uint_eq(bytes, 21);
    ck_assert(!snapshot_pack_texts(&texts, room, 20, &bytes));
    unpacked = snapshot_unpack_texts(room, 21, "BSPZERO_", &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(unpacked[0], "A=1");
    ck_assert_str_eq(unpacked[1], "");
    ck_assert_ptr_null(unpacked[2]);
    snapshot_free_texts(unpacked);
    unpacked = snapshot_unpack_texts(room, 20, NULL, &count); /* the last one is cut off */
    ck_assert_uint_eq(count, 2);
    snapshot_free_texts(unpacked);
    unpacked = snapshot_unpack_texts("", 0, NULL, &count);
    ck_assert_uint_eq(count, 0);
    snapshot_free_texts(unpacked);
    snapshot_free_texts(NULL);
}
END_TEST

START_TEST(numbers_are_found)
{
    const char text[] = "MemTotal: 9 kB\nxMemAvailable: 7 kB\nMemAvailable:   123 kB\n";

    ck_assert_uint_eq(memory_number(text, "MemAvailable:"), 123);
    ck_assert_uint_eq(memory_number(text, "MemTotal:"), 9);
    ck_assert_uint_eq(memory_number(text, "MemAvail"), UINT64_MAX);
    ck_assert_uint_eq(memory_number("", "x"), UINT64_MAX);
}
END_TEST

START_TEST(what_a_group_allows)
{
    ck_assert_uint_eq(memory_headroom("max\n", "70\n", 30), UINT64_MAX);
    ck_assert_uint_eq(memory_headroom("100\n", "70\n", 0), 30);
    ck_assert_uint_eq(memory_headroom("100\n", "70\n", 30), 60);
    ck_assert_uint_eq(memory_headroom("100\n", "120\n", 0), 0);
    ck_assert_uint_eq(memory_headroom("100\n", "20\n", 30), 100);
}
END_TEST

START_TEST(this_machine)
{
    ck_assert_uint_gt(memory_available(), 0);
    ck_assert_uint_gt(memory_of_process(getpid()), 0);
    ck_assert_uint_lt(memory_of_process(getpid()), UINT64_C(1) << 40);
    ck_assert_uint_eq(memory_of_process(-1), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("agent parts");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, paths_are_divided);
    tcase_add_test(tests, the_committed_copy_stays);
    tcase_add_test(tests, memory_decides);
    tcase_add_test(tests, cores_decide_what_a_snapshot_costs);
    tcase_add_test(tests, the_image_goes_down_a_tree);
    tcase_add_test(tests, an_interval_that_is_set_is_kept);
    tcase_add_test(tests, compressed_in_time_that_nobody_else_needs);
    tcase_add_test(tests, texts_are_packed_and_unpacked);
    tcase_add_test(tests, numbers_are_found);
    tcase_add_test(tests, what_a_group_allows);
    tcase_add_test(tests, this_machine);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
