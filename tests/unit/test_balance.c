/* test_balance.c - which ranks move to which hosts: values by hand, bounds, alpha. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "coordinator/core/balance_model.h"
#include "tests/unit/balance_play.h"
#include "tests/unit/suite.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define EQ(a, b)      ck_assert_double_eq_tol((a), (b), 1e-9 * (1 + fabs((double)(b))))

static struct play play;

static void decide(void)
{
    ck_assert_int_eq(play_decide(&play), 0);
}

static void tear_down(void)
{
    balance_free(play.balance);
    play.balance = NULL;
}

static void set_up(uint32_t hosts, uint32_t ranks)
{
    tear_down();
    play_set_up(&play, hosts, ranks);
    ck_assert_ptr_nonnull(play.balance);
}

/* ---- The potential of migration ------------------------------------------------------------ */

/* One rank of one second; a host twice as fast is free.  50 supersteps ahead: half a second each is
 * saved, for one second and 1e8 bytes at 1e8 bytes/s. */
START_TEST(potential_by_hand)
{
    set_up(2, 1);
    play.hosts[1].speed = 2;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
    const struct balance_move *move = &play.answer.moves[0];
    ck_assert(move->rank == 0 && move->from == 0 && move->to == 1 && !move->forced);
    EQ(move->comp, 25);
    EQ(move->comm, 0);
    EQ(move->mem, 2);
    EQ(move->pm, 23);
    EQ(play.answer.before, 1);
    EQ(play.answer.after, 0.5);
    EQ(play.answer.cost, 2);
    ck_assert_uint_eq(play.answer.alpha, 4);
    ck_assert_uint_ge(play.answer.evaluated, 2);

    /* The mean of the recent and the long-term availability of a slow host: 0.5 and 0.7. */
    set_up(2, 1);
    play.hosts[0].recent = 0.5;
    play.hosts[0].history = 0.7;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
    EQ(play.answer.moves[0].comp, 50 * (1 / 0.6 - 1));
    EQ(play.answer.before, 1 / 0.6);
    EQ(play.answer.after, 1);
}
END_TEST

/* Gain and cost at the margin of a quarter: 25 s are worth 20 s, and not more. */
START_TEST(margin)
{
    set_up(2, 1);
    play.hosts[1].speed = 2;
    play.facts.move_seconds = 18.99;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
    set_up(2, 1);
    play.hosts[1].speed = 2;
    play.facts.move_seconds = 19.01;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    EQ(play.answer.after, 1);
    /* What is shared lets 1e8 bytes pass in 18.9 s. */
    play.facts.move_seconds = 1;
    play.facts.move_bandwidth = 1e8 / 18.9;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
    EQ(play.answer.cost, 19.9);
    set_up(2, 1);
    play.hosts[1].speed = 2;
    play.facts.move_bandwidth = 1e8 / 19.1;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    /* What was measured of the superstep: the model believes in twice of what is there to save. */
    set_up(2, 1);
    play.hosts[1].speed = 2;
    play.facts.move_seconds = 18;
    play.facts.superstep_seconds = 0.5;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    /* The horizon is half of what has passed: nothing is worth anything at the beginning. */
    set_up(2, 1);
    play.hosts[1].speed = 2;
    play.facts.superstep = 5; /* 2.5 supersteps ahead, 1.25 s, against 2 */
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    play.facts.superstep = 11; /* 2.75 s */
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
}
END_TEST

/* Two ranks that send each other 2e7 bytes, on hosts with two cores: together they save 0.2 s of
 * each superstep.  Three hosts, and the third way is slow. */
