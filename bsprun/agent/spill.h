/* spill.h - memory that is in files without a name in $TMPDIR, for objects that are too many for
 * the memory.  Objects below 4 MiB share files, and mappings, of which a process may not have many
 * (bsprun/dataspace/extents.h); each of the others has one of its own.
 *
 * What can fail: there is no such file, or no room for it: no memory is given out.
 */
#ifndef BSPRUN_AGENT_SPILL_H
#define BSPRUN_AGENT_SPILL_H

#include <stdint.h>

struct spill;

/* NULL: no memory. */
struct spill *spill_open(void);
/* All memory has been given back.  Harmless for NULL. */
void spill_close(struct spill *spill);

/* NULL: no room. */
void *spill_map(struct spill *spill, uint64_t size);
/* Gives memory of spill_map back, and its room. */
void spill_unmap(struct spill *spill, void *at, uint64_t size);

#endif
