/* cut_off.c - what an agent does that bsprun gives no sign of life; the rule is silence.h.
 *
 * Happy path: bsprun's messages come; nothing else happens.
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
#include "bsprun/agent/peers.h"

#include <errno.h>

#include "bsprun/agent/peers_inside.h"

#define PROBE_SECOND 1u

static void on_watch(uv_timer_t *timer);

static void look_after(struct agent_peers *peers, uint64_t milliseconds)
{
    uv_timer_start(&peers->watch, on_watch, milliseconds, silence_period_ms(&peers->silence));
}

static void be_cut_off(struct agent *agent)
{
    if (agent->control)
        net_probe(agent->control, PROBE_SECOND);
    if (agent->finished)
        return;
    agent_peers_tell_lost(agent, agent->host, "nothing has been heard from bsprun");
    agent_peers_term_over(agent);
}

static void on_watch(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct agent_peers *peers = agent->peers;
    int64_t unheard_ms = agent->control ? net_unheard_ms(agent->control) : -1;

    switch (silence_look(&peers->silence, agent_now_ns(), unheard_ms)) {
    case SILENCE_WAIT:
        break;
    case SILENCE_LOOK_AGAIN:
        look_after(peers, SILENCE_MOMENT_MS);
        break;
    case SILENCE_CUT_OFF:
        be_cut_off(agent);
        break;
    case SILENCE_LEAVE:
        if (agent->control)
            net_close(agent->control); /* the rest is as if bsprun had ended */
        break;
    }
}

void agent_peers_watch(struct agent *agent)
{
    struct agent_peers *peers = agent->peers;

    if (peers->heartbeat_ms == 0)
        return;
    silence_begin(&peers->silence, peers->heartbeat_ms, agent_now_ns());
    uv_timer_init(&agent->loop, &peers->watch);
    peers->watch.data = agent;
    peers->watching = true;
    look_after(peers, silence_period_ms(&peers->silence));
}

void agent_peers_heard(struct agent *agent)
{
    if (agent->peers && agent->peers->watching)
        silence_heard(&agent->peers->silence, agent_now_ns());
}
