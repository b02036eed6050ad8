/* cells.c - see cells.h. */
#include "bsprun/agent/core/cells.h"

#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/link/link.h"

struct agent_cells {
    uint32_t count; /* of pairs */
    struct {
        uint32_t host, lead;
    } pairs[];
};

int agent_cells_take(struct agent *agent, const struct wire_numbers *leads)
{
    uint32_t count = leads ? leads->count / 2 : 0;

    agent_cells_free(agent);
    if (count == 0)
        return leads && leads->count > 0 ? -EPROTO : 0;
    if (leads->count % 2 != 0 || !agent->peers)
        return -EPROTO;
    agent->cells = malloc(sizeof *agent->cells + count * sizeof *agent->cells->pairs);
    if (!agent->cells)
        return -ENOMEM;
    agent->cells->count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (leads->items[2 * i] >= WIRE_HOSTS_MAX || leads->items[2 * i + 1] >= WIRE_HOSTS_MAX)
            return -EPROTO;
        agent->cells->pairs[i].host = (uint32_t)leads->items[2 * i];
        agent->cells->pairs[i].lead = (uint32_t)leads->items[2 * i + 1];
    }
    return 0;
}

void agent_cells_free(struct agent *agent)
{
    free(agent->cells);
    agent->cells = NULL;
}

bool agent_has_replicas(const struct agent *agent)
{
    return agent->cells != NULL;
}

struct wire_numbers agent_cells_list(const struct agent *agent)
{
    uint32_t pairs = agent->cells ? agent->cells->count : 0;
    uint64_t *items = pairs > 0 ? calloc(2 * (size_t)pairs, sizeof *items) : NULL;

    for (uint32_t i = 0; items && i < pairs; i++) {
        items[2 * i] = agent->cells->pairs[i].host;
        items[2 * i + 1] = agent->cells->pairs[i].lead;
    }
    return (struct wire_numbers){items, items ? 2 * pairs : 0};
}

static uint32_t lead_of(const struct agent *agent, uint32_t host)
{
    for (uint32_t i = 0; agent->cells && i < agent->cells->count; i++)
        if (agent->cells->pairs[i].host == host)
            return agent->cells->pairs[i].lead;
    return host;
}

uint32_t agent_cells_home(const struct agent *agent, uint32_t lead)
{
    return lead_of(agent, agent->host) == lead ? agent->host : lead;
}

/* The own number stands for the own lead in agent->home. */
static uint32_t count_of_lead(const struct agent *agent, uint32_t lead, uint32_t *pids)
{
    uint32_t home = agent_cells_home(agent, lead), count = 0;

    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent->home[pid] == home)
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
        add_home(agent, homes, hosts[i].host, lead_of(agent, hosts[i].host));
}

int agent_cells_mirror(struct agent *agent)
{
    uint32_t count;
    struct homes homes = {0};
    int error = -ENOMEM;

    if (!agent->cells)
        return agent_peers_mirror(agent, NULL);
    agent_peers_hosts(agent, &count);
    homes.items = calloc(count, sizeof *homes.items);
    homes.pids = calloc((size_t)count * (size_t)agent->nprocs, sizeof *homes.pids);
    if (homes.items && homes.pids) {
        list_homes(agent, &homes);
        error = agent_peers_mirror(agent, &(struct links_replicas){
                                              .homes = homes.items,
                                              .home_count = homes.count,
                                              .log_bytes = agent->order.replica_log,
                                              .agree = agent->order.replicas > 2 ? 2 : 1,
                                              .spill_bytes = AGENT_REPLICA_SPILL,
                                          });
    }
    free(homes.items);
    free(homes.pids);
    return error;
}
