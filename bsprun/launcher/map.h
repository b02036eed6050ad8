/* map.h - which process is on which host, in words; and before anything runs, by the arithmetic of
 * Processor Zero.  Pure. */
#ifndef BSPRUN_MAP_H
#define BSPRUN_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/options/options.h"

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

#endif
