/* groups.c - replicas: processes with as many of them are a group, which has cells of its own.
 *
 * Hosts are divided among the groups, and each is placed on its cells as if there were no others.
 * Most jobs with replicas have one group.
 */
#include <stdlib.h>

#include "coordinator/core/state.h"

bool coord_has_replicas(const struct coord *state)
{
    return state->config.replicas > 1;
}

/* ---- Forming them ------------------------------------------------------------------------- */

static uint32_t wanted_of(const struct coord *state, uint32_t pid, const uint32_t *together)
{
    uint32_t lowest = together ? together[pid] : pid;

    return state->config.counts.count > 0 ? replica_counts_of(&state->config.counts, lowest)
                                          : state->config.replicas;
}

uint32_t coord_replicas_of(const struct coord *state, uint32_t pid, const uint32_t *together)
{
    return state->groups.fewer[wanted_of(state, pid, together)];
}

static uint32_t count_needed(const struct coord_groups *groups)
{
    uint32_t needed = 0;

    for (uint32_t replicas = 1; replicas <= WIRE_REPLICAS_MAX; replicas++)
        needed += groups->processes[replicas] > 0 ? replicas : 0;
    return needed;
}

/* Those with the most have one replica less.  False: all have one. */
static bool lower(struct coord_groups *groups)
{
    uint32_t most = WIRE_REPLICAS_MAX;

    while (most > 1 && groups->processes[most] == 0)
        most--;
    if (most == 1)
        return false;
    groups->processes[most - 1] += groups->processes[most];
    groups->processes[most] = 0;
    for (uint32_t replicas = 1; replicas <= WIRE_REPLICAS_MAX; replicas++)
        if (groups->fewer[replicas] == most)
            groups->fewer[replicas] = (uint8_t)(most - 1);
    return true;
}

/* The group with the most processes for each cell, to which another cell can be given; 0: none. */
static uint32_t most_crowded(const struct coord_groups *groups, uint32_t hosts)
{
    uint32_t best = 0;

    for (uint32_t replicas = 1; replicas <= WIRE_REPLICAS_MAX && replicas <= hosts; replicas++) {
        uint64_t processes = groups->processes[replicas], cells = groups->cells[replicas];

        if (processes <= cells)
            continue;
        if (best == 0 || processes * groups->cells[best] > groups->processes[best] * cells)
            best = replicas;
    }
    return best;
}

bool coord_form_groups(struct coord *state, uint32_t processes, uint32_t hosts,
                       const uint32_t *together)
{
    struct coord_groups *groups = &state->groups;
    uint32_t next;

    for (uint32_t replicas = 0; replicas <= WIRE_REPLICAS_MAX; replicas++) {
        groups->processes[replicas] = groups->cells[replicas] = 0;
        groups->fewer[replicas] = (uint8_t)replicas;
    }
    /* One group has all hosts, however many processes there are. */
    if (state->config.counts.count < 2)
        groups->processes[state->config.replicas] = state->config.processes_max;
    for (uint32_t pid = 0; state->config.counts.count > 1 && pid < processes; pid++)
        groups->processes[wanted_of(state, pid, together)]++;
    while (count_needed(groups) > hosts)
        if (!state->config.restore || !lower(groups))
            return false;
    hosts -= count_needed(groups);
    for (uint32_t replicas = 1; replicas <= WIRE_REPLICAS_MAX; replicas++)
        groups->cells[replicas] = groups->processes[replicas] > 0;
    while ((next = most_crowded(groups, hosts)) > 0) {
        groups->cells[next]++;
        hosts -= next;
    }
    return true;
}

/* ---- Placing them ------------------------------------------------------------------------- */

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

/* ---- Memory ------------------------------------------------------------------------------- */

bool coord_groups_allocate(struct coord_groups *groups, uint32_t processes)
{
    groups->pids = calloc(processes, sizeof(*groups->pids));
    groups->together = calloc(processes, sizeof(*groups->together));
    groups->place = calloc(processes, sizeof(*groups->place));
    groups->home = calloc(processes, sizeof(*groups->home));
    return groups->pids && groups->together && groups->place && groups->home;
}

void coord_groups_free(struct coord_groups *groups)
{
    free(groups->pids);
    free(groups->together);
    free(groups->place);
    free(groups->home);
}
