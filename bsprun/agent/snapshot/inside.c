/* inside.c - the state of snapshots; see inside.h. */
#include "bsprun/agent/snapshot/inside.h"

#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"

struct agent_snapshots *snapshots_of(const struct agent *agent)
{
    return agent->snapshots;
}

struct agent_snapshots *snapshots_make(struct agent *agent)
{
    agent->snapshots = calloc(1, sizeof *agent->snapshots);
    return agent->snapshots;
}

void snapshots_end(struct agent *agent)
{
    free(agent->snapshots);
    agent->snapshots = NULL;
}
