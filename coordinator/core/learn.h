/* learn.h - what Processor Zero learns of failures and costs, and what bsprun has seen of them.
 *
 * Processor Zero makes the estimates (estimate.h): it counts the time that hosts and processes live
 * in its term, what snapshots cost and how long the restore took from which the term began.  A
 * failure ends the term, and with it perhaps Processor Zero: bsprun sees it, and tells the next
 * Processor Zero with the election (struct coord_seen), together with the newest estimates that it
 * has heard of.  So nothing that was observed is lost with a host.  Times in seconds.
 */
#ifndef COORD_LEARN_H
#define COORD_LEARN_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/estimate.h"

#define COORD_SEEN_MOST 1000000u /* failures of a kind at once: more are none */

/* What an estimate does not have in it yet. */
struct coord_seen {
    double host_seconds, process_seconds; /* hosts, processes lived so long, all added up */
    uint32_t failures[ESTIMATE_KINDS];
};

/* The failure from which a term recovers. */
struct coord_recovery {
    bool any; /* else: from none; it begins the job, or goes on with one that was stopped */
    enum estimate_kind kind;
    double down; /* since it happened until the term begins, as far as that is known */
};

/* The time first: failures end it. */
void coord_add_seen(struct estimate *estimate, const struct coord_seen *seen);

#endif
