/* output_mark.h - where a snapshot lies in the output of the processes of this host. */
#ifndef BSPRUN_AGENT_OUTPUT_MARK_H
#define BSPRUN_AGENT_OUTPUT_MARK_H

#include <stdint.h>

struct agent;

/* All processes of this host wait at the barrier of the snapshot of that number of supersteps:
 * passes on what they have written, and sends MARK to bsprun after it. */
void agent_mark_output(struct agent *agent, uint64_t supersteps);

#endif
