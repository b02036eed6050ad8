/* balance.h - which ranks should move to which hosts: a pure decision from measurements.
 *
 * A superstep lasts as long as its slowest host, so a move is judged twice.  The potential of
 * migration of rank i to host j, after da Rosa Righi and others (MigBSP, BSPonP2P), is
 *
 *     PM(i, j) = Comp + Comm - Mem                  seconds, over the horizon
 *
 * Comp and Comm: what the rank's computation and communication would take less on host j; Mem: what
 * the move costs.  PM must exceed Mem by a margin.  That is necessary, not sufficient: the moves
 * planned together must also shorten the expected superstep of the job by more, over the horizon,
 * than they cost together, by the same margin.  The horizon is half of the supersteps that have
 * passed: the future of a job is taken to be as long as its past, and no prediction is trusted for
 * all of it.  What a host computes in the future is taken from the mean of its recent and of its
 * long-term availability, as far as chance does not explain how they differ from each other and
 * from those of other hosts (balance_model.c).
 *
 * All moves that were planned so far may take a share of the time that has passed (budget), at the
 * highest cost that measurements allow: so much is lost at most if all of them were in vain.
 *
 * Hosts that leave are emptied whatever it costs, and before anything else is moved.  Memory is
 * what limits a host: no rank is sent where its image does not fit beside all others that are sent
 * there.
 *
 * The decision is made every alpha supersteps.  Alpha becomes its least value after moves, and
 * while ranks of a leaving host wait for memory; it doubles while nothing is worth moving, and
 * halves when the imbalance exceeds a bound and has grown since the last decision that found
 * nothing.  A rank that was moved stays for the horizon of its move, at most BALANCE_RULE.rest
 * supersteps.
 *
 * No clock, no I/O, no randomness: equal calls give equal answers.  Times in seconds, sizes in
 * bytes.  Measurements that are negative or not finite count as 0; a host of speed 0 gets no rank.
 * doc/migration.md derives the formulas and shows by simulation what they are worth.
 */
#ifndef COORD_BALANCE_H
#define COORD_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct balance_rank {
    double compute; /* processor time per superstep on its host, mean since the last decision */
    double image;   /* bytes that a move transfers */
    uint32_t home;  /* index of its host */
    bool pinned;    /* never moved: it shares what cannot be moved alone */
};

/* The way from one host to another, or to any other. */
struct balance_link {
    double bandwidth; /* bytes per second; 0: unknown, costs nothing */
    double latency;
};

struct balance_host {
    double speed; /* work of one core per second, in any unit common to all hosts */
    double cores; /* that the job may use: a quota may be a fraction */
    /* Availability: the share of its cores that is left to the job, 0 to 1. */
    double recent;         /* mean since the last decision ... */
    double recent_samples; /* ... of so many supersteps */
    double history;        /* mean of the past, including earlier jobs ... */
    double samples;        /* ... of so many supersteps; 0: nothing is known, taken as all hosts */
    double spread;         /* standard deviation between supersteps */
    double free;           /* bytes of memory for further images */
    struct balance_link link;
    bool leaving; /* must be emptied, and gets no ranks */
};

struct balance_traffic {
    uint32_t from, to; /* ranks */
    double bytes;      /* per superstep */
};

/* What is known at a barrier.  Arrays belong to the caller. */
struct balance_facts {
    uint64_t superstep; /* completed */
    const struct balance_rank *ranks;
    uint32_t rank_count;
    const struct balance_host *hosts;
    uint32_t host_count;
    const struct balance_traffic *traffic; /* in any order */
    size_t traffic_count;
    /* Of host i to host j at [i * host_count + j]; NULL: the lesser bandwidth and the sum of the
     * latencies of both hosts' links. */
    const struct balance_link *links;
    double superstep_seconds; /* measured mean of the most recent ones; 0: unknown */
    double passed_seconds;    /* since the last decision; 0: superstep_seconds for each superstep */
    double move_seconds;      /* what any number of moves at one barrier costs besides transfers */
    /* Bytes per second of what all transfers share, by balance_shared.  0: unknown, as in jobs of
     * bsprun; the cost is taken as the geometric mean of its bounds, transfers all at once and one
     * after the other. */
    double move_bandwidth;
};

