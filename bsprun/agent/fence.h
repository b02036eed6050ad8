/* fence.h - an agent that does not hear from bsprun ends its processes before others can take their
 * place, and then leaves; the rule is silence.h.  Only in a job of several hosts. */
#ifndef BSPRUN_AGENT_FENCE_H
#define BSPRUN_AGENT_FENCE_H

#include <stdbool.h>
#include <uv.h>

#include "bsprun/agent/silence.h"

struct agent;

struct agent_fence {
    uv_timer_t timer;
    bool watching; /* the timer's handle is open */
    struct silence silence;
};

/* From now on bsprun gives signs of life. */
void agent_fence_begin(struct agent *agent);
/* One has come. */
void agent_fence_heard(struct agent *agent);
void agent_fence_close(struct agent *agent);

#endif
