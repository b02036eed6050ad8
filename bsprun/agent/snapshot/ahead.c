/* ahead.c - restores processes ahead of the term in which they will be on this host. */
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/snapshot/snapshots.h"

/* Nothing is restored ahead: RESTORE of the next term does all of it. */
void agent_ahead(struct agent *agent, const struct wire_message *order)
{
    const struct wire_move_list *moves = &order->ahead.moves;
    struct wire_message message = {.kind = WIRE_AHEAD_READY};

    for (uint32_t i = 0; i < moves->count; i++) {
        if (moves->items[i].host != agent->host)
            continue;
        message.ahead_ready.name =
            (struct bspz_snapshot_name){order->envelope.superstep, order->ahead.from};
        agent_tell_zero(agent, &message);
        return;
    }
}
