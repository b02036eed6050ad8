/* measure.h - what the processes of this host have computed, for Processor Zero, which may move
 * them. */
#ifndef BSPRUN_AGENT_MEASURE_H
#define BSPRUN_AGENT_MEASURE_H

#include "lib/wire/wire.h"

struct agent;

/* Fills in measures and available memory; the list is of malloc, for the caller to free after the
 * message is sent.  Without effect where the kernel does not count waiting (schedstat of proc(5)).
 * Cost: about 10 us for each process, and once after each snapshot the heads of their images. */
void agent_measure(struct agent *agent, struct wire_arrive *arrive);

#endif
