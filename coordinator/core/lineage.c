/* lineage.c - which snapshots are valid; see lineage.h. */
#include "coordinator/core/lineage.h"

#include <string.h>

void coord_lineage_add(struct coord_lineage *lineage, uint32_t term, struct bspz_snapshot_name from)
{
    while (lineage->count > 0 &&
           lineage->items[lineage->count - 1].from.superstep >= from.superstep)
        lineage->count--;
    if (lineage->count == WIRE_BEGUN_MAX) {
        memmove(lineage->items, lineage->items + 1,
                (WIRE_BEGUN_MAX - 1) * sizeof(lineage->items[0]));
        lineage->count--;
    }
    lineage->items[lineage->count++] = (struct wire_begun){term, from};
}

bool coord_lineage_allows(const struct coord_lineage *lineage, struct bspz_snapshot_name name)
{
    for (uint32_t i = 0; i < lineage->count; i++)
        if (lineage->items[i].term > name.term && name.superstep > lineage->items[i].from.superstep)
            return false;
    return true;
}
