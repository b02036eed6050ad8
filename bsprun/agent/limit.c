/* limit.c - see limit.h. */
#include "bsprun/agent/limit.h"

#include <stdio.h>

#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/debug.h"

#define LIMIT_AGAIN_MS 10u
#define LIMIT_DEBUG_MS 1000u

static void on_limit(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    char text[160];

    if (agent_debug_runs(agent)) { /* which takes the time it takes */
        uv_timer_start(timer, on_limit, LIMIT_DEBUG_MS, 0);
        return;
    }
    if (agent_job(agent) == JOB_REWINDING) { /* bsprun does not wait for this agent now */
        uv_timer_start(timer, on_limit, LIMIT_AGAIN_MS, 0);
        return;
    }
    snprintf(text, sizeof text,
             "the job took longer than its time limit (--timeout %g) and was ended",
             (double)agent_order(agent)->timeout_ns / 1e9);
    agent_stop(agent, WIRE_STOP_TIMEOUT, 0, text);
}

void agent_limit_begin(struct agent *agent)
{
    if (agent_order(agent)->timeout_ns)
        uv_timer_start(
            agent_timer(agent, AGENT_TIMER_LIMIT), on_limit,
            agent_order(agent)->timeout_ns / 1000000u + 1 + agent_order(agent)->stacks_ms, 0);
}

void agent_limit_reached(struct agent *agent)
{
    on_limit(agent_timer(agent, AGENT_TIMER_LIMIT));
}
