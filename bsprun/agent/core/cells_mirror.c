/* cells_mirror.c - tells the links which hosts have which processes; see cells_mirror.h. */
#include "bsprun/agent/core/cells_mirror.h"

#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/link/link.h"

/* The own number stands for the own lead in agent_homes. */
static uint32_t count_of_lead(const struct agent *agent, uint32_t lead, uint32_t *pids)
{
    uint32_t home = agent_cells_home(agent, lead), count = 0;

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_home(agent, pid) == home)
            pids[count++] = (uint32_t)pid;
    return count;
}

struct homes {
    struct links_home *items;
    uint32_t *pids; /* of all of them */
    uint32_t count, used;
};

static void add_home(const struct agent *agent, struct homes *homes, uint32_t host, uint32_t lead)
{
    uint32_t *pids = homes->pids + homes->used;
    uint32_t count = count_of_lead(agent, lead, pids);

    if (count == 0)
        return;
    homes->items[homes->count++] = (struct links_home){host, count, pids};
    homes->used += count;
}

/* In the order of the hosts of the term, which is the same everywhere. */
static void list_homes(const struct agent *agent, struct homes *homes)
{
    uint32_t count;
    const struct wire_host *hosts = agent_peers_hosts(agent, &count);

    for (uint32_t i = 0; i < count; i++)
        add_home(agent, homes, hosts[i].host, agent_cells_lead(agent, hosts[i].host));
}

int agent_cells_mirror(struct agent *agent)
{
    uint32_t count;
    struct homes homes = {0};
    int error = -ENOMEM;

    if (!agent_has_replicas(agent))
        return agent_peers_mirror(agent, NULL);
    agent_peers_hosts(agent, &count);
    homes.items = calloc(count, sizeof *homes.items);
    homes.pids = calloc((size_t)count * (size_t)agent_nprocs(agent), sizeof *homes.pids);
    if (homes.items && homes.pids) {
        list_homes(agent, &homes);
        error = agent_peers_mirror(
            agent, &(struct links_replicas){
                       .homes = homes.items,
                       .home_count = homes.count,
                       .log_bytes = agent_order(agent)->replica_log,
                       .agree = agent_order(agent)->replicas > 2 ? 2 : 1,
                       .majority = agent_order(agent)->on_mismatch == WIRE_MISMATCH_CONTINUE,
                       .spill_bytes = AGENT_REPLICA_SPILL,
                   });
    }
    free(homes.items);
    free(homes.pids);
    return error;
}
