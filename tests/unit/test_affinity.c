/* test_affinity.c - which processors ranks are bound to, on made-up machines. */
#include "bsprun/agent/core/affinity.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/suite.h"

#define TWO_PACKAGES "package:2 numa:1 core:4 pu:2" /* core c has processors 2c and 2c+1 */
#define RANKS_MAX    2100

static hwloc_topology_t machine(const char *description)
{
    hwloc_topology_t topology;

    ck_assert_int_eq(hwloc_topology_init(&topology), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(topology, description), 0);
    ck_assert_int_eq(hwloc_topology_load(topology), 0);
    return topology;
}

static hwloc_bitmap_t set_of(const char *list)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();

    ck_assert_int_eq(hwloc_bitmap_list_sscanf(set, list), 0);
    return set;
}

struct host {
    const char *machine, *allowed, *claimed;
};

/* The sets of the ranks, such as "0-1 2-3"; "none": they do not fit. */
static void expect(struct host host, int ranks, enum wire_bind bind, enum wire_map map,
                   const char *expected)
{
    hwloc_topology_t topology = machine(host.machine);
    hwloc_bitmap_t allowed = set_of(host.allowed), claimed = set_of(host.claimed);
    struct affinity_request request = {allowed, claimed, ranks, bind, map};
    static hwloc_bitmap_t sets[RANKS_MAX];
    static char found[16 * RANKS_MAX];
    size_t length = 0;

    for (int i = 0; i < ranks; i++)
        sets[i] = hwloc_bitmap_alloc();
    snprintf(found, sizeof found, "none");
    if (affinity_choose(topology, &request, sets))
        for (int i = 0; i < ranks; i++) {
            length += (size_t)snprintf(found + length, sizeof found - length, i ? " " : "");
            length +=
                (size_t)hwloc_bitmap_list_snprintf(found + length, sizeof found - length, sets[i]);
        }
    ck_assert_str_eq(found, expected);
    for (int i = 0; i < ranks; i++)
        hwloc_bitmap_free(sets[i]);
    hwloc_bitmap_free(allowed);
    hwloc_bitmap_free(claimed);
    hwloc_topology_destroy(topology);
}

static const struct host all = {TWO_PACKAGES, "0-15", ""};

