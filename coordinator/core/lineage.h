/* lineage.h - which snapshots are valid: how each term of a job began.
 *
 * A snapshot is named by the number of completed supersteps and the term in which it was taken.  A
 * term that begins from a snapshot retires all newer snapshots of older terms; they must never be
 * used again, even if they turn up late.
 */
#ifndef COORD_LINEAGE_H
#define COORD_LINEAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/snapshot.h"
#include "lib/wire/wire.h"

struct coord_lineage {
    uint32_t count;
    struct wire_begun items[WIRE_BEGUN_MAX]; /* terms and beginnings both ascend */
};

/* Adds that `term`, newer than all others, began from the snapshot.  Drops entries that the new one
 * implies and, when there is no room, the oldest. */
void coord_lineage_add(struct coord_lineage *lineage, uint32_t term,
                       struct bspz_snapshot_name from);

/* Whether no later term has retired the snapshot. */
bool coord_lineage_allows(const struct coord_lineage *lineage, struct bspz_snapshot_name name);

#endif
