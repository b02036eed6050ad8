/* spill.h - memory that is a part of a file without a name in $TMPDIR, for objects that are too
 * many for the memory.
 *
 * What can fail: there is no such file, or it has no room: no memory is given out.
 */
#ifndef BSPRUN_AGENT_SPILL_H
#define BSPRUN_AGENT_SPILL_H

#include <stdint.h>

struct spill {
    int file; /* -1: none yet */
    uint64_t end;
};

#define SPILL_NONE                                                                                 \
    (struct spill)                                                                                 \
    {                                                                                              \
        .file = -1                                                                                 \
    }

/* NULL: no room. */
void *spill_map(struct spill *spill, uint64_t size);
/* Gives memory of spill_map back, and its room in the file. */
void spill_unmap(struct spill *spill, void *at, uint64_t size);
void spill_close(struct spill *spill);

#endif
