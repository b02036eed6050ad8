/* finish.h - the end of an agent's job. */
#ifndef BSPRUN_AGENT_FINISH_H
#define BSPRUN_AGENT_FINISH_H

struct agent;

/* The job is over: passes on the rest of its output, reports to bsprun (or the user), then leaves.
 * Takes effect once; until then it is called again when bsprun can take more. */
void agent_finish(struct agent *agent);
/* bsprun does not wait for this agent any more: leaves, or ends its remaining processes. */
void agent_let_go(struct agent *agent);

#endif
