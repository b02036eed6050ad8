/* saved.c - see saved.h. */
#include "bsprun/agent/core/saved.h"

#include "bsprun/agent/core/agent_inside.h"

struct store *agent_store(const struct agent *agent)
{
    return agent->store;
}

void agent_set_store(struct agent *agent, struct store *store)
{
    agent->store = store;
}

struct bspz_snapshot_name agent_committed(const struct agent *agent)
{
    return agent->committed;
}

void agent_set_committed(struct agent *agent, struct bspz_snapshot_name name)
{
    agent->committed = name;
}

struct bspz_snapshot_name agent_coming(const struct agent *agent)
{
    return agent->coming;
}

void agent_set_coming(struct agent *agent, struct bspz_snapshot_name name)
{
    agent->coming = name;
}
