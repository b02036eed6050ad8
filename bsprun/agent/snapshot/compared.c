/* compared.c - an image counts when the replicas of its process, as far as any are left, agree on
 * all that was communicated before the snapshot.
 *
 * What can fail: a replica is too slow to tell in time.  A host that is lost is known to be after
 * one and a half heartbeats, so that after two the others are slow; and while the processes wait
 * for the snapshot, slow ones are not waited for at all but for a moment.  The image counts then.
 */
#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/snapshot/inside.h"

#define HEARTBEATS  2u
#define UNWATCHED_S 20u   /* without a heartbeat */
#define LAST_MS     1000u /* while the processes wait */

static void on_timeout(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    snapshots_of(agent)->ticket.comparison = COMPARISON_OVERDUE;
    agent_calls(agent)->rung(agent);
}

static uint64_t patience_ms(const struct agent *agent)
{
    uint32_t heartbeat_ms = agent_peers_heartbeat_ms(agent);

    if (agent_board(agent)->snap_order.stays)
        return LAST_MS;
    return heartbeat_ms > 0 ? HEARTBEATS * (uint64_t)heartbeat_ms : UNWATCHED_S * UINT64_C(1000);
}

void agent_compared_begin(struct agent *agent)
{
    uv_timer_stop(agent_timer(agent, AGENT_TIMER_COMPARED));
    snapshots_of(agent)->ticket.comparison = COMPARISON_NOT_BEGUN;
}

bool agent_compared(struct agent *agent)
{
    struct ticket *ticket = &snapshots_of(agent)->ticket;

    if (ticket->first || !agent_has_replicas(agent) || ticket->comparison == COMPARISON_OVERDUE)
        return true;
    /* After the last snapshot of a term the others do not pass its barrier. */
    if (agent_peers_sure(agent, ticket->name.superstep - 1, agent_board(agent)->snap_order.stays))
        return true;
    if (ticket->comparison == COMPARISON_NOT_BEGUN) {
        ticket->comparison = COMPARISON_WAITED_FOR;
        uv_timer_start(agent_timer(agent, AGENT_TIMER_COMPARED), on_timeout, patience_ms(agent), 0);
    }
    return false;
}
