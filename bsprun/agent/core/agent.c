/* agent.c - see agent.h. */

#include <string.h>

#include "bsprun/agent/core/agent_inside.h"

struct agent *agent_make(const struct agent_calls *calls)
{
    static struct agent agent;

    memset(&agent, 0, sizeof agent);
    agent.calls = calls;
    return &agent;
}

uv_loop_t *agent_loop(struct agent *agent)
{
    return &agent->loop;
}

const struct agent_calls *agent_calls(const struct agent *agent)
{
    return agent->calls;
}

bool agent_has_peers(const struct agent *agent)
{
    return agent->peers != NULL;
}

bool agent_has_snapshots(const struct agent *agent)
{
    return agent->snapshots != NULL;
}

bool agent_has_relay(const struct agent *agent)
{
    return agent->relay != NULL;
}

bool agent_has_dataspace(const struct agent *agent)
{
    return agent->dataspace != NULL;
}

void agent_post(struct agent *agent, enum agent_news news)
{
    agent->news |= news;
}

bool agent_is_leaving(const struct agent *agent)
{
    return agent->news & AGENT_LEAVE;
}

void agent_take_news(struct agent *agent)
{
    while (agent->news != 0) { /* news may post further news */
        unsigned news = agent->news;

        agent->news = 0;
        agent->calls->news(agent, news);
    }
}
