/* ways.c - how fast the ways between hosts are; see ways.h. */
#include "coordinator/core/ways.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NEW 0.25 /* share of the newest measurement in the mean */

int ways_begin(struct ways *ways, uint32_t hosts)
{
    *ways = (struct ways){.hosts = hosts};
    if (hosts > WAYS_HOSTS_MOST)
        return 0;
    ways->measured = calloc((size_t)hosts * hosts, sizeof(*ways->measured));
    ways->expected = calloc((size_t)hosts * hosts, sizeof(*ways->expected));
    if (ways->measured && ways->expected)
        return 0;
    ways_end(ways);
    return -ENOMEM;
}

void ways_end(struct ways *ways)
{
    free(ways->measured);
    free(ways->expected);
    *ways = (struct ways){.hosts = 0};
}

static struct balance_link *at(struct balance_link *links, uint32_t hosts, uint32_t from,
                               uint32_t to)
{
    return &links[(size_t)from * hosts + to];
}

void ways_measure(struct ways *ways, uint32_t from, uint32_t to, double bandwidth)
{
    if (!ways->measured || from == to || bandwidth <= 0)
        return;
    struct balance_link *way = at(ways->measured, ways->hosts, from, to);
    if (way->bandwidth <= 0)
        way->bandwidth = bandwidth;
    else
        way->bandwidth += NEW * (bandwidth - way->bandwidth);
}

/* Of the host's ways to others, and of theirs to it. */
static double fastest(const struct ways *ways, uint32_t host)
{
    double most = 0;

    for (uint32_t i = 0; i < ways->hosts; i++) {
        most = fmax(most, at(ways->measured, ways->hosts, host, i)->bandwidth);
        most = fmax(most, at(ways->measured, ways->hosts, i, host)->bandwidth);
    }
    return most;
}

const struct balance_link *ways_expect(struct ways *ways)
{
    uint32_t hosts = ways->hosts;

    if (!ways->measured)
        return NULL;
    for (uint32_t host = 0; host < hosts; host++) /* the way to itself is of no other use */
        at(ways->expected, hosts, host, host)->bandwidth = fastest(ways, host);
    for (uint32_t from = 0; from < hosts; from++)
        for (uint32_t to = 0; to < hosts; to++) {
            double known = at(ways->measured, hosts, from, to)->bandwidth;
            double here = at(ways->expected, hosts, from, from)->bandwidth;
            double there = at(ways->expected, hosts, to, to)->bandwidth;
            if (from == to)
                continue;
            if (known <= 0)
                known = here > 0 && there > 0 ? fmin(here, there) : fmax(here, there);
            at(ways->expected, hosts, from, to)->bandwidth = known;
        }
    return ways->expected;
}
