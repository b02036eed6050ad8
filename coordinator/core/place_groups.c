/* place_groups.c - replicas: each group is placed on its cells as if there were no others. */
#include "coordinator/core/state.h"

/* The processes of the group, as if there were no others. */
static uint32_t list_processes(struct coord *state, uint32_t replicas, uint32_t processes,
                               const struct coord_held *from)
{
    struct coord_groups *groups = &state->groups;
    const uint32_t *together = from ? from->together : NULL;
    uint32_t count = 0;

    for (uint32_t pid = 0; pid < processes; pid++) {
        if (coord_replicas_of(state, pid, together) != replicas)
            continue;
        groups->place[pid] = count;
        groups->pids[count] = pid;
        if (from) {
            groups->together[count] = groups->place[from->together[pid]];
            state->numbers[count] = from->needs[pid];
        }
        count++;
    }
    return count;
}

static bool is_of_group(const struct coord *state, const struct coord_host *host, uint32_t replicas)
{
    return coord_is_lead(state, host) && host->replicas == replicas;
}

static struct placement *describe(struct coord *state, uint32_t replicas, uint32_t count)
{
    struct placement *placement = &state->placement;

    placement->host_count = 0;
    for (uint32_t i = 0; i < state->host_count; i++)
        if (is_of_group(state, &state->hosts[i], replicas))
            coord_describe_cell(state, &state->hosts[i],
                                &placement->hosts[placement->host_count++]);
    placement->processes = count;
    placement->pids = state->groups.pids;
    placement->all_drained = state->all_drained;
    placement->by_node = state->config.by_node;
    placement->anew = state->config.anew;
    placement->moves_to = state->moves_to; /* none: they are placed by their cells */
    placement->home = state->groups.home;
    return placement;
}

/* The place of the registered host among the leads of the group. */
static uint32_t first_cell(const struct coord *state, uint32_t replicas)
{
    const struct coord_host *first = &state->hosts[state->registered_host];
    uint32_t cell = 0;

    for (const struct coord_host *host = state->hosts; host < first; host++)
        cell += is_of_group(state, host, replicas);
    return is_of_group(state, first, replicas) ? cell : 0;
}

static void note_group(struct coord *state, uint32_t replicas)
{
    const struct placement *placement = &state->placement;
    const struct coord_groups *groups = &state->groups;
    uint32_t cell = 0;

    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_host *host = &state->hosts[i];

        if (!is_of_group(state, host, replicas))
            continue;
        host->count = placement->hosts[cell].count;
        host->first = host->count > 0 ? groups->pids[placement->hosts[cell].first] : 0;
        for (uint32_t k = 0; k < placement->processes; k++)
            if (groups->home[k] == cell)
                state->home[groups->pids[k]] = (uint16_t)i;
        cell++;
    }
}

static bool place_group(struct coord *state, uint32_t replicas, uint32_t processes,
                        const struct coord_held *from)
{
    uint32_t count = list_processes(state, replicas, processes, from);

    if (count == 0)
        return true;
    struct placement *placement = describe(state, replicas, count);

    if (!from) {
        placement_begin(placement, first_cell(state, replicas));
    } else {
        placement->copy_on = from->copy_on; /* none: all are made from images */
        placement->together = state->groups.together;
        placement->needs = state->numbers;
        if (!placement_again(placement))
            return false;
    }
    note_group(state, replicas);
    return true;
}

bool coord_place_groups(struct coord *state, uint32_t processes, const struct coord_held *from)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        state->hosts[i].count = state->hosts[i].first = 0;
    for (uint32_t replicas = 1; replicas <= WIRE_REPLICAS_MAX; replicas++)
        if (!place_group(state, replicas, processes, from))
            return false;
    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_host *host = &state->hosts[i];

        if (!coord_has_cell(state, host))
            continue;
        host->count = state->hosts[host->lead].count;
        host->first = state->hosts[host->lead].first;
    }
    state->processes = processes;
    return true;
}