START_TEST(communication)
{
    set_up(3, 2);
    for (uint32_t i = 0; i < 3; i++)
        play.hosts[i].cores = 2;
    play.traffic[0] = (struct balance_traffic){0, 1, 2e7};
    play.traffic[1] = (struct balance_traffic){1, 0, 2e7};
    play.facts.traffic_count = 2;
    decide();
    EQ(play.answer.before, 1.2);
    EQ(play.answer.after, 1);
    ck_assert_uint_eq(play.answer.count, 1);
    const struct balance_move *move = &play.answer.moves[0];
    ck_assert(move->rank == 0 && move->to == 1);
    EQ(move->comm, 50 * 0.2);
    EQ(move->comp, 0);
    EQ(move->pm, 8);
    /* Only one way: what is sent and what is received count alike. */
    play.facts.traffic_count = 1;
    struct balance *fresh = balance_new(PLAY_RANKS, PLAY_HOSTS, 2);
    struct balance_answer answer;
    ck_assert_int_eq(balance_decide(fresh, &play.rule, &play.facts, &answer), 0);
    EQ(answer.before, 1.2);
    EQ(answer.after, 1);
    EQ(answer.moves[0].comm, 50 * 0.2);
    balance_free(fresh);
    play.facts.traffic_count = 2;
    /* One core each: to be together costs more than it saves. */
    for (uint32_t i = 0; i < 3; i++)
        play.hosts[i].cores = 1;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    /* Links of pairs: rank 1 is far from rank 0, and host 2 is near. */
    set_up(3, 2);
    static struct balance_link links[9];
    for (uint32_t i = 0; i < 9; i++)
        links[i] = (struct balance_link){i % 3 == 1 || i / 3 == 1 ? 1e7 : 1e9, 0.001};
    play.traffic[0] = (struct balance_traffic){0, 1, 2e6};
    play.facts.traffic_count = 1;
    play.facts.links = links;
    play.ranks[1].image = 1e7;
    decide();
    EQ(play.answer.before, 1.201);
    ck_assert_uint_eq(play.answer.count, 1);
    ck_assert(play.answer.moves[0].rank == 1 && play.answer.moves[0].to == 2);
    EQ(play.answer.moves[0].comm, 50 * (0.201 - 0.003));
    EQ(play.answer.moves[0].mem, 1 + 0.001 + 1);
}
END_TEST

/* ---- The job counts ------------------------------------------------------------------------ */

/* What moves cost besides their transfers is paid once: when it is paid for one rank, a second one
 * that saves less than that is worth its transfer. */
START_TEST(moves_share_their_cost)
{
    set_up(4, 16);
    for (uint32_t i = 0; i < 4; i++)
        play.hosts[i].cores = 4;
    play.hosts[2].recent = play.hosts[2].history = 1 / 3.0;
    play.facts.move_seconds = 12; /* 50 supersteps of 1.25 s instead of 1.5 s save 12.5 s */
    decide();
    ck_assert_uint_eq(play.answer.count, 3);
    EQ(play.answer.moves[0].mem, 12 + 1);
    EQ(play.answer.moves[1].mem, 1);
    EQ(play.answer.moves[2].mem, 1);
    EQ(play.answer.after, 1.25);
}
END_TEST

/* To move one of four ranks off four equally slow hosts saves nothing; to move all of them does. */
START_TEST(equally_slow)
{
    set_up(8, 4);
    for (uint32_t i = 0; i < 4; i++)
        play.hosts[i].speed = 0.5, play.ranks[i].compute = 2;
    decide();
    ck_assert_uint_eq(play.answer.count, 4);
    EQ(play.answer.before, 2);
    EQ(play.answer.after, 1);
    EQ(play.answer.cost, 2); /* at the same time, between different hosts */
    play.facts.move_bandwidth = 1e8;
    struct balance *fresh = balance_new(PLAY_RANKS, PLAY_HOSTS, 1);
    struct balance_answer answer;
    ck_assert_int_eq(balance_decide(fresh, &play.rule, &play.facts, &answer), 0);
    ck_assert_uint_eq(answer.count, 4);
    EQ(answer.cost, 5); /* through what they share */
    balance_free(fresh);
    fresh = balance_new(PLAY_RANKS, PLAY_HOSTS, 1);
    for (uint32_t i = 0; i < 4; i++)
        play.hosts[4 + i].link.bandwidth = 5e7;
    play.facts.move_bandwidth = 0;
    ck_assert_int_eq(balance_decide(fresh, &play.rule, &play.facts, &answer), 0);
    EQ(answer.cost, 5); /* nothing is known of that: between 2 s and 8 s */
    EQ(answer.transfer, 2);
    EQ(answer.bytes, 4e8);
    balance_free(fresh);
    play_make(&play);
    for (uint32_t i = 0; i < 8; i++)
        ck_assert_uint_eq(play_count(&play, i), i >= 4);
    /* Only three can go, so nobody need. */
    set_up(7, 4);
    for (uint32_t i = 0; i < 4; i++)
        play.hosts[i].speed = 0.5, play.ranks[i].compute = 2;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    EQ(play.answer.after, 2);
}
END_TEST

