/* learn.h - what Processor Zero learns of failures and costs, and what bsprun has observed of them.
 *
 * Processor Zero makes the estimates (estimate.h): it measures the time that hosts and processes
 * live in its term, the costs of snapshots, and the duration of the restore that began the term.  A
 * failure ends the term, and possibly Processor Zero: bsprun observes it, and passes it to the next
 * Processor Zero with the election (struct coord_seen), together with the newest estimates it has
 * received.  So no observation is lost with a host.  Times in seconds.
 */
#ifndef COORD_LEARN_H
#define COORD_LEARN_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/estimate.h"

#define COORD_SEEN_MOST 1000000u /* failures of a kind at once; a greater number is invalid */

/* Observations that an estimate does not include yet. */
struct coord_seen {
    double host_seconds, process_seconds; /* time watched, summed over hosts and processes */
    uint32_t failures[ESTIMATE_KINDS];
};

/* The failure from which a term recovers. */
struct coord_recovery {
    bool any; /* false: none; the term begins the job, or restarts one that was stopped */
    enum estimate_kind kind;
    double down; /* from the failure to the beginning of the term, as far as known */
};

/* Adds the time first, since it ends with the failures. */
void coord_add_seen(struct estimate *estimate, const struct coord_seen *seen);

#endif
