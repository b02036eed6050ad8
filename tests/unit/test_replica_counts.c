/* test_replica_counts.c - how many replicas each process has: lists, against a table of all pids.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/wire/replica_counts.h"
#include "tests/unit/suite.h"

#define PIDS 24u

static struct replica_counts parsed(const char *text)
{
    struct replica_counts counts;
    char why[REPLICA_WHY] = "";

    ck_assert_msg(replica_counts_parse(&counts, text, why), "%s", why);
    return counts;
}

static void expect_text(const char *given, const char *expected)
{
    struct replica_counts counts = parsed(given);
    char text[REPLICA_TEXT];

    ck_assert_str_eq(replica_counts_text(&counts, text), expected);
}

START_TEST(texts)
{
    expect_text("1", "1");
    expect_text("4", "4");
    expect_text("0=3,1-7=2", "0=3,1-7=2");
    expect_text("1-7=2,0=3", "0=3,1-7=2");
    expect_text("2=2,3=2,4-5=2", "2-5=2");
    expect_text("0-3=1", "1");
    expect_text("0-3=1,4=2", "4=2");
    ck_assert_uint_eq(parsed("0=3,1-7=2").named, 8);
    ck_assert_uint_eq(parsed("9=1").named, 10);
    ck_assert_uint_eq(parsed("3").named, 0);
}
END_TEST

static void expect_refused(const char *text, const char *part)
{
    struct replica_counts counts;
    char why[REPLICA_WHY] = "";

    ck_assert_msg(!replica_counts_parse(&counts, text, why), "%s is taken", text);
    ck_assert_msg(strstr(why, part) != NULL, "%s: %s", text, why);
}

START_TEST(refusals)
{
    expect_refused("0", "give a number from 1 to 4");
    expect_refused("5", "give a number from 1 to 4");
    expect_refused("-1", "give a number from 1 to 4");
    expect_refused("2x", "give a number from 1 to 4");
    expect_refused("", "give a number from 1 to 4");
    expect_refused("0=5", "0=5: give a number of replicas from 1 to 4");
    expect_refused("0=0", "give a number of replicas");
    expect_refused("0=", "give a number of replicas");
    expect_refused("0=2,", "give pids");
    expect_refused("0=2,3", "3: give pids");
    expect_refused("3-1=2", "3-1=2: give pids");
    expect_refused("70000=2", "give pids");
    expect_refused("0=2x", "give a number of replicas");
    expect_refused("1-3=2,0=1,2=4", "2=4: process 2 is named twice");
    expect_refused("2=4,1-3=2", "1-3=2: process 2 is named twice");
    expect_refused("1=2,1=2", "1=2: process 1 is named twice");
}
END_TEST

START_TEST(hosts)
{
    struct replica_counts counts = parsed("0=3,1-7=2");

    ck_assert_uint_eq(replica_counts_hosts(&counts, 8), 5);
    ck_assert_uint_eq(replica_counts_hosts(&counts, 9), 6); /* the last one has one */
    ck_assert_uint_eq(replica_counts_hosts(&counts, 1), 3);
    ck_assert_uint_eq(replica_counts_most(&counts, 8), 3);
    counts = parsed("7=4");
    ck_assert_uint_eq(replica_counts_most(&counts, 7), 1);
    ck_assert_uint_eq(replica_counts_hosts(&counts, 7), 1);
    counts = parsed("3");
    ck_assert_uint_eq(replica_counts_hosts(&counts, 100), 3);
    counts = parsed("1");
    ck_assert_uint_eq(replica_counts_hosts(&counts, 100), 1);
}
END_TEST

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* Ranges in any order, and what they say of each pid. */
static void make_list(char *text, uint32_t numbers[PIDS])
{
    size_t used = 0;

    for (uint32_t pid = 0; pid < PIDS; pid++)
        numbers[pid] = 1;
    for (uint32_t pid = draw(4); pid < PIDS; pid += 1 + draw(3)) {
        uint32_t last = pid + draw(4), replicas = 1 + draw(4);
        char range[32], before[512];

        if (last >= PIDS)
            last = PIDS - 1;
        if (last > pid)
            snprintf(range, sizeof range, "%u-%u=%u", pid, last, replicas);
        else
            snprintf(range, sizeof range, "%u=%u", pid, replicas);
        snprintf(before, sizeof before, "%.*s", (int)used, text);
        bool first = draw(2);
        used = (size_t)snprintf(text, 512, "%s%s%s", first ? range : before, used > 0 ? "," : "",
                                first ? before : range);
        for (uint32_t one = pid; one <= last; one++)
            numbers[one] = replicas;
        pid = last;
    }
    if (used == 0)
        snprintf(text, 512, "0=1");
}

START_TEST(any_list)
{
    for (int round = 0; round < 5000; round++) {
        char text[512], again[REPLICA_TEXT];
        uint32_t numbers[PIDS], most = 1;
        uint64_t list[2 * REPLICA_RUNS_MAX];

        make_list(text, numbers);
        struct replica_counts counts = parsed(text), other, third;
        for (uint32_t pid = 0; pid < PIDS; pid++) {
            ck_assert_msg(replica_counts_of(&counts, pid) == numbers[pid], "%s: pid %u", text, pid);
            most = numbers[pid] > most ? numbers[pid] : most;
            ck_assert_uint_eq(replica_counts_most(&counts, pid + 1), most);
        }
        ck_assert_uint_eq(replica_counts_of(&counts, PIDS), 1);
        struct wire_numbers said = replica_counts_list(&counts, list);
        ck_assert(replica_counts_take(&other, &said) && replica_counts_same(&counts, &other));
        third = parsed(replica_counts_text(&counts, again));
        ck_assert_msg(replica_counts_same(&counts, &third), "%s: %s", text, again);
    }
}
END_TEST

START_TEST(bad_messages)
{
    static const struct {
        uint64_t items[4];
        uint32_t count;
    } bad[] = {{{0, 2, 5}, 3}, {{1, 2}, 2},       {{0, 0}, 2},
               {{0, 5}, 2},    {{0, 2, 0, 3}, 4}, {{0, 2, WIRE_RANKS_MAX, 1}, 4}};
    struct replica_counts counts;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert(
            !replica_counts_take(&counts, &(struct wire_numbers){bad[i].items, bad[i].count}));
    ck_assert(replica_counts_take(&counts, &(struct wire_numbers){NULL, 0}));
    ck_assert_uint_eq(replica_counts_of(&counts, 3), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {texts, refusals, hosts, any_list, bad_messages};

    seed = (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    return suite_run_tests("replica_counts", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