/* 16 ranks, four on each of four hosts of four cores, one of them slowed to a third of its
 * capacity: 5, 5, 5, 1 is the best placement, 1.25 s instead of 3. */
START_TEST(slowed_to_a_third)
{
    set_up(4, 16);
    for (uint32_t i = 0; i < 4; i++)
        play.hosts[i].cores = 4;
    play.hosts[2].recent = play.hosts[2].history = 1 / 3.0;
    decide();
    EQ(play.answer.before, 3);
    EQ(play.answer.after, 1.25);
    ck_assert_uint_eq(play.answer.count, 3);
    play_make(&play);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(play_count(&play, i), i == 2 ? 1 : 5);
    /* The host is quick again: others come to it. */
    uint32_t moved[3];
    for (uint32_t i = 0; i < 3; i++)
        moved[i] = play.answer.moves[i].rank;
    play.hosts[2].recent = play.hosts[2].history = 1;
    decide();
    ck_assert_uint_eq(play.answer.count, 3);
    for (uint32_t i = 0; i < 9; i++)
        ck_assert_uint_ne(play.answer.moves[i % 3].rank, moved[i / 3]);
    play_make(&play);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(play_count(&play, i), 4);
}
END_TEST

/* A rank that was moved stays for the horizon of its move, 50 supersteps here, or for the rest that
 * the rule gives; a job that fell back behind its move need not wait. */
START_TEST(moved_ranks_rest)
{
    set_up(2, 1);
    play.hosts[1].speed = 2;
    decide();
    play_make(&play);
    ck_assert_uint_eq(play.ranks[0].home, 1);
    play.hosts[1].speed = 0.5;
    play.facts.superstep = 149;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    play.facts.superstep = 150;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
    play_make(&play);
    play.hosts[1].speed = 2;
    play.facts.superstep = 20;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
    play_make(&play);
    play.hosts[1].speed = 0.5;
    play.rule.rest = 7;
    play.facts.superstep = 1000;
    decide();
    play_make(&play);
    play.hosts[1].speed = 2;
    play.facts.superstep = 1006;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    play.facts.superstep = 1007;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
}
END_TEST

/* What has passed is the sum of all supersteps, not all of them at the length of the last ones;
 * what is done again after a rollback counts once.  A tenth pays for a move of 5 s after 50 s: 10 s
 * up to superstep 100, 20 s more up to 104, and 25 s at last. */
START_TEST(budget_of_all_that_has_passed)
{
    static const struct {
        uint64_t superstep;
        double seconds; /* each, since the last decision */
        uint32_t moves;
    } steps[] = {{100, 0.1, 0}, {104, 5, 0}, {90, 100, 0}, {103, 100, 0}, {109, 5, 1}};

    set_up(2, 1);
    play.rule.budget = 0.1;
    play.hosts[1].speed = 4;
    play.facts.move_seconds = 4;
    for (size_t i = 0; i < LENGTH(steps); i++) {
        play.facts.superstep = steps[i].superstep;
        play.facts.superstep_seconds = steps[i].seconds;
        decide();
        ck_assert_msg(play.answer.count == steps[i].moves, "step %zu", i);
    }
}
END_TEST

START_TEST(nothing_to_gain)
{
    static const uint32_t alphas[] = {8, 16, 32, 64, 64, 64};

    set_up(4, 16);
    for (size_t i = 0; i < LENGTH(alphas); i++) {
        decide();
        ck_assert_uint_eq(play.answer.count, 0);
        ck_assert_uint_eq(play.answer.alpha, alphas[i]);
        EQ(play.answer.imbalance, 0);
        EQ(play.answer.before, 4);
        EQ(play.answer.after, 4);
        EQ(play.answer.cost, 0);
    }
    /* No ranks at all. */
    play.facts.rank_count = 0;
    decide();
    ck_assert(play.answer.count == 0 && play.answer.before == 0);
}
END_TEST

/* A tenth of 100 s may be spent: two moves of 4 s each at one barrier are 8 s through what
 * they share, and a third is too many until more time has passed. */
