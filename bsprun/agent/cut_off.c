/* cut_off.c - what an agent does that bsprun gives no sign of life.
 *
 * Happy path: bsprun's messages come; nothing else happens.
 *
 * What can fail:
 *   nothing comes for two thirds of the time after which a host is lost -> its processes are ended,
 *     before others can take their place
 *   bsprun's kernel is not heard of either for all of that time         -> this agent leaves, for
 * it was given up; were it only that bsprun is stopped, its kernel would answer this agent did not
 * run itself for a while                           -> what has come meanwhile is read first
 */
#include "bsprun/agent/peers.h"

#include <errno.h>

#include "bsprun/agent/peers_inside.h"

#define LOOKS        12u /* in the time after which a host is lost */
#define LOOK_AGAIN   1u  /* ms: the loop has read what there was */
#define LEAVE_LEAST  3000u
#define PROBE_SECOND 1u

static void on_watch(uv_timer_t *timer);

static uint64_t milliseconds_since(uint64_t since_ns)
{
    return (agent_now_ns() - since_ns) / 1000000u;
}

static void look_again_after(struct agent_peers *peers, uint64_t milliseconds)
{
    uv_timer_start(&peers->watch, on_watch, milliseconds, peers->heartbeat_ms / LOOKS + 1);
}

static void be_cut_off(struct agent *agent)
{
    struct agent_peers *peers = agent->peers;

    peers->cut_off = true;
    peers->cut_off_ns = agent_now_ns();
    if (agent->control)
        net_probe(agent->control, PROBE_SECOND);
    if (agent->finished)
        return;
    agent_peers_tell_lost(agent, agent->host, "nothing has been heard from bsprun");
    agent_peers_term_over(agent);
}

static void leave_unless_heard(struct agent *agent)
{
    uint64_t most = agent->peers->heartbeat_ms;

    if (most < LEAVE_LEAST)
        most = LEAVE_LEAST;
    if (agent->control && milliseconds_since(agent->peers->cut_off_ns) >= most &&
        net_unheard_ms(agent->control) >= (int64_t)most)
        net_close(agent->control); /* the rest is as if bsprun had ended */
}

static void on_watch(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct agent_peers *peers = agent->peers;

    if (milliseconds_since(peers->heard_ns) < (uint64_t)peers->heartbeat_ms / 3 * 2) {
        peers->looked = false;
    } else if (!peers->looked) {
        peers->looked = true;
        look_again_after(peers, LOOK_AGAIN);
    } else if (!peers->cut_off) {
        be_cut_off(agent);
    } else {
        leave_unless_heard(agent);
    }
}

void agent_peers_watch(struct agent *agent)
{
    struct agent_peers *peers = agent->peers;

    if (peers->heartbeat_ms == 0)
        return;
    peers->heard_ns = agent_now_ns();
    uv_timer_init(&agent->loop, &peers->watch);
    peers->watch.data = agent;
    peers->watching = true;
    look_again_after(peers, peers->heartbeat_ms / LOOKS + 1);
}

void agent_peers_heard(struct agent *agent)
{
    if (!agent->peers || !agent->peers->watching)
        return;
    agent->peers->heard_ns = agent_now_ns();
    agent->peers->cut_off = false;
}
