/* affinity.h - which processors each rank of a host is bound to: decides, and puts it into words.
 *
 * Pure: a processor is a PU of the topology, by the number that the operating system gives it. */
#ifndef BSPRUN_AGENT_AFFINITY_H
#define BSPRUN_AGENT_AFFINITY_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/wire/wire.h"

struct affinity_request {
    hwloc_const_bitmap_t allowed; /* the processors that the job may use */
    hwloc_const_bitmap_t claimed; /* those of them that other jobs have */
    int ranks;                    /* on this host, at least 1 */
    enum wire_bind bind;
    enum wire_map map;
};

/* Decides on which processors each rank runs: sets[i], which the caller has allocated, is that of
 * the i-th rank of this host.  False, with undefined contents of the sets: there are not as many
 * free processors as ranks, or no memory.
 *
 * DEFAULT and NONE: one processor each, the first ones of all cores before the second ones.
 * Otherwise ranks go round robin through the objects of `map` (SLOT: the whole host), and each gets
 * the object of `bind` inside, or around, with the fewest ranks so far: its allowed processors that
 * no other job has.  A core of which another job has a part is not used.  Ranks share an object
 * when there are more ranks than objects, up to as many as it has processors.  Where the topology
 * has no packages or no NUMA nodes the whole host stands for one, and a processor for a core.
 *
 * Cost: ranks times objects. */
bool affinity_choose(hwloc_topology_t topology, const struct affinity_request *request,
                     hwloc_bitmap_t *sets);

/* Writes the set as package, core and hardware thread of a core, by the numbers that hwloc gives
 * them: "package 0[core 0-3[hwt 0-1]]".  What does not fit ends with "...".  size: at least 4. */
void affinity_describe(hwloc_topology_t topology, hwloc_const_bitmap_t set, char *text,
                       size_t size);

#endif