struct balance_rule {
    double margin;                    /* gains exceed costs by this share of the cost */
    double budget;                    /* share of the job's time that moves may take in all */
    double imbalance;                 /* bound: greatest by mean time of a rank, minus 1 */
    uint32_t alpha_least, alpha_most; /* supersteps, at least 1; equal: alpha is fixed */
    uint32_t rest;                    /* supersteps that a moved rank stays, at most */
    uint32_t moves;                   /* at most in one decision, those off leaving hosts aside */
};

/* What jobs use by default. */
#define BALANCE_RULE                                                                               \
    {                                                                                              \
        .margin = 0.25, .budget = 0.17, .imbalance = 0.5, .alpha_least = 4, .alpha_most = 64,      \
        .rest = 64, .moves = 4096                                                                  \
    }

struct balance_move {
    uint32_t rank, from, to;
    double pm, comp, comm, mem; /* seconds over the horizon; pm = comp + comm - mem */
    bool forced;                /* off a leaving host, whatever pm is */
};

struct balance_answer {
    const struct balance_move *moves; /* until the next call for this struct balance */
    uint32_t count;
    uint32_t stranded;    /* ranks of leaving hosts that fit nowhere, or are pinned */
    uint32_t alpha;       /* supersteps until the next decision */
    double imbalance;     /* expected, before the moves */
    double before, after; /* expected duration of a superstep */
    double cost;          /* expected duration of the moves together */
    double bytes;         /* of all images that move */
    double transfer;      /* what the links of their hosts alone explain of `cost` */
    uint64_t evaluated;   /* hosts whose time was computed: what the decision itself costs */
};

/* What one decision leaves to the next, and the memory in which decisions are made. */
struct balance;

/* For so many ranks, hosts and entries of traffic at most (ranks and hosts at least 1): 100 bytes a
 * rank, 120 a host, 8 an entry.  NULL: no memory.  No other call allocates. */
struct balance *balance_new(uint32_t ranks, uint32_t hosts, size_t traffic);
void balance_free(struct balance *balance); /* or NULL */

/* Decides.  The moves are to be made at this barrier; their order does not matter.  A move that is
 * not made needs no notice: the next call is told where the ranks are.
 *
 * For p ranks, h hosts of which u have ranks, at most r of them each, n entries of traffic, at most
 * d of them for one rank: O(n + p + h), and O(r h d + u) for each planned move and for each host
 * that cannot be relieved, at most p and u of them.  Where no other host is quicker, r h
 * comparisons for each of u hosts: 60 ms for 4096 ranks on 1024 hosts; 0.4 s where 358 of them
 * move.
 *
 * -EINVAL, and nothing changes: more of anything than balance_new was told, no host, an index out
 * of range, or a rule that is not sensible. */
int balance_decide(struct balance *balance, const struct balance_rule *rule,
                   const struct balance_facts *facts, struct balance_answer *answer);

/* What the moves of all decisions have cost at most, those off leaving hosts aside, in seconds. */
double balance_spent(const struct balance *balance);
/* Before the first decision: what was spent, and the time that has passed, before there was this
 * struct balance.  The budget is one of all the job's time. */
void balance_go_on(struct balance *balance, double spent, double passed);

/* For a caller that measures transfers: the move_bandwidth of the next decision, from that of the
 * last one and the measured duration of its moves.  Where links do not explain the duration, the
 * bytes by the time of the transfers; where they do, what is shared lets more pass, and at least
 * twice of that is tried next. */
double balance_shared(const struct balance_facts *facts, const struct balance_answer *answer,
                      double seconds);

#endif
