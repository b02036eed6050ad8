/* zero.h - Processor Zero in this agent; see zero.c. */
#ifndef BSPRUN_AGENT_ZERO_H
#define BSPRUN_AGENT_ZERO_H

#include "coordinator/core/coord.h"

struct agent;

/* For the whole job, whether or not Processor Zero will be here: 0 or -ENOMEM. */
int agent_zero_open(struct agent *agent);
void agent_zero_free(struct agent *agent);

/* Begins `term` of a new job, as Processor Zero or not. 0 or -errno. */
int agent_elect(struct agent *agent, uint32_t term);
/* The same without the first messages to Processor Zero, such as HOST_READY. */
int agent_enter_elected(struct agent *agent, uint32_t term);
/* Makes Processor Zero here in the place of another one of this term, with that snapshot as the newest
 * that bsprun knows of. 0 or -errno. */
int agent_succeed(struct agent *agent, struct bspz_snapshot_name committed);
void agent_say_ready(struct agent *agent);
/* Frees Processor Zero of the previous term. */
void agent_free_zero(struct agent *agent);
/* The estimates of Processor Zero, if it is here; valid until the next call. */
struct wire_learned agent_learned(struct agent *agent);
/* Tells bsprun that the processes run, and who has which. */
void agent_tell_running(struct agent *agent);

#endif
