/* place.c - how many processes, which host each lives on, which barriers are decided: the
 * arithmetic of Processor Zero. */
#include "coordinator/core/state.h"

uint64_t coord_decide_processes(uint32_t wanted, uint32_t limit, uint64_t slots)
{
    if (wanted == 0)
        return limit > 0 ? limit : slots;
    return limit > 0 && wanted > limit ? limit : wanted;
}

static uint64_t total_slots(const struct coord *state)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < state->host_count; i++)
        total += state->hosts[i].slots;
    return total;
}

/* The k-th host in placement order: the registered one, then the others. */
static struct coord_host *in_order(struct coord *state, uint32_t k)
{
    if (k == 0)
        return &state->hosts[state->registered_host];
    return &state->hosts[k <= state->registered_host ? k - 1 : k];
}

void coord_place(struct coord *state, uint32_t processes)
{
    uint64_t total = total_slots(state);
    uint64_t left = processes;

    /* First what each host gets for certain, ... */
    for (uint32_t k = 0; k < state->host_count; k++) {
        struct coord_host *host = in_order(state, k);
        if (processes <= total)
            host->count = left < host->slots ? (uint32_t)left : host->slots;
        else
            host->count = (uint32_t)((uint64_t)processes * host->slots / total);
        left -= host->count;
    }
    /* ... then one more for as many as the division left over (fewer than there are hosts). */
    for (uint32_t k = 0; left > 0; k++, left--)
        in_order(state, k)->count++;

    uint32_t first = 0;
    for (uint32_t k = 0; k < state->host_count; k++) {
        struct coord_host *host = in_order(state, k);
        host->first = first;
        for (uint32_t i = 0; i < host->count; i++)
            state->home[first + i] = (uint16_t)(host - state->hosts);
        first += host->count;
    }
    state->processes = processes;
}

uint64_t coord_next_consult(uint64_t from, uint64_t every, uint64_t abort_at)
{
    uint64_t next = COORD_NEVER;
    if (every > 0 && from < COORD_NEVER) {
        uint64_t past = (from + 1) % every; /* the n-th barrier ends superstep n - 1 */
        uint64_t ahead = past > 0 ? every - past : 0;
        if (ahead < COORD_NEVER - from)
            next = from + ahead;
    }
    if (abort_at >= from && abort_at < next)
        next = abort_at;
    return next;
}
