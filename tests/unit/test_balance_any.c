/* test_balance_any.c - which ranks move to which hosts: what holds for any measurements, and what
 * noise does; from fresh seeds, which are shown. */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/balance_play.h"
#include "tests/unit/suite.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static struct play play;
static uint64_t seed, state;

static uint64_t draw(void)
{
    uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static double chance(void)
{
    return (double)(draw() >> 11) / (double)(UINT64_C(1) << 53);
}

/* BALANCE_SEED=N in the environment runs that seed. */
static void begin(void)
{
    struct timespec now;
    const char *given = getenv("BALANCE_SEED");

    clock_gettime(CLOCK_REALTIME, &now);
    seed = given != NULL ? strtoull(given, NULL, 10)
                         : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    printf("BALANCE_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    state = seed;
}

#define HOLDS(what) ck_assert_msg(what, "%s: BALANCE_SEED=%llu", #what, (unsigned long long)seed)

static void free_play(void)
{
    balance_free(play.balance);
    play.balance = NULL;
}

/* ---- What always holds --------------------------------------------------------------------- */

static void make_up(void)
{
    uint32_t hosts = 1 + (uint32_t)(draw() % PLAY_HOSTS),
             ranks = 1 + (uint32_t)(draw() % PLAY_RANKS);

    free_play();
    play_set_up(&play, hosts, ranks);
    for (uint32_t i = 0; i < hosts; i++) {
        struct balance_host *host = &play.hosts[i];
        host->speed = draw() % 20 == 0 ? 0 : 0.2 + chance();
        host->cores = 1 + (double)(draw() % 8);
        host->recent = chance();
        host->history = chance();
        host->spread = draw() % 3 == 0 ? 0 : chance() / 3;
        host->samples = draw() % 10 == 0 ? 0 : 1 + (double)(draw() % 100);
        host->free = draw() % 4 * chance() * 1e9;
        host->leaving = draw() % 8 == 0;
        host->link = (struct balance_link){1e6 + chance() * 1e9, chance() / 1000};
    }
    for (uint32_t i = 0; i < ranks; i++)
        play.ranks[i] = (struct balance_rank){chance(), chance() * 5e8, (uint32_t)(draw() % hosts),
                                              draw() % 16 == 0};
    play.facts.traffic_count = (size_t)(draw() % (2 * PLAY_RANKS + 1));
    for (size_t i = 0; i < play.facts.traffic_count; i++)
        play.traffic[i] = (struct balance_traffic){(uint32_t)(draw() % ranks),
                                                   (uint32_t)(draw() % ranks), chance() * 1e7};
    play.facts.superstep = draw() % 2000;
    play.facts.move_seconds = chance();
}

static void check_answer(void)
{
    const struct balance_answer *answer = &play.answer;
    double promised[PLAY_HOSTS] = {0};
    bool moved[PLAY_RANKS] = {0};
    uint32_t leaving = 0, forced = 0;

    for (uint32_t i = 0; i < play.facts.rank_count; i++)
        leaving += play.hosts[play.ranks[i].home].leaving;
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct balance_move *move = &answer->moves[i];
        HOLDS(move->rank < play.facts.rank_count && move->to < play.facts.host_count);
        HOLDS(!moved[move->rank] && !play.ranks[move->rank].pinned);
        HOLDS(move->from == play.ranks[move->rank].home && move->to != move->from);
        HOLDS(!play.hosts[move->to].leaving && play.hosts[move->to].speed > 0);
        HOLDS(fabs(move->comp + move->comm - move->mem - move->pm) <= 1e-9 * (1 + fabs(move->pm)));
        HOLDS(move->forced == play.hosts[move->from].leaving);
        HOLDS(move->forced || move->pm > play.rule.margin * move->mem);
        moved[move->rank] = true;
        promised[move->to] += play.ranks[move->rank].image;
        forced += move->forced;
    }
    for (uint32_t i = 0; i < play.facts.host_count; i++)
        HOLDS(promised[i] <= play.hosts[i].free);
    HOLDS(forced + answer->stranded == leaving);
    HOLDS(leaving > 0 || answer->after <= answer->before * (1 + 1e-6));
    if (leaving == 0 && answer->count > 0)
        HOLDS((answer->before - answer->after) * (double)play.facts.superstep / 2 >
              (1 + play.rule.margin) * answer->cost * (1 - 1e-6));
    HOLDS(answer->alpha >= play.rule.alpha_least && answer->alpha <= play.rule.alpha_most);
    HOLDS(isfinite(answer->before) && isfinite(answer->after) && isfinite(answer->cost));
}

START_TEST(always)
{
    unsigned moved = 0, forced = 0;

    begin();
    for (int i = 0; i < 3000; i++) {
        make_up();
        HOLDS(play_decide(&play) == 0);
        check_answer();
        moved += play.answer.count > 0 && !play.answer.moves[0].forced;
        forced += play.answer.count > 0 && play.answer.moves[0].forced;
        /* Equal calls, equal answers. */
        struct balance_move moves[PLAY_RANKS];
        struct balance_answer answer = play.answer;
        memcpy(moves, answer.moves, answer.count * sizeof(*moves));
        balance_free(play.balance);
        play.balance = balance_new(PLAY_RANKS, PLAY_HOSTS, 2 * PLAY_RANKS);
        HOLDS(play_decide(&play) == 0);
        HOLDS(play.answer.count == answer.count && play.answer.after == answer.after);
        for (uint32_t m = 0; m < answer.count; m++)
            HOLDS(moves[m].rank == play.answer.moves[m].rank &&
                  moves[m].to == play.answer.moves[m].to && moves[m].pm == play.answer.moves[m].pm);
    }
    HOLDS(moved > 100 && forced > 100); /* or the above says little */
}
END_TEST

/* A measurement as the decision takes it. */
static double sensible(double number)
{
    return number >= 1e-15 ? fmin(number, 1e15) : 0;
}

/* Measurements may be anything; moves stay within memory all the same. */
START_TEST(odd_numbers)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -1, 0, 5e-324, 1e-300, 1e300, 1e15};

    begin();
    for (int i = 0; i < 5000; i++) {
        make_up();
        for (int k = 0; k < 6; k++) {
            struct balance_host *host = &play.hosts[draw() % play.facts.host_count];
            double *numbers[] = {&host->speed,
                                 &host->cores,
                                 &host->recent,
                                 &host->history,
                                 &host->spread,
                                 &host->samples,
                                 &host->free,
                                 &host->recent_samples,
                                 &host->link.bandwidth,
                                 &host->link.latency,
                                 &play.ranks[draw() % play.facts.rank_count].compute,
                                 &play.ranks[draw() % play.facts.rank_count].image,
                                 &play.traffic[draw() % (2 * PLAY_RANKS)].bytes,
                                 &play.facts.superstep_seconds,
                                 &play.facts.move_seconds,
                                 &play.facts.move_bandwidth};
            *numbers[draw() % LENGTH(numbers)] = odd[draw() % LENGTH(odd)];
        }
        HOLDS(play_decide(&play) == 0);
        HOLDS(play.answer.count <= play.facts.rank_count);
        HOLDS(isfinite(play.answer.before) && isfinite(play.answer.after));
        HOLDS(isfinite(play.answer.cost) && isfinite(play.answer.imbalance));
        double promised[PLAY_HOSTS] = {0};
        for (uint32_t m = 0; m < play.answer.count; m++) {
            const struct balance_move *move = &play.answer.moves[m];
            double image = play.ranks[move->rank].image;
            promised[move->to] += sensible(image);
            HOLDS(!play.hosts[move->to].leaving && play.hosts[move->to].speed > 0);
            HOLDS(promised[move->to] <= sensible(play.hosts[move->to].free));
        }
    }
}
END_TEST

