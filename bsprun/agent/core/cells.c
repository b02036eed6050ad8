/* cells.c - see cells.h. */
#include "bsprun/agent/core/cells.h"

#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/identity.h"

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
    if (leads->count % 2 != 0 || !agent_has_peers(agent))
        return -EPROTO;
    for (uint32_t i = 0; i < leads->count; i++)
        if (leads->items[i] >= WIRE_HOSTS_MAX)
            return -EPROTO;
    agent->cells = malloc(sizeof *agent->cells + count * sizeof *agent->cells->pairs);
    if (!agent->cells)
        return -ENOMEM;
    agent->cells->count = count;
    for (uint32_t i = 0; i < count; i++) {
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

uint32_t agent_cells_lead(const struct agent *agent, uint32_t host)
{
    for (uint32_t i = 0; agent->cells && i < agent->cells->count; i++)
        if (agent->cells->pairs[i].host == host)
            return agent->cells->pairs[i].lead;
    return host;
}

uint32_t agent_cells_home(const struct agent *agent, uint32_t lead)
{
    return agent_cells_lead(agent, agent_host(agent)) == lead ? agent_host(agent) : lead;
}
