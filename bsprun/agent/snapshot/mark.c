/* mark.c - separates output before and after a snapshot in the node agent.
 *
 * Happy path: all processes have recorded -> their output is passed on -> MARK after it -> bsprun
 * has received it (several hosts: echoed it) -> images count as written.
 *
 * What can fail: bsprun is slow, and the snapshot waits; an echoed MARK is of an earlier snapshot.
 */
#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/output_mark.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/snapshot/inside.h"
#include "lib/net/net.h"

void agent_mark(struct agent *agent)
{
    agent_mark_output(agent, snapshots_of(agent)->ticket.name.superstep);
    snapshots_of(agent)->ticket.marked =
        agent_control(agent) ? net_accepted(agent_control(agent)) : 0;
}

/* Output from before the snapshot is not repeated once that is committed, so it must not be lost
 * with this process or, on several hosts, with this host or its link.  So a slow reader of bsprun's
 * output delays the job. */
bool agent_output_is_out(const struct agent *agent)
{
    const struct ticket *ticket = &snapshots_of(agent)->ticket;

    return !ticket_is_recording(ticket->state) &&
           (!agent_control(agent) || net_written(agent_control(agent)) >= ticket->marked) &&
           (!agent_has_peers(agent) || ticket->echoed);
}

bool agent_snapshots_echoed(struct agent *agent, uint64_t superstep)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);

    if (!snapshots || snapshots->ticket.name.superstep != superstep ||
        snapshots->ticket.name.term != agent_term(agent))
        return false;
    snapshots->ticket.echoed = true;
    return true;
}