/* ---- Noise --------------------------------------------------------------------------------- */

struct watched {
    double sum, squares, recent;
    unsigned count, recent_count;
};

static void watch(struct watched *host, double availability)
{
    host->sum += availability;
    host->squares += availability * availability;
    host->recent += availability;
    host->count++;
    host->recent_count++;
}

/* To the measurements of a host; the recent ones begin anew. */
static void measure(struct watched *watched, struct balance_host *host)
{
    host->samples = watched->count;
    host->history = watched->sum / watched->count;
    double variance = watched->squares / watched->count - host->history * host->history;
    host->spread = sqrt(fmax(variance, 0));
    host->recent = watched->recent / watched->recent_count;
    host->recent_samples = watched->recent_count;
    watched->recent = watched->recent_count = 0;
}

/* Runs a job of that many supersteps on hosts whose availability is drawn anew each time, from
 * `low` to 0.99.  Returns the number of moves. */
static unsigned run(uint64_t supersteps, const double *low)
{
    struct watched watched[PLAY_HOSTS] = {0};
    unsigned moves = 0;
    uint64_t due = play.rule.alpha_least;

    for (uint64_t n = 1; n <= supersteps; n++) {
        for (uint32_t i = 0; i < play.facts.host_count; i++)
            watch(&watched[i], low[i] + (0.99 - low[i]) * chance());
        if (n < due)
            continue;
        for (uint32_t i = 0; i < play.facts.host_count; i++)
            measure(&watched[i], &play.hosts[i]);
        play.facts.superstep = n;
        HOLDS(play_decide(&play) == 0);
        play_make(&play);
        moves += play.answer.count;
        due = n + play.answer.alpha;
    }
    return moves;
}