START_TEST(budget)
{
    set_up(6, 3);
    play.rule.budget = 0.1;
    for (uint32_t i = 0; i < 3; i++) { /* one after the other shortens the superstep */
        play.ranks[i] = (struct balance_rank){.compute = 4 - i, .image = 4e8, .home = i};
        play.hosts[i].speed = 0.5;
        play.hosts[3 + i].speed = 4;
    }
    play.facts.move_seconds = 0;
    play.facts.move_bandwidth = 1e8;
    play.facts.superstep_seconds = 1;
    decide();
    ck_assert_uint_eq(play.answer.count, 2);
    EQ(play.answer.cost, 8);
    play_make(&play);
    for (uint32_t i = 0; i < 3; i++)
        if (play.ranks[i].home >= 3)
            play.ranks[i].compute = 0.5;
    play.facts.superstep = 119; /* 8 and 4 of 11.9 */
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    play.facts.superstep = 121;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
    /* Off a leaving host at any cost. */
    play_make(&play);
    play.facts.move_seconds = 1000;
    play.hosts[play.ranks[0].home].leaving = true;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
}
END_TEST

/* What transfers share, by how long they took: 2 s are explained by links, with a second besides.
 */
START_TEST(shared_bandwidth)
{
    struct balance_facts facts = {.move_seconds = 1};
    struct balance_answer answer = {.bytes = 4e8, .transfer = 2};

    EQ(balance_shared(&facts, &answer, 5), 1e8);
    EQ(balance_shared(&facts, &answer, 3), 4e8); /* twice of what passed */
    EQ(balance_shared(&facts, &answer, 3.19), 8e8 / 2.19);
    EQ(balance_shared(&facts, &answer, 3.21), 4e8 / 2.21);
    facts.move_bandwidth = 1e9;
    EQ(balance_shared(&facts, &answer, 3), 1e9);
    EQ(balance_shared(&facts, &answer, 5), 1e8);
    EQ(balance_shared(&facts, &answer, 1), 1e9); /* says nothing */
    EQ(balance_shared(&facts, &answer, NAN), 1e9);
    answer.bytes = 0;
    EQ(balance_shared(&facts, &answer, 5), 1e9);
}
END_TEST

/* ---- Alpha --------------------------------------------------------------------------------- */

START_TEST(alpha_falls)
{
    set_up(4, 4);
    play.facts.move_seconds = 1e9; /* nothing is ever worth it */
    for (int i = 0; i < 5; i++)
        decide();
    ck_assert_uint_eq(play.answer.alpha, 64);
    play.ranks[1].compute = 2; /* 2 by 1.25: 0.6 above */
    static const uint32_t alphas[] = {32, 64, 64};
    for (size_t i = 0; i < LENGTH(alphas); i++) { /* it is looked at again, once */
        decide();
        EQ(play.answer.imbalance, 0.6);
        ck_assert_uint_eq(play.answer.alpha, alphas[i]);
    }
    play.ranks[1].compute = 3;
    decide();
    EQ(play.answer.imbalance, 1);
    ck_assert_uint_eq(play.answer.alpha, 32);
    play.ranks[1].compute = 6;
    decide();
    ck_assert_uint_eq(play.answer.alpha, 16);
    /* An imbalance within its bound is none. */
    play.ranks[1].compute = 1.5;
    decide();
    ck_assert_uint_eq(play.answer.alpha, 32);
    /* A move: looked at again soon. */
    play.facts.move_seconds = 1;
    play.hosts[2].speed = 0.2;
    play.ranks[2].compute = 5;
    play.hosts[3].cores = 2;
    decide();
    ck_assert_uint_gt(play.answer.count, 0);
    ck_assert_uint_eq(play.answer.alpha, 4);
    /* Fixed. */
    set_up(4, 4);
    play.rule.alpha_least = play.rule.alpha_most = 8;
    for (int i = 0; i < 5; i++) {
        decide();
        ck_assert_uint_eq(play.answer.alpha, 8);
    }
}
END_TEST

/* ---- Memory -------------------------------------------------------------------------------- */

START_TEST(memory_bounds)
{
    set_up(2, 1);
    play.hosts[1].speed = 2;
    play.hosts[1].free = 1e8;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
    set_up(2, 1);
    play.hosts[1].speed = 2;
    play.hosts[1].free = 1e8 - 1;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    /* Three ranks on a slow host; there is memory for one of them on each of the others. */
    set_up(3, 3);
    for (uint32_t i = 0; i < 3; i++) {
        play.ranks[i].home = 0;
        play.hosts[i].cores = 4;
        play.hosts[i].free = 1.9e8;
    }
    play.hosts[0].speed = 0.1;
    play.ranks[0].compute = play.ranks[1].compute = play.ranks[2].compute = 10;
    decide();
    ck_assert_uint_le(play.answer.count, 2);
    play_make(&play);
    ck_assert(play_count(&play, 1) <= 1 && play_count(&play, 2) <= 1);
}
END_TEST

