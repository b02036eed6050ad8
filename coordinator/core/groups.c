/* groups.c - replicas: processes with as many of them are a group, which has cells of its own.
 *
 * Hosts are divided among the groups.  Most jobs with replicas have one.
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

static void count_processes(struct coord *state, uint32_t processes, const uint32_t *together)
{
    struct coord_groups *groups = &state->groups;

    for (uint32_t replicas = 0; replicas <= WIRE_REPLICAS_MAX; replicas++) {
        groups->processes[replicas] = groups->cells[replicas] = 0;
        groups->fewer[replicas] = (uint8_t)replicas;
    }
    /* One group has all hosts, however many processes there are. */
    if (state->config.counts.count < 2)
        groups->processes[state->config.replicas] = state->config.processes_max;
    for (uint32_t pid = 0; state->config.counts.count > 1 && pid < processes; pid++)
        groups->processes[wanted_of(state, pid, together)]++;
}

bool coord_form_groups(struct coord *state, uint32_t processes, uint32_t hosts,
                       const uint32_t *together, uint32_t lowered)
{
    struct coord_groups *groups = &state->groups;
    uint32_t next;

    count_processes(state, processes, together);
    for (uint32_t i = 0; i < lowered; i++)
        if (!lower(groups))
            return false;
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

bool coord_files_cost_replicas(const struct coord *state, uint32_t processes,
                               const uint32_t *together, uint32_t *pid)
{
    for (uint32_t replicas = 1; replicas <= WIRE_REPLICAS_MAX; replicas++)
        if (state->groups.fewer[replicas] != replicas)
            return false; /* hosts are too few as well */
    for (*pid = 0; state->config.counts.count > 1 && *pid < processes; ++*pid)
        if (wanted_of(state, *pid, NULL) > wanted_of(state, *pid, together))
            return true;
    return false;
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
