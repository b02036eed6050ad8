/* fence.h - an agent that does not hear from bsprun ends its processes before others can take their
 * place, and then leaves; the rule is silence.h.  Only in a job of several hosts. */
#ifndef BSPRUN_AGENT_FENCE_H
#define BSPRUN_AGENT_FENCE_H

struct agent;

/* From now on bsprun gives signs of life.  0 or -ENOMEM. */
int agent_fence_begin(struct agent *agent);
/* One has come. */
void agent_fence_heard(struct agent *agent);
void agent_fence_close(struct agent *agent);

#endif
