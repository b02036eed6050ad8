/* alone_copies.c - whether the job may outlive the loss of a host; see alone.h. */
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/inside.h"

bool agent_wants_copies(const struct agent *agent)
{
    const struct agent_snapshots *snapshots = agent->snapshots;

    return snapshots && snapshots->lone_restarts && snapshots->wanted_copies > 1 &&
           agent_has_peers(agent);
}

bool agent_keeps_copies(const struct agent *agent)
{
    if (!agent_wants_copies(agent))
        return false;
    for (int pid = 1; pid < agent->nprocs; pid++)
        if (agent->home[pid] != agent->home[0])
            return true;
    return false;
}
