/* map.h - which process is on which host, in words; and before anything runs, by the arithmetic of
 * Processor Zero.  Pure. */
#ifndef BSPRUN_MAP_H
#define BSPRUN_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/options/options.h"
#include "coordinator/core/coord.h"

/* The processes of the host, "processes 0-3, 6", or "" if it has none; homes: the host of each
 * process.  To be freed; NULL: no memory. */
char *map_pids(const uint64_t *homes, uint32_t count, uint64_t host);

/* --dry-run: the map that a new job with these options, whose hosts have been found, begins with if
 * its program calls bsp_begin(0): a line for the job, and one for each host.  cores: the number of
 * usable ones of this host; most: processes of a job.  To be freed; NULL with a message of at most
 * `size` bytes: it is not known, as a host on which slots are wanted has not said how many it has.
 */
char *map_expected(const struct options *options, uint32_t cores, uint32_t most, char *error,
                   size_t size);

/* What a new job begins with. */
struct map_begin {
    const struct wire_host *hosts; /* whose slots are known */
    uint32_t count;
    uint32_t program; /* the host where the program calls bsp_begin ... */
    uint32_t wanted;  /* ... with this number */
};

/* The slots that its processes have: of hosts with replicas of the same processes, those of the
 * host that has the fewest. */
uint64_t map_slots(const struct options *options, const struct map_begin *begin);

#endif