#define EXPECT(host, ranks, bind, map, expected)                                                   \
    expect(host, ranks, WIRE_BIND_##bind, WIRE_MAP_##map, expected)

/* One processor each: first ones of all cores, then second ones. */
START_TEST(by_default)
{
    EXPECT(all, 3, DEFAULT, SLOT, "0 2 4");
    EXPECT(all, 9, DEFAULT, SLOT, "0 2 4 6 8 10 12 14 1");
    EXPECT(all, 16, NONE, SLOT, "0 2 4 6 8 10 12 14 1 3 5 7 9 11 13 15");
    EXPECT(all, 17, DEFAULT, SLOT, "none");
    EXPECT(((struct host){TWO_PACKAGES, "1-6,9", "2,4"}), 3, DEFAULT, SLOT, "6 1 3");
    EXPECT(((struct host){"pu:4", "0-3", ""}), 2, DEFAULT, SLOT, "0 1");
}
END_TEST

START_TEST(to_cores)
{
    EXPECT(all, 3, CORE, SLOT, "0-1 2-3 4-5");
    EXPECT(all, 3, CORE, PACKAGE, "0-1 8-9 2-3");
    EXPECT(all, 3, CORE, NUMA, "0-1 8-9 2-3");
    EXPECT(all, 2, CORE, CORE, "0-1 2-3");
    /* Mapped to threads: around these. */
    EXPECT(all, 3, CORE, HWTHREAD, "0-1 0-1 2-3");
    /* More ranks than cores: as many as there are threads share one. */
    EXPECT(((struct host){"core:2 pu:2", "0-3", ""}), 4, CORE, SLOT, "0-1 2-3 0-1 2-3");
    EXPECT(((struct host){"core:2 pu:2", "0-3", ""}), 5, CORE, SLOT, "none");
    EXPECT(((struct host){"core:2 pu:1", "0-1", ""}), 3, CORE, SLOT, "none");
    EXPECT(((struct host){"pu:4", "0-3", ""}), 2, CORE, SLOT, "0 1"); /* without cores */
}
END_TEST

START_TEST(to_threads)
{
    EXPECT(all, 3, HWTHREAD, SLOT, "0 1 2");
    EXPECT(all, 3, HWTHREAD, CORE, "0 2 4");
    EXPECT(all, 3, HWTHREAD, PACKAGE, "0 8 1");
    EXPECT(all, 3, HWTHREAD, HWTHREAD, "0 1 2");
    EXPECT(all, 17, HWTHREAD, CORE, "none");
}
END_TEST

START_TEST(to_packages)
{
    EXPECT(all, 3, PACKAGE, SLOT, "0-7 8-15 0-7");
    EXPECT(all, 3, PACKAGE, PACKAGE, "0-7 8-15 0-7");
    EXPECT(all, 3, NUMA, NUMA, "0-7 8-15 0-7");
    EXPECT(all, 3, PACKAGE, CORE, "0-7 0-7 0-7");
    EXPECT(all, 5, NUMA, CORE, "0-7 0-7 0-7 0-7 8-15");
    EXPECT(all, 17, PACKAGE, PACKAGE, "none");
    /* Several nodes in a package. */
    EXPECT(((struct host){"package:2 numa:2 core:2 pu:1", "0-7", ""}), 5, NUMA, PACKAGE,
           "0-1 4-5 2-3 6-7 0-1");
    EXPECT(((struct host){"package:2 numa:2 core:2 pu:1", "0-7", ""}), 2, PACKAGE, NUMA, "0-3 0-3");
    /* Two kinds of memory beside the same processors. */
    EXPECT(((struct host){"package:2 [numa] [numa] core:2 pu:1", "0-3", ""}), 3, NUMA, SLOT,
           "0-1 2-3 0-1");
}
END_TEST

/* Without such objects: the whole host. */
START_TEST(of_a_plain_machine)
{
    const struct host plain = {"core:4 pu:1", "0-3", ""};

    EXPECT(plain, 2, PACKAGE, SLOT, "0-3 0-3");
    EXPECT(plain, 2, NUMA, NUMA, "0-3 0-3");
    EXPECT(plain, 2, CORE, PACKAGE, "0 1");
    EXPECT(plain, 5, NUMA, NUMA, "none");
}
END_TEST

/* A mask from taskset or a control group. */
START_TEST(within_a_mask)
{
    const struct host half = {TWO_PACKAGES, "1,4-5,14", ""};

    EXPECT(half, 3, CORE, SLOT, "1 4-5 14");
    EXPECT(half, 4, CORE, SLOT, "1 4-5 14 4-5");
    EXPECT(half, 5, CORE, SLOT, "none");
    EXPECT(half, 3, PACKAGE, PACKAGE, "1,4-5 14 1,4-5");
    EXPECT(half, 4, PACKAGE, PACKAGE, "1,4-5 14 1,4-5 1,4-5"); /* the second one is full */
    EXPECT(half, 4, HWTHREAD, NUMA, "1 14 4 5");
    EXPECT(((struct host){TWO_PACKAGES, "8-15", ""}), 2, NUMA, SLOT, "8-15 8-15");
}
END_TEST

START_TEST(beside_other_jobs)
{
    const struct host shared = {TWO_PACKAGES, "0-15", "0,3,8-15"};

    EXPECT(shared, 2, CORE, SLOT, "4-5 6-7"); /* none of which another job has a thread */
    EXPECT(shared, 5, CORE, SLOT, "none");
    EXPECT(shared, 2, HWTHREAD, SLOT, "1 2");
    EXPECT(shared, 2, PACKAGE, SLOT, "1-2,4-7 1-2,4-7");
    EXPECT(shared, 1, DEFAULT, SLOT, "2");
    EXPECT(((struct host){TWO_PACKAGES, "0-15", "0-15"}), 1, NUMA, SLOT, "none");
}
END_TEST

/* As many processors as no set of fixed size holds. */
START_TEST(on_a_large_machine)
{
    const struct host large = {"package:2 numa:2 core:256 pu:2", "0-2047", ""};
    hwloc_topology_t topology = machine(large.machine);
    hwloc_bitmap_t set = set_of("1536-2047");
    char text[80];

    EXPECT(large, 5, NUMA, NUMA, "0-511 512-1023 1024-1535 1536-2047 0-511");
    EXPECT(((struct host){large.machine, "2040-2047", ""}), 4, CORE, CORE,
           "2040-2041 2042-2043 2044-2045 2046-2047");
    EXPECT(large, 2049, HWTHREAD, SLOT, "none");
    affinity_describe(topology, set, text, sizeof text);
    ck_assert_str_eq(text, "package 1[core 768-1023[hwt 0-1]]");
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
}
END_TEST

static void expect_text(const char *description, const char *list, size_t size,
                        const char *expected)
{
    hwloc_topology_t topology = machine(description);
    hwloc_bitmap_t set = set_of(list);
    char text[200];

    memset(text, 'x', sizeof text);
    affinity_describe(topology, set, text, size);
    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(text[size], 'x');
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
}

START_TEST(in_words)
{
    expect_text(TWO_PACKAGES, "0-1", 190, "package 0[core 0[hwt 0-1]]");
    expect_text(TWO_PACKAGES, "3", 190, "package 0[core 1[hwt 1]]");
    expect_text(TWO_PACKAGES, "0-15", 190,
                "package 0[core 0-3[hwt 0-1]], package 1[core 4-7[hwt 0-1]]");
    expect_text(TWO_PACKAGES, "1,4-5,8-9,12-13", 190,
                "package 0[core 0[hwt 1], core 2[hwt 0-1]], "
                "package 1[core 4[hwt 0-1], core 6[hwt 0-1]]");
    expect_text("core:2 pu:4", "0,2-3", 190, "core 0[hwt 0,2-3]");
    expect_text("pu:4", "0,2-3", 190, "hwt 0,2-3");
    expect_text(TWO_PACKAGES, "0-15", 33, "package 0[core 0-3[hwt 0-1]],...");
    expect_text(TWO_PACKAGES, "0-15", 4, "...");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {by_default,        to_cores,           to_threads,
                                  to_packages,       of_a_plain_machine, within_a_mask,
                                  beside_other_jobs, on_a_large_machine, in_words};

    return suite_run_tests("affinity", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
