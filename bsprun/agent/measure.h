/* measure.h - what the processes of this host have computed, for Processor Zero, which may move
 * them. */
#ifndef BSPRUN_AGENT_MEASURE_H
#define BSPRUN_AGENT_MEASURE_H

#include "lib/wire/wire.h"

struct agent;

/* All have arrived at the barrier that ends the superstep.  Fills in measures, available memory,
 * traffic and ways; the lists are for agent_measure_free after the message is sent.  Without
 * effect where the kernel does not count waiting (schedstat of proc(5)). Cost: about 10 us for each
 * process, and once after each snapshot the heads of their images. */
void agent_measure(struct agent *agent, uint64_t superstep, struct wire_arrive *arrive);
void agent_measure_free(struct wire_arrive *arrive);

#endif