START_TEST(full_hosts)
{
    set_up(4, 8);
    for (uint32_t i = 0; i < 4; i++)
        play.hosts[i].free = 5e7;
    play.hosts[1].speed = 0.1;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    ck_assert_uint_eq(play.answer.stranded, 0);
    ck_assert_uint_eq(play.answer.alpha, 8); /* to look again soon would change nothing */
    play.hosts[1].leaving = true;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    ck_assert_uint_eq(play.answer.stranded, 2);
    ck_assert_uint_eq(play.answer.alpha, 4);
}
END_TEST

/* ---- Leaving hosts ------------------------------------------------------------------------- */

START_TEST(drain_empties)
{
    set_up(4, 8);
    play.facts.superstep = 0; /* no horizon, no gain */
    play.facts.move_seconds = 1e6;
    play.hosts[0].leaving = true;
    play.hosts[3].leaving = true; /* and is no target */
    decide();
    ck_assert_uint_eq(play.answer.count, 4);
    ck_assert_uint_eq(play.answer.stranded, 0);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert(play.answer.moves[i].forced);
    play_make(&play);
    ck_assert(play_count(&play, 0) == 0 && play_count(&play, 3) == 0);
    ck_assert(play_count(&play, 1) == 4 && play_count(&play, 2) == 4);
    ck_assert_uint_eq(play.answer.alpha, 4);
    EQ(play.answer.before, 2);
    EQ(play.answer.after, 4);
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    /* One that has just been moved is moved again when it must. */
    play.hosts[1].leaving = true;
    decide();
    ck_assert_uint_eq(play.answer.count, 4);
    /* The last host: nobody can go. */
    play_make(&play);
    play.hosts[2].leaving = true;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    ck_assert_uint_eq(play.answer.stranded, 8);
}
END_TEST

/* Images of 6, 5, 4, 3 in hosts with memory for 9 each: the greatest first, or they do not fit. */
START_TEST(drain_within_memory)
{
    static const double images[] = {3, 4, 5, 6};

    set_up(3, 4);
    for (uint32_t i = 0; i < 4; i++) {
        play.ranks[i].home = 0;
        play.ranks[i].image = images[i];
        play.hosts[i].free = 9;
    }
    play.hosts[0].leaving = true;
    decide();
    ck_assert_uint_eq(play.answer.count, 4);
    play.hosts[2].free = 8;
    decide();
    ck_assert_uint_eq(play.answer.count, 3);
    ck_assert_uint_eq(play.answer.stranded, 1);
    play.hosts[2].free = 9;
    play.ranks[1].pinned = true;
    decide();
    ck_assert_uint_eq(play.answer.count, 3);
    ck_assert_uint_eq(play.answer.stranded, 1);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_ne(play.answer.moves[i].rank, 1);
}
END_TEST

/* Host 1 is slow, and host 0 cannot be emptied: for want of memory, which may be there soon, or
 * because its ranks are pinned, which lasts.  Host 1 is relieved nevertheless. */
START_TEST(who_stays_on_a_leaving_host_keeps_no_other)
{
    set_up(4, 8);
    play.hosts[0].leaving = true;
    play.hosts[1].speed = 0.1;
    play.ranks[1].compute = play.ranks[5].compute = 10;
    play.ranks[0].image = play.ranks[4].image = 2e12;
    decide();
    ck_assert_uint_eq(play.answer.stranded, 2);
    ck_assert_uint_eq(play.answer.count, 2);
    for (uint32_t i = 0; i < play.answer.count; i++)
        ck_assert(play.answer.moves[i].from == 1 && !play.answer.moves[i].forced);
    ck_assert(play.answer.after < play.answer.before);
    play_make(&play);
    play.ranks[1].compute = play.ranks[5].compute = 1;
    play.facts.superstep += 1000;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
    ck_assert_uint_eq(play.answer.alpha, 4);
    play.ranks[0].pinned = play.ranks[4].pinned = true;
    for (uint32_t alpha = 8; alpha <= 64; alpha *= 2) {
        play.facts.superstep += 1000;
        decide();
        ck_assert_uint_eq(play.answer.stranded, 2);
        ck_assert_uint_eq(play.answer.count, 0);
        ck_assert_uint_eq(play.answer.alpha, alpha);
    }
}
END_TEST

