/* agents_start.c - starting agents on this and other hosts; see agents.h. */
#include "bsprun/launcher/agents_inside.h"
#include "bsprun/process.h"

#define DESCRIPTORS_EACH  8u /* streams, process, connection, and what is there for a moment */
#define DESCRIPTORS_SPARE 128u

bool agents_start_all(struct agents *agents)
{
    uint32_t remotes[HOSTS_MAX], count = 0;

    process_allow_descriptors((uint64_t)agents->count * DESCRIPTORS_EACH + DESCRIPTORS_SPARE +
                              agents_unproved_most(agents));
    for (uint32_t i = 0; i < agents->starters; i++)
        if (!agents->items[i].local)
            remotes[count++] = i;
        else if (!agents_start(&agents->items[i]))
            return false;
    return agents_start_remotes(agents, remotes, count);
}

bool agents_start(struct launcher_agent *agent)
{
    if (!agent->local)
        return agents_start_remotes(agent->all, &agent->host, 1);
    agent->incarnation++;
    return agents_start_own(agent) && (!agents_has_hosts(agent->all) || agents_send_join(agent));
}
