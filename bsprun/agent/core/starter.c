/* starter.c - see starter.h. */
#include "bsprun/agent/core/starter.h"

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/outside.h"

void agent_starter_open(struct agent *agent, bool bare)
{
    agent->bare = bare;
    agent->view = "";
}

bool agent_is_bare(const struct agent *agent)
{
    return agent->bare;
}

void agent_set_starter(struct agent *agent, pid_t bsprun, const struct outside *outside,
                       const char *view)
{
    agent->bsprun = bsprun;
    agent->outside = *outside;
    agent->view = view;
}

pid_t agent_bsprun(const struct agent *agent)
{
    return agent->bsprun;
}

const struct outside *agent_outside(const struct agent *agent)
{
    return &agent->outside;
}

const char *agent_view(const struct agent *agent)
{
    return agent->view;
}

struct net_connection *agent_control(const struct agent *agent)
{
    return agent->control;
}

void agent_set_control(struct agent *agent, struct net_connection *control)
{
    agent->control = control;
}
