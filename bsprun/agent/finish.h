/* finish.h - the last things that an agent does for its job. */
#ifndef BSPRUN_AGENT_FINISH_H
#define BSPRUN_AGENT_FINISH_H

struct agent;

/* The job is over: passes on the rest of its output, tells bsprun (or the user), then leaves.  Once;
 * before that, comes back when bsprun can take more. */
void agent_finish(struct agent *agent);
/* What bsprun still waits for is nothing of this agent's: leaves, or ends what still runs. */
void agent_let_go(struct agent *agent);

#endif
