/* spill.h - memory that is a file without a name in $TMPDIR, for objects that are too many for the
 * memory.
 *
 * What can fail: there is no such file, or no room for it: no memory is given out.
 */
#ifndef BSPRUN_AGENT_SPILL_H
#define BSPRUN_AGENT_SPILL_H

#include <stdint.h>

/* NULL: no room. */
void *spill_map(uint64_t size);
/* Gives memory of spill_map back, and its room. */
void spill_unmap(void *at, uint64_t size);

#endif
