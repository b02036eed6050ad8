/* quiet.h - tells Processor Zero when all processes of this host wait for objects of the dataspace,
 * or for others at a barrier; coordinator/core/quiet.c decides whether that can ever end.
 */
#ifndef BSPRUN_AGENT_QUIET_H
#define BSPRUN_AGENT_QUIET_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct dataspace; /* bsprun/dataspace/service.h */

/* The dataspace of the term exists: looks at the processes from time to time.  NULL: it does not
 * exist any more.  False: no memory. */
bool agent_quiet_watch(struct agent *agent, const struct dataspace *space);
/* ASK_QUIET. */
void agent_quiet_answer(struct agent *agent, uint64_t round);

#endif
