/* place.c - the number of processes, the host of each (placement.h), the barriers that are decided:
 * the arithmetic of Processor Zero. */
#include "coordinator/core/state.h"

#include <stdio.h>

uint64_t coord_decide_processes(uint32_t wanted, uint32_t limit, uint64_t slots)
{
    if (wanted == 0)
        return limit > 0 ? limit : slots;
    return limit > 0 && wanted > limit ? limit : wanted;
}

/* The hosts, and what is said of processes, for placement.h; the answer goes into the state. */
static struct placement *describe(struct coord *state, uint32_t processes)
{
    struct placement *placement = &state->placement;

    placement->host_count = state->host_count;
    for (uint32_t i = 0; i < state->host_count; i++)
        coord_describe_cell(state, &state->hosts[i], &placement->hosts[i]);
    placement->processes = processes;
    placement->all_drained = state->all_drained;
    placement->by_node = state->config.by_node;
    placement->anew = state->config.anew;
    placement->moves_to = state->moves_to;
    placement->home = state->home;
    return placement;
}

static void note_counts(struct coord *state)
{
    const struct placement *placement = &state->placement;

    for (uint32_t i = 0; i < state->host_count; i++) {
        state->hosts[i].count = placement->hosts[i].count;
        state->hosts[i].first = placement->hosts[i].first;
    }
    state->processes = placement->processes;
}

void coord_place(struct coord *state, uint32_t processes)
{
    state->hosts[state->registered_host].drained = false; /* process 0 is there */
    if (coord_has_replicas(state)) {
        coord_place_groups(state, processes, NULL);
        return;
    }
    placement_begin(describe(state, processes), state->registered_host);
    note_counts(state);
}

bool coord_place_again(struct coord *state, const struct coord_held *from)
{
    if (coord_has_replicas(state))
        return coord_place_groups(state, from->processes, from);
    struct placement *placement = describe(state, from->processes);

    placement->copy_on = from->copy_on;
    placement->together = from->together;
    placement->needs = from->needs;
    if (!placement_again(placement))
        return false;
    note_counts(state);
    return true;
}

/* ---- For messages ---- */

const struct coord_host *coord_manifest_writer(const struct coord *state)
{
    for (uint32_t i = 0; coord_has_replicas(state) && i < state->host_count; i++)
        if (coord_lives_on(state, 0, &state->hosts[i]) && state->hosts[i].captures)
            return &state->hosts[i];
    return &state->hosts[state->home[0]]; /* of snapshot 0: where the program began */
}

bool coord_keeps_manifest(const struct coord *state, const struct coord_host *host)
{
    return !host->lost && (state->config.copies > 1 || host == coord_manifest_writer(state));
}

struct wire_numbers coord_homes(struct coord *state)
{
    for (uint32_t pid = 0; pid < state->processes; pid++)
        state->numbers[pid] = state->hosts[state->home[pid]].id;
    return (struct wire_numbers){state->numbers, state->processes};
}

uint32_t coord_copies(const struct coord *state)
{
    uint32_t living = 0;

    for (uint32_t i = 0; i < state->host_count; i++)
        living += !state->hosts[i].lost;
    return state->config.copies < living ? state->config.copies : living;
}

void coord_name_host(const struct coord_host *host, char text[COORD_NAME_TEXT])
{
    if (host->name && host->name[0])
        snprintf(text, COORD_NAME_TEXT, "host %.255s", host->name);
    else
        snprintf(text, COORD_NAME_TEXT, "host %u", host->id);
}

/* ---- Barriers ---- */

uint64_t coord_next_consult(uint64_t from, uint64_t every, uint64_t abort_at)
{
    uint64_t next = COORD_NEVER;
    if (every > 0 && from < COORD_NEVER) {
        uint64_t past = (from + 1) % every; /* barrier n ends superstep n - 1 */
        uint64_t ahead = past > 0 ? every - past : 0;
        if (ahead < COORD_NEVER - from)
            next = from + ahead;
    }
    if (abort_at >= from && abort_at < next)
        next = abort_at;
    return next;
}
