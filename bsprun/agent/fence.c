/* fence.c - see fence.h.
 *
 * Happy path: bsprun's messages arrive; nothing else happens.
 *
 * What can fail:
 *   nothing comes for two thirds of the time after which a host is lost
 *                             -> its processes are ended, before others can take their place
 *   bsprun's kernel is not heard of either for all of that time
 *                             -> this agent leaves, for it was given up; were it only that bsprun
 *                                is stopped, its kernel would answer
 *   this agent did not run itself for a while
 *                             -> what has come meanwhile is read first
 */
#include "bsprun/agent/fence.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/route.h"
#include "bsprun/agent/silence.h"
#include "lib/net/net.h"

#define PROBE_SECOND 1u

struct agent_fence {
    uv_timer_t timer;
    struct silence silence;
};

static void on_watch(uv_timer_t *timer);

static void look_after(struct agent_fence *fence, uint64_t milliseconds)
{
    uv_timer_start(&fence->timer, on_watch, milliseconds, silence_period_ms(&fence->silence));
}

static void be_cut_off(struct agent *agent)
{
    if (agent_control(agent))
        net_probe(agent_control(agent), PROBE_SECOND);
    if (agent_is_finished(agent))
        return;
    agent_tell_link_lost(agent, agent_host(agent), "nothing has been heard from bsprun", false);
    agent_is_cut_off(agent);
}

static void on_watch(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct agent_fence *fence = agent->fence;
    int64_t unheard_ms = agent_control(agent) ? net_unheard_ms(agent_control(agent)) : -1;

    switch (silence_look(&fence->silence, agent_now_ns(), unheard_ms)) {
    case SILENCE_WAIT:
        break;
    case SILENCE_LOOK_AGAIN:
        look_after(fence, SILENCE_MOMENT_MS);
        break;
    case SILENCE_CUT_OFF:
        be_cut_off(agent);
        break;
    case SILENCE_LEAVE:
        if (agent_control(agent))
            net_close(agent_control(agent)); /* then as if bsprun had ended */
        break;
    }
}

int agent_fence_begin(struct agent *agent)
{
    uint32_t heartbeat_ms = agent_peers_heartbeat_ms(agent);
    struct agent_fence *fence;

    if (heartbeat_ms == 0)
        return 0;
    fence = calloc(1, sizeof *fence);
    if (!fence)
        return -ENOMEM;
    agent->fence = fence;
    silence_begin(&fence->silence, heartbeat_ms, agent_now_ns());
    uv_timer_init(agent_loop(agent), &fence->timer);
    fence->timer.data = agent;
    look_after(fence, silence_period_ms(&fence->silence));
    return 0;
}

void agent_fence_heard(struct agent *agent)
{
    if (agent->fence)
        silence_heard(&agent->fence->silence, agent_now_ns());
}

static void free_fence(uv_handle_t *handle)
{
    free((char *)handle - offsetof(struct agent_fence, timer));
}

void agent_fence_close(struct agent *agent)
{
    if (agent->fence)
        uv_close((uv_handle_t *)&agent->fence->timer, free_fence);
    agent->fence = NULL;
}
