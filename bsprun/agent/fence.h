/* fence.h - an agent that does not hear from bsprun ends its processes before others can replace
 * them, and then exits; the rule is in silence.h.  Only in a job of several hosts. */
#ifndef BSPRUN_AGENT_FENCE_H
#define BSPRUN_AGENT_FENCE_H

struct agent;

/* Begins: bsprun sends heartbeats from now on. 0 or -ENOMEM. */
int agent_fence_begin(struct agent *agent);
/* A message of bsprun has arrived. */
void agent_fence_heard(struct agent *agent);
void agent_fence_close(struct agent *agent);

#endif
