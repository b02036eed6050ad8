/* fetch_state.c - what there is of files on their way: made when it is needed. */
#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/fetch_inside.h"

struct fetches *agent_fetches(struct agent *agent)
{
    struct fetches *fetches = agent->fetches;

    if (fetches)
        return fetches;
    fetches = calloc(1, sizeof *fetches);
    if (!fetches)
        return NULL;
    fetches->last = &fetches->first;
    fetches->folder = -1;
    fetches->now.fd = -1;
    uv_timer_init(&agent->loop, &fetches->pump);
    uv_timer_init(&agent->loop, &fetches->nobody);
    fetches->pump.data = fetches->nobody.data = agent;
    agent->fetches = fetches;
    return fetches;
}

int agent_fetch_folder(struct agent *agent, const char **path, char *why)
{
    struct fetches *fetches = agent_fetches(agent);

    if (!fetches)
        return -ENOMEM;
    if (fetches->folder < 0)
        fetches->folder = binaries_folder(NULL, fetches->folder_path, why);
    *path = fetches->folder_path;
    return fetches->folder;
}
