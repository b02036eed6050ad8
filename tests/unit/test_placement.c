/* test_placement.c - where processes go when they are restored, and what memory has to do with it.
 *
 * Cases are written in digits, one for each process or host: '-' is none, '*' unknown. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/core/placement.h"
#include "tests/unit/suite.h"

#define PROCESSES 24u
#define HOSTS     6u

static struct placement_host hosts[HOSTS];
static struct placement_group groups[PROCESSES];
static uint16_t copy_on[PROCESSES], moves_to[PROCESSES], home[PROCESSES], wanted[PROCESSES];
static uint32_t together[PROCESSES], next[PROCESSES];
static uint64_t needs[PROCESSES];
static struct placement placement;

static void prepare(uint32_t host_count, uint32_t processes)
{
    memset(moves_to, 0, sizeof moves_to);
    memset(copy_on, 0, sizeof copy_on);
    memset(needs, 0, sizeof needs);
    for (uint32_t i = 0; i < HOSTS; i++)
        hosts[i] =
            (struct placement_host){.id = i, .slots = 2, .speed = 1, .left = PLACEMENT_UNKNOWN};
    for (uint32_t pid = 0; pid < PROCESSES; pid++)
        together[pid] = pid;
    placement = (struct placement){.hosts = hosts,
                                   .host_count = host_count,
                                   .processes = processes,
                                   .copy_on = copy_on,
                                   .together = together,
                                   .needs = needs,
                                   .moves_to = moves_to,
                                   .home = home,
                                   .wanted = wanted,
                                   .next = next,
                                   .groups = groups};
}

struct situation {
    const char *left;   /* of each host, of 2 slots */
    const char *copies; /* where the copy of each process is */
    const char *needs;  /* of each process */
    const char *groups; /* the lowest of its group; "": all alone */
    const char *moves;  /* where it is to go; "": nowhere */
    const char *drained;
    bool anew;
    const char *homes;  /* or "!" and the one that fits nowhere */
    const char *missed; /* pids */
};

static void describe(const struct situation *situation)
{
    prepare((uint32_t)strlen(situation->left), (uint32_t)strlen(situation->copies));
    for (uint32_t i = 0; i < placement.host_count; i++)
        if (situation->left[i] != '*')
            hosts[i].left = (uint64_t)(situation->left[i] - '0');
    for (uint32_t pid = 0; pid < placement.processes; pid++) {
        if (situation->copies[pid] != '-')
            copy_on[pid] = (uint16_t)(situation->copies[pid] - '0' + 1);
        needs[pid] = (uint64_t)(situation->needs[pid] - '0');
        if (situation->groups[0])
            together[pid] = (uint32_t)(situation->groups[pid] - '0');
        if (situation->moves[0] && situation->moves[pid] != '-')
            moves_to[pid] = (uint16_t)(situation->moves[pid] - '0' + 1);
    }
    for (const char *at = situation->drained; *at; at++)
        hosts[*at - '0'].drained = true;
    placement.anew = situation->anew;
}

static void expect(const struct situation *situation)
{
    char homes[PROCESSES + 1] = "", missed[PROCESSES + 1] = "";

    describe(situation);
    if (!placement_again(&placement)) {
        snprintf(homes, sizeof homes, "!%u", placement.nowhere);
        ck_assert_str_eq(homes, situation->homes);
        return;
    }
    for (uint32_t pid = 0; pid < placement.processes; pid++) {
        homes[pid] = (char)('0' + home[pid]);
        if (placement_missed(&placement, pid))
            missed[strlen(missed)] = (char)('0' + pid);
    }
    ck_assert_str_eq(homes, situation->homes);
    ck_assert_str_eq(missed, situation->missed);
}

