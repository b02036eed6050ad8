/* mark.c - the output that belongs before a snapshot, in the node agent.
 *
 * Happy path: all processes have recorded -> what they wrote is passed on -> MARK behind it ->
 * bsprun has taken it (several hosts: says so) -> images count as written.
 *
 * What can fail: bsprun takes it slowly, and the snapshot waits for that; a MARK that comes back is
 * of a snapshot that is over.
 */
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/core/to_bsprun.h"

void agent_mark(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_MARK};

    agent_relay_pass_on(agent);
    message.envelope.superstep = agent->snapshots->ticket.name.superstep;
    message.mark.input = agent_input_position(agent);
    agent_send(agent, &message);
    agent->snapshots->ticket.marked = agent->control ? net_accepted(agent->control) : 0;
}

/* What was written before the snapshot will not be written again once it is committed: until then
 * it must not be lost with this process; on several hosts, with this host or the way from it.  So
 * bsprun's reader, when it is slow, slows the job down.
 */
bool agent_output_is_out(const struct agent *agent)
{
    const struct ticket *ticket = &agent->snapshots->ticket;

    return ticket->state != TICKET_CAPTURING &&
           (!agent->control || net_written(agent->control) >= ticket->marked) &&
           (!agent->peers || ticket->echoed);
}

bool agent_snapshots_echoed(struct agent *agent, uint64_t superstep)
{
    struct agent_snapshots *snapshots = agent->snapshots;

    if (!snapshots || snapshots->ticket.name.superstep != superstep ||
        snapshots->ticket.name.term != agent->term)
        return false;
    snapshots->ticket.echoed = true;
    return true;
}