/* Equal hosts, two thirds of them with a rank, availability between 30 and 99 %: nothing can be
 * gained, and what chance shows is not taken for a gain.  Moves that cost next to nothing. */
START_TEST(noise_moves_nobody)
{
    double low[PLAY_HOSTS];
    unsigned moves = 0, jobs = 40;

    begin();
    for (uint32_t i = 0; i < PLAY_HOSTS; i++)
        low[i] = 0.3;
    for (unsigned job = 0; job < jobs; job++) {
        free_play();
        play_set_up(&play, PLAY_HOSTS, 16);
        play.facts.move_seconds = 0.01;
        for (uint32_t i = 0; i < 16; i++)
            play.ranks[i].image = 1e6;
        moves += run(1000, low);
    }
    printf("%u moves in %u jobs of 16 ranks and 1000 supersteps\n", moves, jobs);
    fflush(stdout);
    HOLDS(moves <= 16 * jobs); /* each rank once, in a thousand supersteps */
}
END_TEST

/* Eight of the hosts are really slower: their ranks leave them and do not come back. */
START_TEST(no_ping_pong)
{
    double low[PLAY_HOSTS];

    begin();
    for (unsigned job = 0; job < 20; job++) {
        free_play();
        play_set_up(&play, PLAY_HOSTS, 12);
        for (uint32_t i = 0; i < PLAY_HOSTS; i++) {
            low[i] = 0.6;
            play.hosts[i].speed = i < 8 ? 0.5 : 1;
        }
        for (uint32_t i = 0; i < 8; i++)
            play.ranks[i].compute = 2;
        unsigned moves = run(200, low);
        HOLDS(moves >= 8 && moves <= 24);
        for (uint32_t i = 0; i < 8; i++)
            HOLDS(play_count(&play, i) == 0);
        for (uint32_t i = 8; i < PLAY_HOSTS; i++)
            HOLDS(play_count(&play, i) <= 1);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {always, odd_numbers, noise_moves_nobody, no_ping_pong};
    return suite_run_tests("balance, anything", tests, LENGTH(tests), NULL, free_play);
}
