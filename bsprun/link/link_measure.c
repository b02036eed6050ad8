/* link_measure.c - what goes over the links, and how fast they are, without messages for it; see
 * link.h. */
#include <stdlib.h>

#include "bsprun/link/link_inside.h"

/* Since the last time, over all large blocks. */
static uint64_t bandwidth(struct link *link)
{
    uint64_t bytes = atomic_load(&link->timed_bytes), ns = atomic_load(&link->timed_ns);
    double rate = 0;

    if (ns > link->told_ns)
        rate = (double)(bytes - link->told_bytes) / (double)(ns - link->told_ns) * 1e9;
    link->told_bytes = bytes;
    link->told_ns = ns;
    return (uint64_t)rate;
}

static struct wire_speed_list measure_ways(struct links *links)
{
    struct wire_speed *ways = calloc((size_t)links->count + 1, sizeof *ways);
    uint32_t count = 0;

    for (uint32_t i = 0; ways && i < links->count; i++)
        ways[count++] = (struct wire_speed){links->all[i].host, bandwidth(&links->all[i])};
    return (struct wire_speed_list){ways, count};
}

void links_measure(struct links *links, uint64_t superstep, struct wire_arrive *arrive)
{
    struct wire_traffic *pairs = NULL;

    arrive->ways = measure_ways(links);
    if (links->mirror)
        pairs = calloc((size_t)mirror_traffic_most(links->mirror) + 1, sizeof *pairs);
    if (pairs)
        arrive->traffic =
            (struct wire_traffic_list){pairs, mirror_traffic(links->mirror, superstep, pairs)};
}
