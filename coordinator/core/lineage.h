/* lineage.h - which snapshots still count: how each term of a job began.
 *
 * A snapshot is named by how many supersteps were completed when it was taken, and by the term in
 * which it was.  A term that begins from a snapshot takes back everything newer that older terms
 * had reached; their newer snapshots must never be used again, even where they turn up late.
 */
#ifndef COORD_LINEAGE_H
#define COORD_LINEAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/wire.h"

struct coord_name {
    uint64_t superstep; /* completed */
    uint32_t term;      /* in which it was taken; 0: no snapshot */
};

struct coord_lineage {
    uint32_t count;
    struct wire_begun items[WIRE_BEGUN_MAX]; /* terms and beginnings both ascend */
};

/* Term `term`, newer than all before, began from that snapshot.  What says less than the new entry
 * is dropped; when there is no room, the oldest. */
void coord_lineage_add(struct coord_lineage *lineage, uint32_t term, struct coord_name from);

/* Whether the snapshot was not taken back by a later term. */
bool coord_lineage_allows(const struct coord_lineage *lineage, struct coord_name name);

/* Newer: later in the program, then in the later term. */
bool coord_name_newer(struct coord_name a, struct coord_name b);
bool coord_name_same(struct coord_name a, struct coord_name b);

#endif
