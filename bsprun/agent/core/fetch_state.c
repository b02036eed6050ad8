/* fetch_state.c - the state of file transfers, made on demand. */
#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/fetch_inside.h"

struct fetches *fetches_of(const struct agent *agent)
{
    return agent->fetches;
}

void fetches_gone(struct agent *agent)
{
    agent->fetches = NULL;
}

struct fetches *agent_fetches(struct agent *agent)
{
    struct fetches *fetches = agent->fetches;

    if (fetches)
        return fetches;
    fetches = calloc(1, sizeof *fetches);
    if (!fetches)
        return NULL;
    fetches->last = &fetches->first;
    fetches->directory = -1;
    fetches->now.fd = -1;
    uv_timer_init(agent_loop(agent), &fetches->pump);
    uv_timer_init(agent_loop(agent), &fetches->begin);
    fetches->pump.data = fetches->begin.data = agent;
    agent->fetches = fetches;
    return fetches;
}

int agent_fetch_directory(struct agent *agent, const char **path, char *why)
{
    struct fetches *fetches = agent_fetches(agent);

    if (!fetches)
        return -ENOMEM;
    if (fetches->directory < 0)
        fetches->directory = binaries_directory(NULL, fetches->directory_path, why);
    *path = fetches->directory_path;
    return fetches->directory;
}