/* ---- Bad arguments ------------------------------------------------------------------------- */

START_TEST(bad_arguments)
{
    set_up(2, 1);
    play.hosts[1].speed = 2;
    play.answer.count = 77;
    struct play good = play;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        play = good;                                                                               \
        change;                                                                                    \
        ck_assert_int_eq(play_decide(&play), -EINVAL);                                             \
        ck_assert_uint_eq(play.answer.count, 77);                                                  \
    } while (0)
    REFUSED(play.facts.rank_count = PLAY_RANKS + 1);
    REFUSED(play.facts.host_count = PLAY_HOSTS + 1);
    REFUSED(play.facts.host_count = 0);
    REFUSED(play.facts.traffic_count = 2 * PLAY_RANKS + 1);
    REFUSED(play.ranks[0].home = 2);
    REFUSED(play.facts.traffic_count = 1; play.traffic[0].to = 1);
    REFUSED(play.facts.traffic_count = 1; play.traffic[0].from = 1);
    REFUSED(play.rule.margin = -1);
    REFUSED(play.rule.margin = NAN);
    REFUSED(play.rule.budget = NAN);
    REFUSED(play.rule.imbalance = NAN);
    REFUSED(play.rule.alpha_least = 0);
    REFUSED(play.rule.alpha_most = 3);
    play = good;
    decide();
    ck_assert_uint_eq(play.answer.count, 1);
    ck_assert_ptr_null(balance_new(0, 1, 1));
    ck_assert_ptr_null(balance_new(1, 0, 1));
    ck_assert_ptr_null(balance_new(1, 1, SIZE_MAX));
    balance_free(NULL);
}
END_TEST

/* ---- The model ----------------------------------------------------------------------------- */

/* The mean of the slowest of n hosts, whose availability is uniform from 0.3 to 0.9: the integral
 * by a fine sum, and hosts of several speeds against what is drawn. */
START_TEST(expected_slowest)
{
    for (uint32_t n = 1; n <= 20; n++) {
        set_up(n, n);
        for (uint32_t i = 0; i < n; i++) {
            play.hosts[i].recent = play.hosts[i].history = 0.6;
            play.hosts[i].spread = 0.6 / sqrt(12);
        }
        decide();
        double mean = 0, cells = 20000; /* of the quantile of the least availability */
        for (int k = 0; k < cells; k++)
            mean += 1 / (0.3 + 0.6 * (1 - pow((k + 0.5) / cells, 1.0 / n))) / cells;
        ck_assert_double_eq_tol(play.answer.before, mean, 0.002 * mean);
    }
    set_up(12, 12);
    for (uint32_t i = 0; i < 12; i++) {
        play.hosts[i].recent = play.hosts[i].history = 0.6;
        play.hosts[i].spread = 0.6 / sqrt(12);
        play.ranks[i].compute = 1 + i / 20.0;
    }
    decide();
    double mean = 0;
    srand48(1);
    for (int k = 0; k < 200000; k++) {
        double slowest = 0;
        for (uint32_t i = 0; i < 12; i++)
            slowest = fmax(slowest, (1 + i / 20.0) / (0.3 + 0.6 * drand48()));
        mean += slowest / 200000;
    }
    ck_assert_double_eq_tol(play.answer.before, mean, 0.01 * mean);
}
END_TEST

/* Of a host of which nothing is known no more is expected than of all others, and of all of them
 * full availability where nothing is known of any. */
START_TEST(unknown_hosts)
{
    set_up(3, 3);
    play.hosts[0].recent = play.hosts[0].history = 0.4;
    play.hosts[1].recent = play.hosts[1].history = 0.8;
    play.hosts[2].samples = 0;
    play.ranks[2].compute = 3;
    decide();
    EQ(play.answer.before, 3 / 0.6);
    play.hosts[0].samples = play.hosts[1].samples = 0;
    decide();
    EQ(play.answer.before, 3);
    /* Of unknown speed: taken as 1 for what runs there, and nothing is sent there. */
    set_up(2, 1);
    play.hosts[0].speed = 0;
    play.ranks[0].compute = 0.5;
    decide();
    EQ(play.answer.before, 0.5);
    play.ranks[0].home = 1;
    play.hosts[1].speed = 0.1;
    decide();
    ck_assert_uint_eq(play.answer.count, 0);
}
END_TEST

