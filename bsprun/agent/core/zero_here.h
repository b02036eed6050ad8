/* zero_here.h - Processor Zero, when it is in this agent. */
#ifndef BSPRUN_AGENT_ZERO_HERE_H
#define BSPRUN_AGENT_ZERO_HERE_H

#include "coordinator/shell.h"

struct agent;

/* NULL: it is on another host, or nowhere yet. */
struct coord_shell *agent_zero(const struct agent *agent);
/* Takes ownership of `zero`, and frees the one before; NULL: it is not here any more. */
void agent_set_zero(struct agent *agent, struct coord_shell *zero);

#endif
