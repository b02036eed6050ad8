/* test_shares.c - the availability of hosts: sums, what earlier jobs say of a host, and what that
 * does to a decision; what bsprun keeps between jobs and between terms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/host_shares.h"
#include "coordinator/core/balance.h"
#include "tests/unit/suite.h"

#define EQ(left, right) ck_assert_double_eq_tol(left, right, 1e-9)
#define ROOM            4u

START_TEST(sums_say_mean_and_spread)
{
    struct share_sums sums = {0};

    ck_assert(!share_is_known(&sums));
    ck_assert(share_prior(&sums).looks == 0);
    share_add(&sums, 0.2, 30);
    share_add(&sums, 1.0, 10);
    struct share prior = share_prior(&sums);
    EQ(prior.mean, 0.4);
    EQ(prior.spread, sqrt((0.04 * 30 + 10) / 40 - 0.16));
    EQ(prior.looks, SHARE_LOOKS_MOST);
    sums = (struct share_sums){0};
    share_add(&sums, 0.5, SHARE_LOOK_SECONDS / 2); /* little is known */
    EQ(share_prior(&sums).looks, 0.5);
    EQ(share_prior(&sums).spread, 0);
}
END_TEST

START_TEST(senseless_sums_say_nothing)
{
    const struct share_sums senseless[] = {
        {-1, 0.5, 0.2}, {1, 2, 1},          {1, 0.5, 0.6}, {1, -0.5, 0.2}, {1, NAN, 0.2},
        {NAN, 0.5, 0},  {INFINITY, 0.5, 0}, {1e13, 1, 1},  {1, 0.5, NAN},  {1, 0.5, -1}};
    struct share_sums sums = {0};

    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++) {
        ck_assert_msg(!share_is_known(&senseless[i]), "%zu", i);
        ck_assert(share_prior(&senseless[i]).looks == 0);
    }
    share_add(&sums, NAN, 1);
    share_add(&sums, 1.1, 1);
    share_add(&sums, -0.1, 1);
    share_add(&sums, 0.5, -1);
    share_add(&sums, 0.5, NAN);
    ck_assert(sums.seconds == 0 && sums.sum == 0 && sums.squares == 0);
}
END_TEST

/* Four ranks on one host; of two that are empty and equal otherwise one was mostly taken by others
 * in earlier jobs. */
START_TEST(ranks_go_where_earlier_jobs_had_room)
{
    for (uint32_t taken = 1; taken <= 2; taken++) {
        struct balance_rank ranks[4];
        struct balance_host hosts[3];
        struct balance_rule rule = BALANCE_RULE;
        struct balance_answer answer;
        struct balance *balance = balance_new(4, 3, 0);

        for (uint32_t i = 0; i < 4; i++)
            ranks[i] = (struct balance_rank){.compute = 1, .image = 1};
        for (uint32_t i = 0; i < 3; i++) {
            struct share_sums sums = {0};
            share_add(&sums, i == taken ? 0.2 : 0.95, 3600);
            struct share prior = share_prior(&sums);
            hosts[i] = (struct balance_host){.speed = 1,
                                             .cores = 2,
                                             .recent = prior.mean,
                                             .recent_samples = i == 0,
                                             .history = prior.mean,
                                             .samples = prior.looks,
                                             .spread = prior.spread,
                                             .free = 1e9};
        }
        struct balance_facts facts = {.superstep = 1000,
                                      .ranks = ranks,
                                      .rank_count = 4,
                                      .hosts = hosts,
                                      .host_count = 3,
                                      .superstep_seconds = 2};
        ck_assert_ptr_nonnull(balance);
        ck_assert_int_eq(balance_decide(balance, &rule, &facts, &answer), 0);
        ck_assert_uint_gt(answer.count, 0);
        for (uint32_t i = 0; i < answer.count; i++)
            ck_assert_uint_eq(answer.moves[i].to, 3 - taken);
        balance_free(balance);
    }
}
END_TEST

/* ---- What bsprun keeps ---- */

static struct host_shares shares;

static void take(uint32_t term, uint32_t host, double share, double seconds)
{
    struct wire_share one = {host, seconds, share * seconds, share * share * seconds};

    host_shares_take(&shares, term, &(struct wire_share_list){&one, 1});
}

START_TEST(terms_add_up)
{
    struct history_record record = {0};

    ck_assert_int_eq(host_shares_open(&shares, ROOM), 0);
    ck_assert(!host_shares_tell(&shares, 1, &record));
    take(1, 1, 0.5, 10);
    take(1, 1, 0.5, 20); /* said again, with what has come since */
    take(2, 1, 1, 20);
    take(2, ROOM, 1, 20); /* no host */
    ck_assert(host_shares_tell(&shares, 1, &record));
    ck_assert_int_eq(record.kind, HISTORY_SHARE);
    EQ(record.seconds, 40);
    EQ(record.share, 0.75);
    EQ(record.spread, 0.25);
    ck_assert(!host_shares_tell(&shares, 1, &record)); /* it is told */
    take(2, 1, 1, 20.5);
    ck_assert(!host_shares_tell(&shares, 1, &record)); /* too little */
    take(2, 1, 1, 22);
    ck_assert(host_shares_tell(&shares, 1, &record));
    EQ(record.seconds, 2);
    EQ(record.share, 1);
    take(3, 1, NAN, 10); /* nonsense */
    ck_assert(!host_shares_tell(&shares, 1, &record));
    host_shares_free(&shares);
}
END_TEST

START_TEST(earlier_jobs_by_name)
{
    const struct wire_host hosts[] = {{.host = 3, .name = "new"}, {.host = 2, .name = "old"}};
    struct history_share *earlier = calloc(1, sizeof *earlier);

    ck_assert_int_eq(host_shares_open(&shares, ROOM), 0);
    ck_assert_uint_eq(host_shares_elect(&shares, &(struct wire_host_list){hosts, 2}).count, 0);
    *earlier = (struct history_share){.name = "old", .seconds = 4, .sum = 2, .squares = 1};
    host_shares_know(&shares, earlier, 1);
    struct wire_share_list list = host_shares_elect(&shares, &(struct wire_host_list){hosts, 2});
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(list.items[0].host, 2);
    EQ(list.items[0].seconds, 4);
    EQ(list.items[0].sum, 2);
    EQ(list.items[0].squares, 1);
    host_shares_free(&shares);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {sums_say_mean_and_spread, senseless_sums_say_nothing,
                                  ranks_go_where_earlier_jobs_had_room, terms_add_up,
                                  earlier_jobs_by_name};

    return suite_run_tests("shares", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