/* The recent mean counts by half where it is far from the history, less where chance may explain
 * it: 16 supersteps with a deviation of 0.2 are known to 0.05; two of that are explained. */
START_TEST(recent_and_history)
{
    static const struct {
        double recent, expected;
    } known[] = {{0.6, 0.6}, {0.51, 0.6}, {0.4, 0.6 - 0.2 * 3 / 8}, {0.8, 0.6 + 0.2 * 3 / 8}};

    for (size_t i = 0; i < LENGTH(known); i++) {
        set_up(1, 1);
        struct model model;
        struct model_host host;
        struct model_rank rank;
        uint32_t offsets[2], edges[1];
        model = (struct model){.hosts = &host, .ranks = &rank, .offsets = offsets, .edges = edges};
        play.hosts[0].recent = known[i].recent;
        play.hosts[0].recent_samples = 16;
        play.hosts[0].history = 0.6;
        play.hosts[0].spread = 0.2;
        model_fill(&model, &play.facts);
        EQ(host.mean, known[i].expected);
        EQ(host.high - host.mean, 1.732 * 0.2 < 1 - host.mean ? 1.732 * 0.2 : 1 - host.mean);
        EQ(host.mean - host.low, host.high - host.mean);
    }
}
END_TEST

/* Differences between hosts count as far as chance does not explain them: three hosts known to 0.01
 * of variance each.  Up to three times that between them, chance may well explain it. */
START_TEST(differences_of_hosts)
{
    static const struct {
        double apart, kept;
    } known[] = {{0.1, 0}, {0.173, 0}, {0.174, 1 - 0.01 / (0.174 * 0.174)}, {0.3, 1 - 1 / 9.0}};

    for (size_t i = 0; i < LENGTH(known); i++) {
        set_up(3, 3);
        struct model model;
        struct model_host hosts[3];
        struct model_rank ranks[3];
        uint32_t offsets[4], edges[1];
        model = (struct model){.hosts = hosts, .ranks = ranks, .offsets = offsets, .edges = edges};
        for (int h = 0; h < 3; h++) {
            play.hosts[h].recent_samples = 0;
            play.hosts[h].history = 0.5 + (h - 1) * known[i].apart;
            play.hosts[h].samples = 4;
            play.hosts[h].spread = 0.2;
        }
        model_fill(&model, &play.facts);
        for (int h = 0; h < 3; h++)
            EQ(hosts[h].mean, 0.5 + (h - 1) * known[i].apart * known[i].kept);
    }
}
END_TEST

/* A host of two cores that are half available computes one rank in one second, and three in three;
 * another load leaves it 1.5 cores. */
START_TEST(shared_hosts)
{
    static const struct {
        double cores, availability;
        uint32_t ranks;
        double seconds;
    } known[] = {{1, 1, 1, 1},    {1, 0.5, 1, 2},        {2, 0.5, 1, 1},    {2, 0.5, 3, 3},
                 {2, 0.75, 1, 1}, {2, 0.75, 2, 4 / 3.0}, {4, 1, 3, 1},      {4, 1, 5, 1.25},
                 {1.5, 1, 1, 1},  {0.5, 1, 1, 2},        {4, 1 / 3.0, 4, 3}};

    for (size_t i = 0; i < LENGTH(known); i++) {
        set_up(1, known[i].ranks);
        play.hosts[0].cores = known[i].cores;
        play.hosts[0].recent = play.hosts[0].history = known[i].availability;
        decide();
        EQ(play.answer.before, known[i].seconds);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        potential_by_hand,
        margin,
        communication,
        moves_share_their_cost,
        equally_slow,
        slowed_to_a_third,
        moved_ranks_rest,
        shared_bandwidth,
        budget,
        nothing_to_gain,
        alpha_falls,
        budget_of_all_that_has_passed,
        memory_bounds,
        full_hosts,
        drain_empties,
        drain_within_memory,
        who_stays_on_a_leaving_host_keeps_no_other,
        bad_arguments,
        expected_slowest,
        unknown_hosts,
        recent_and_history,
        differences_of_hosts,
        shared_hosts,
    };
    return suite_run_tests("balance", tests, LENGTH(tests), NULL, tear_down);
}
