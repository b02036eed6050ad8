/* balance_play.h - hosts and ranks for the tests of coordinator/core/balance.h. */
#ifndef TESTS_UNIT_BALANCE_PLAY_H
#define TESTS_UNIT_BALANCE_PLAY_H

#include "coordinator/core/balance.h"

#define PLAY_HOSTS 24u
#define PLAY_RANKS 64u

struct play {
    struct balance_rule rule;
    struct balance_host hosts[PLAY_HOSTS];
    struct balance_rank ranks[PLAY_RANKS];
    struct balance_traffic traffic[2 * PLAY_RANKS];
    struct balance_facts facts;
    struct balance *balance;
    struct balance_answer answer;
};

/* Equal hosts of speed 1 with one core, always available, with memory for everything and links of
 * 1e8 bytes/s; ranks of one second and 1e8 bytes, dealt out in turn; superstep 100; a move costs
 * one second and the transfer.  The default rule, with any budget. */
static inline void play_set_up(struct play *play, uint32_t hosts, uint32_t ranks)
{
    *play = (struct play){.rule = BALANCE_RULE,
                          .balance = balance_new(PLAY_RANKS, PLAY_HOSTS, 2 * PLAY_RANKS)};
    play->rule.budget = 1e9;
    for (uint32_t i = 0; i < PLAY_HOSTS; i++)
        play->hosts[i] = (struct balance_host){.speed = 1,
                                               .cores = 1,
                                               .recent = 1,
                                               .recent_samples = 10,
                                               .history = 1,
                                               .samples = 100,
                                               .free = 1e12,
                                               .link = {1e8, 0}};
    for (uint32_t i = 0; i < PLAY_RANKS; i++)
        play->ranks[i] = (struct balance_rank){.compute = 1, .image = 1e8, .home = i % hosts};
    play->facts = (struct balance_facts){.superstep = 100,
                                         .ranks = play->ranks,
                                         .rank_count = ranks,
                                         .hosts = play->hosts,
                                         .host_count = hosts,
                                         .traffic = play->traffic,
                                         .move_seconds = 1,
                                         .move_bandwidth = 1e15};
}

/* Decides; the ranks are where they were. */
static inline int play_decide(struct play *play)
{
    return balance_decide(play->balance, &play->rule, &play->facts, &play->answer);
}

/* Makes the moves that were decided. */
static inline void play_make(struct play *play)
{
    for (uint32_t i = 0; i < play->answer.count; i++)
        play->ranks[play->answer.moves[i].rank].home = play->answer.moves[i].to;
}

static inline uint32_t play_count(const struct play *play, uint32_t host)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < play->facts.rank_count; i++)
        count += play->ranks[i].home == host;
    return count;
}

#endif
