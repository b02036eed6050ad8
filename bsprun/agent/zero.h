/* zero.h - Processor Zero in this agent; see zero.c. */
#ifndef BSPRUN_AGENT_ZERO_H
#define BSPRUN_AGENT_ZERO_H

#include "coordinator/core/coord.h"

struct agent;

/* Takes part in `term` of a job that begins, as Processor Zero or not.  0 or -errno. */
int agent_elect(struct agent *agent, uint32_t term);
/* The same without the first messages to Processor Zero; HOST_READY is one. */
int agent_enter_elected(struct agent *agent, uint32_t term);
void agent_say_ready(struct agent *agent);
/* Processor Zero of the term before is no more. */
void agent_free_zero(struct agent *agent);
/* What Processor Zero has learned, if it is here; until the next call. */
struct coord_learned agent_learned(struct agent *agent);

#endif
