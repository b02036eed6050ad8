/* watch.c - what is measured of a simulated job, and the production decision about it. */
#include "coordinator/core/shares.h"
#include "tests/sim/migration/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FADES 64.0 /* supersteps on which the history of a node rests, at least ... */
#define NOISE 0.05 /* of measured computing times */

/* What the agent of a node knows. */
struct seen {
    double recent, recent_count;
    double sum, squares, count;
};

struct watch {
    const struct options *options;
    const struct node *nodes;
    struct seen seen[NODES];
    struct balance_host hosts[NODES];
    struct balance_rank ranks[RANKS_MOST];
    struct balance_traffic traffic[RANKS_MOST];
    struct balance_link links[NODES * NODES];
    struct balance_facts facts;
    struct balance *balance;
    struct balance_answer answer;
    double seconds, supersteps; /* since the last decision */
    uint64_t now;
};

static void fill_hosts(struct watch *watch)
{
    for (uint32_t i = 0; i < NODES; i++) {
        watch->hosts[i].speed = watch->nodes[i].speed;
        watch->hosts[i].cores = 1;
        for (uint32_t j = 0; j < NODES; j++) {
            sg_host_t from = watch->nodes[i].host, to = watch->nodes[j].host;
            if (i != j)
                watch->links[i * NODES + j] = (struct balance_link){
                    sg_host_get_route_bandwidth(from, to), sg_host_get_route_latency(from, to)};
        }
    }
}

/* Earlier jobs have seen the node for an hour. */
static void know(struct watch *watch, uint32_t node)
{
    struct share_sums earlier = {0};
    uint32_t least, most;

    platform_bounds(watch->options, node, &least, &most);
    for (uint32_t percent = least; percent <= most; percent++)
        share_add(&earlier, percent / 100.0, 3600.0 / (most - least + 1));
    struct share prior = share_prior(&earlier);
    watch->seen[node].count = prior.looks;
    watch->seen[node].sum = prior.looks * prior.mean;
    watch->seen[node].squares =
        prior.looks * (prior.mean * prior.mean + prior.spread * prior.spread);
}

struct watch *watch_begin(const struct options *options, const struct node *nodes)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    uint32_t ranks = options->ranks;

    if (watch != NULL)
        watch->balance = balance_new(ranks, NODES, ranks);
    if (watch == NULL || watch->balance == NULL) {
        fprintf(stderr, "migration: no memory\n");
        exit(1);
    }
    watch->options = options;
    watch->nodes = nodes;
    for (uint32_t i = 0; i < ranks; i++)
        watch->traffic[i] = (struct balance_traffic){i, (i + 1) % ranks, HALO_BYTES};
    fill_hosts(watch);
    for (uint32_t i = 0; options->owners == OWNERS_KNOWN && i < NODES; i++)
        know(watch, i);
    watch->facts = (struct balance_facts){.ranks = watch->ranks,
                                          .rank_count = ranks,
                                          .hosts = watch->hosts,
                                          .host_count = NODES,
                                          .traffic = watch->traffic,
                                          .traffic_count = ranks,
                                          .links = watch->links,
                                          .move_seconds = MOVE_SECONDS};
    return watch;
}

void watch_free(struct watch *watch)
{
    balance_free(watch->balance);
    free(watch);
}

static bool has_ranks(const struct watch *watch, const uint32_t *homes, uint32_t node)
{
    for (uint32_t rank = 0; rank < watch->options->ranks; rank++)
        if (homes[rank] == node)
            return true;
    return false;
}

void watch_superstep(struct watch *watch, const uint32_t *homes, uint64_t superstep, double seconds)
{
    for (uint32_t i = 0; i < NODES; i++) {
        if (watch->options->owners != OWNERS_ALIKE && !has_ranks(watch, homes, i))
            continue;
        struct seen *seen = &watch->seen[i];
        double share = platform_available(watch->options, i, superstep) / 100.0;
        seen->recent += share;
        seen->recent_count++;
        seen->sum += share;
        seen->squares += share * share;
        seen->count++;
    }
    watch->seconds += seconds;
    watch->supersteps++;
    watch->now = superstep;
}

void watch_leaving(struct watch *watch, uint32_t node)
{
    watch->hosts[node].leaving = true;
}

static void measure_host(struct watch *watch, uint32_t node)
{
    struct seen *seen = &watch->seen[node];
    struct balance_host *host = &watch->hosts[node];

    host->recent = seen->recent_count > 0 ? seen->recent / seen->recent_count : 0;
    host->recent_samples = seen->recent_count;
    host->history = seen->count > 0 ? seen->sum / seen->count : 0;
    host->samples = seen->count;
    host->spread = seen->count > 0
                       ? sqrt(fmax(seen->squares / seen->count - host->history * host->history, 0))
                       : 0;
    host->free = watch->nodes[node].memory;
    seen->recent = seen->recent_count = 0;
    if (seen->count > FADES && watch->options->hold > 1) { /* what changes slowly is forgotten */
        seen->sum /= 2;
        seen->squares /= 2;
        seen->count /= 2;
    }
}

const struct balance_answer *watch_decide(struct watch *watch, const uint32_t *homes,
                                          uint64_t superstep)
{
    double flops = SITES * SITE_FLOPS / watch->options->ranks;
    double image = SITES * SITE_BYTES / watch->options->ranks;

    for (uint32_t i = 0; i < NODES; i++)
        measure_host(watch, i);
    for (uint32_t rank = 0; rank < watch->options->ranks; rank++) {
        double error = NOISE * (2 * chance_of(watch->options->seed + 1, watch->now, rank) - 1);
        watch->ranks[rank].compute = flops / watch->nodes[homes[rank]].speed * (1 + error);
        watch->ranks[rank].image = image;
        watch->ranks[rank].home = homes[rank];
        watch->hosts[homes[rank]].free -= image;
    }
    watch->facts.superstep = superstep;
    watch->facts.superstep_seconds = watch->supersteps > 0 ? watch->seconds / watch->supersteps : 0;
    watch->seconds = watch->supersteps = 0;
    if (balance_decide(watch->balance, &watch->options->rule, &watch->facts, &watch->answer) != 0) {
        fprintf(stderr, "migration: the decision was refused\n");
        exit(1);
    }
    return &watch->answer;
}

void watch_moved(struct watch *watch, double seconds)
{
    watch->facts.move_bandwidth = balance_shared(&watch->facts, &watch->answer, seconds);
}