START_TEST(lost_ones_go_where_they_fit)
{
    static const struct situation cases[] = {
        /* The least loaded host first ... */
        {.left = "99", .copies = "00-", .needs = "111", .homes = "001", .missed = ""},
        /* ... of those with the memory; exactly enough is enough. */
        {.left = "90", .copies = "00-", .needs = "111", .homes = "000", .missed = ""},
        {.left = "01", .copies = "00-", .needs = "991", .homes = "001", .missed = ""},
        {.left = "909", .copies = "0011--", .needs = "111144", .homes = "001122", .missed = ""},
        {.left = "906", .copies = "0011--", .needs = "111144", .homes = "001120", .missed = ""},
        /* What is not known refuses nothing: hosts, processes. */
        {.left = "0*", .copies = "00-", .needs = "119", .homes = "001", .missed = ""},
        {.left = "00", .copies = "00-", .needs = "110", .homes = "001", .missed = ""},
        /* In the order of processes the last would fit nowhere: the largest goes first. */
        {.left = "34", .copies = "----", .needs = "1132", .homes = "0110", .missed = ""},
        {.left = "23", .copies = "---", .needs = "113", .homes = "001", .missed = ""},
        /* Not even so. */
        {.left = "22", .copies = "0--", .needs = "913", .homes = "!2", .missed = ""},
        {.left = "22", .copies = "----", .needs = "2222", .homes = "!2", .missed = ""},
        /* To a drained host rather than nowhere; else not. */
        {.left = "129",
         .copies = "0-",
         .needs = "13",
         .drained = "2",
         .homes = "02",
         .missed = "1"},
        {.left = "139", .copies = "0-", .needs = "13", .drained = "2", .homes = "01", .missed = ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct situation situation = cases[i];
        situation.groups = situation.moves = "";
        situation.drained = situation.drained ? situation.drained : "";
        expect(&situation);
    }
}
END_TEST

START_TEST(those_that_do_not_fit_stay)
{
    static const struct situation cases[] = {
        /* By request. */
        {"99", "0011", "2222", "", "1---", "", false, "1011", ""},
        {"91", "0011", "2222", "", "1---", "", false, "0011", "0"},
        {"9*", "0011", "2222", "", "1---", "", false, "1011", ""},
        {"93", "0011", "2222", "", "11--", "", false, "1011", "1"},
        /* Off a drained host: some, all, none. */
        {"999", "001122", "222222", "", "", "1", false, "000222", ""},
        {"202", "001122", "222222", "", "", "1", false, "000222", ""},
        {"302", "001122", "222222", "", "", "1", false, "000222", ""},
        {"002", "001122", "222222", "", "", "1", false, "002122", "3"},
        {"000", "001122", "222222", "", "", "1", false, "001122", "23"},
        {"19", "0011", "1112", "", "", "1", false, "0001", "3"},
        /* All placed anew. */
        {"99", "0000", "1111", "", "", "", true, "0011", ""},
        {"91", "0000", "1111", "", "", "", true, "0010", "3"},
        {"90", "0000", "1111", "", "", "", true, "0000", "23"},
        /* A lost process comes before one that can stay. */
        {"12", "00-", "112", "", "1--", "", false, "001", "0"},
        /* No copy at all, but a place at first that has not the memory. */
        {"91", "----", "1111", "", "", "", false, "0010", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(&cases[i]);
}
END_TEST

START_TEST(groups_fit_as_a_whole)
{
    static const struct situation cases[] = {
        {"299", "0-----", "022222", "011333", "", "", false, "011222", ""},
        {"348", "0-----", "022111", "011333", "", "", false, "011222", ""},
        {"34", "0-----", "022111", "011333", "", "", false, "011000", ""},
        {"33", "0--", "022", "011", "", "", false, "!1", ""},
        /* One has no copy, and fits beside the one that has, or both go. */
        {"515", "-11-", "0022", "0022", "", "", false, "1100", ""},
        {"525", "-11-", "0022", "0022", "", "", false, "1111", ""},
        /* They move together, or stay. */
        {"93", "0011", "2222", "0022", "1---", "", false, "0011", "0"},
        {"94", "0011", "2222", "0022", "1---", "", false, "1111", ""},
        {"92", "0011", "2222", "0022", "", "0", false, "0011", "01"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(&cases[i]);
}
END_TEST

START_TEST(what_is_said)
{
    static const struct situation nowhere = {"12", "0--", "913", "", "", "", false, "!2", ""};
    static const struct situation moved = {"91", "0011", "2222", "", "1---",
                                           "",   false,  "0011", "0"};
    static const struct situation group = {"93", "0011", "2222", "0022", "1---",
                                           "",   false,  "0011", "0"};
    char text[PLACEMENT_TEXT_MAX];

    expect(&nowhere);
    placement_text(&placement, placement.nowhere, text);
    ck_assert_str_eq(text,
                     "process 2 needs 3 B of memory; host 1 has 2 B left, host 0 has 1 B left");
    expect(&moved);
    hosts[1].name = "b";
    placement_text(&placement, 0, text);
    ck_assert_str_eq(text, "process 0 needs 2 B of memory; host b has 1 B left");
    expect(&group);
    placement_text(&placement, 0, text);
    ck_assert_str_eq(
        text,
        "process 0, with 1 that share files with it, needs 4 B of memory; host 1 has 3 B left");
    /* Many hosts, and one with what others leave. */
    prepare(6, 8);
    for (uint32_t i = 0; i < 6; i++)
        hosts[i].left = i == 5 ? PLACEMENT_UNKNOWN : 4 + i;
    hosts[5].drained = true;
    copy_on[7] = 6;
    needs[6] = 8;
    needs[7] = 9;
    ck_assert(placement_again(&placement));
    ck_assert(placement_missed(&placement, 7));
    placement_text(&placement, 7, text);
    ck_assert_str_eq(text,
                     "process 7 needs 9 B of memory; host 3 has 7 B left, host 2 has 6 B left, "
                     "host 1 has 5 B left, host 0 has 4 B left, and the others (1) no more");
}
END_TEST

/* ---- At random ---- */

static unsigned seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % below;
}

static void make_up(void)
{
    prepare(1 + draw(HOSTS), 1 + draw(PROCESSES));
    uint32_t plenty = draw(4), all = 1;
    for (uint32_t i = 0; i < placement.host_count; i++) {
        hosts[i].slots = 1 + draw(4);
        hosts[i].busy = draw(3) * 50;
        hosts[i].drained = draw(4) == 0;
        hosts[i].left = draw(6) == 0 ? PLACEMENT_UNKNOWN : draw(8u << (2 * plenty));
        all = all && hosts[i].drained;
    }
    placement.all_drained = all;
    placement.by_node = draw(2);
    placement.anew = draw(4) == 0;
    uint32_t copies = draw(4);
    for (uint32_t pid = 0; pid < placement.processes; pid++) {
        needs[pid] = draw(6) == 0 ? 0 : 1 + draw(9);
        together[pid] = pid > 0 && draw(5) == 0 ? together[pid - 1] : pid;
        if (draw(4) < copies)
            copy_on[pid] = (uint16_t)(1 + (together[pid] < pid && copy_on[together[pid]] > 0
                                               ? copy_on[together[pid]] - 1u
                                               : draw(placement.host_count)));
        if (draw(8) == 0)
            moves_to[pid] = (uint16_t)(1 + draw(placement.host_count));
    }
}

/* No host has more than fits into its memory. */
static bool nothing_is_crowded(void)
{
    for (uint32_t i = 0; i < placement.host_count; i++) {
        uint64_t sum = 0;
        for (uint32_t pid = 0; pid < placement.processes; pid++)
            if (home[pid] == i && copy_on[pid] != i + 1)
                sum += needs[pid];
        if (hosts[i].left != PLACEMENT_UNKNOWN && sum > hosts[i].left)
            return false;
    }
    return true;
}

static void check_places(void)
{
    uint32_t counts[HOSTS] = {0};

    ck_assert(nothing_is_crowded());
    for (uint32_t pid = placement.processes; pid-- > 0;) {
        ck_assert_uint_lt(home[pid], placement.host_count);
        counts[home[pid]]++;
        ck_assert_uint_eq(home[pid], home[together[pid]]);
        if (placement_is_open(&placement, &hosts[home[pid]]))
            continue;
        /* On a drained host only what was there, or what has no other place. */
        ck_assert(placement_missed(&placement, pid));
    }
    for (uint32_t i = 0; i < placement.host_count; i++) {
        ck_assert_uint_eq(hosts[i].count, counts[i]);
        if (counts[i] > 0)
            ck_assert_uint_eq(home[hosts[i].first], i);
    }
    /* Who has a copy and is not wanted elsewhere is there. */
    for (uint32_t pid = 0; pid < placement.processes && !placement.anew; pid++) {
        bool quiet = copy_on[pid] > 0 && placement_is_open(&placement, &hosts[copy_on[pid] - 1]);
        for (uint32_t other = 0; other < placement.processes; other++)
            if (together[other] == together[pid])
                quiet = quiet && moves_to[other] == 0 && copy_on[other] == copy_on[pid];
        if (quiet)
            ck_assert_uint_eq(home[pid] + 1, copy_on[pid]);
    }
}

static void check_refusal(void)
{
    uint64_t need = 0, all = 0;
    char text[PLACEMENT_TEXT_MAX];

    ck_assert_uint_eq(together[placement.nowhere], placement.nowhere);
    for (uint32_t pid = 0; pid < placement.processes; pid++) {
        all += needs[pid];
        need += together[pid] == placement.nowhere ? needs[pid] : 0;
    }
    for (uint32_t i = 0; i < placement.host_count; i++) {
        uint64_t here = need;
        for (uint32_t pid = 0; pid < placement.processes; pid++)
            if (together[pid] == placement.nowhere && copy_on[pid] == i + 1)
                here -= needs[pid];
        ck_assert(hosts[i].free != PLACEMENT_UNKNOWN && hosts[i].free < here);
        ck_assert_uint_lt(hosts[i].left, all);
    }
    placement_text(&placement, placement.nowhere, text);
    ck_assert_ptr_nonnull(strstr(text, " of memory"));
}

/* Memory changes nothing where there is enough for what would be done without limits. */
static void check_without_limits(bool placed)
{
    uint16_t limited[PROCESSES];
    uint64_t left[HOSTS];

    memcpy(limited, home, sizeof limited);
    for (uint32_t i = 0; i < placement.host_count; i++) {
        left[i] = hosts[i].left;
        hosts[i].left = PLACEMENT_UNKNOWN;
    }
    ck_assert(placement_again(&placement));
    for (uint32_t pid = 0; pid < placement.processes; pid++)
        ck_assert(placement.all_drained || moves_to[pid] > 0 || !placement_missed(&placement, pid));
    for (uint32_t i = 0; i < placement.host_count; i++)
        hosts[i].left = left[i];
    if (!nothing_is_crowded())
        return;
    ck_assert(placed);
    ck_assert_mem_eq(limited, home, placement.processes * sizeof *home);
}

START_TEST(at_random)
{
    uint32_t placed = 0, refused = 0, missed = 0;

    for (seed = 1; placed + refused < 40000;) {
        make_up();
        bool fits = placement_again(&placement);
        placed += fits;
        refused += !fits;
        for (uint32_t pid = 0; fits && pid < placement.processes; pid++)
            missed += placement_missed(&placement, pid);
        if (fits)
            check_places();
        else
            check_refusal();
        check_without_limits(fits);
    }
    ck_assert_uint_gt(placed, 4000);
    ck_assert_uint_gt(refused, 4000);
    ck_assert_uint_gt(missed, 4000);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {lost_ones_go_where_they_fit, those_that_do_not_fit_stay,
                                  groups_fit_as_a_whole, what_is_said, at_random};

    return suite_run_tests("placement", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
