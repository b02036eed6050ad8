/* loop.h - the event loop of a node agent, from its set-up to its end. */
#ifndef BSPRUN_AGENT_LOOP_H
#define BSPRUN_AGENT_LOOP_H

#include "bsprun/agent/core/agent.h"

/* Prepares loop, timers, signals and bell; not yet a board. */
int agent_init(struct agent *agent, bool bare);
/* Runs the loop until the agent has nothing left to do, then cleans up; the exit status. */
int agent_run(struct agent *agent);
/* Starts the bell on the board that was just mapped. */
int agent_start_bell(struct agent *agent);
bool agent_bell_runs(const struct agent *agent);
/* Closes every handle so that the loop ends. */
void agent_close(struct agent *agent);

#endif
