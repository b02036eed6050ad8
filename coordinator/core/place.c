/* place.c - the number of processes, the host of each, the barriers that are decided: the
 * arithmetic of Processor Zero. */
#include "coordinator/core/state.h"

uint64_t coord_decide_processes(uint32_t wanted, uint32_t limit, uint64_t slots)
{
    if (wanted == 0)
        return limit > 0 ? limit : slots;
    return limit > 0 && wanted > limit ? limit : wanted;
}

/* Whether the host gets processes. */
static bool is_open(const struct coord *state, const struct coord_host *host)
{
    return !host->drained || state->all_drained;
}

static uint32_t slots_of(const struct coord *state, const struct coord_host *host)
{
    return is_open(state, host) ? host->slots : 0;
}

static uint64_t total_slots(const struct coord *state)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < state->host_count; i++)
        total += slots_of(state, &state->hosts[i]);
    return total;
}

/* The k-th host in placement order: `first`, then the others. */
static struct coord_host *in_order(struct coord *state, uint32_t first, uint32_t k)
{
    if (k == 0)
        return &state->hosts[first];
    return &state->hosts[k <= first ? k - 1 : k];
}

/* Computes how many processes each host gets: hosts are filled in order, or get one more each in
 * turn (by_node); processes beyond the number of slots are spread in proportion to them. */
static void count_out(struct coord *state, uint32_t first, uint32_t processes)
{
    uint64_t total = total_slots(state);
    uint64_t left = processes;

    for (uint32_t k = 0; k < state->host_count; k++) {
        struct coord_host *host = in_order(state, first, k);
        uint32_t slots = slots_of(state, host);
        if (processes > total)
            host->count = (uint32_t)((uint64_t)processes * slots / total);
        else if (state->config.by_node)
            host->count = 0;
        else
            host->count = left < slots ? (uint32_t)left : slots;
        left -= host->count;
    }
    /* One round for each process of the fullest host; the remainder of a division is less than a
     * round. */
    while (left > 0)
        for (uint32_t k = 0; k < state->host_count && left > 0; k++) {
            struct coord_host *host = in_order(state, first, k);
            uint32_t slots = slots_of(state, host);
            if (host->count < slots || (processes > total && slots > 0)) {
                host->count++;
                left--;
            }
        }
}

static void put(struct coord *state, uint32_t pid, struct coord_host *host)
{
    if (host->count++ == 0)
        host->first = pid;
    state->home[pid] = (uint16_t)(host - state->hosts);
}

/* Assigns the processes in order, host by host or in turn; consumes the counts. */
static void deal_out(struct coord *state, uint32_t first, uint32_t processes)
{
    uint32_t pid = 0;
    for (uint32_t k = 0; k < state->host_count; k++) {
        state->hosts[k].quota = state->hosts[k].count;
        state->hosts[k].count = state->hosts[k].first = 0;
    }
    while (pid < processes)
        for (uint32_t k = 0; k < state->host_count; k++) {
            struct coord_host *host = in_order(state, first, k);
            uint32_t share = state->config.by_node && host->quota > 0 ? 1 : host->quota;
            if (host->count == 0)
                host->first = pid;
            host->quota -= share;
            for (; share > 0; share--)
                put(state, pid++, host);
        }
}

static void place_anew(struct coord *state, uint32_t first, uint32_t processes)
{
    count_out(state, first, processes);
    deal_out(state, first, processes);
    state->processes = processes;
}

void coord_place(struct coord *state, uint32_t processes)
{
    state->hosts[state->registered_host].drained = false; /* process 0 is there */
    place_anew(state, state->registered_host, processes);
}

/* ---- Again, from a snapshot ---- */

static bool is_less_loaded(const struct coord_host *host, const struct coord_host *than,
                           uint32_t more)
{
    uint64_t load = UINT64_C(100) * (host->count + more) + host->busy,
             other = UINT64_C(100) * (than->count + more) + than->busy;
    return load * than->slots * than->speed < other * host->slots * host->speed;
}

/* The host with the least load after adding `more` processes. */
static struct coord_host *least_loaded(struct coord *state, uint32_t more)
{
    struct coord_host *best = NULL;
    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_host *host = &state->hosts[i];
        if (is_open(state, host) && (!best || is_less_loaded(host, best, more)))
            best = host;
    }
    return best;
}

/* The host of the first process of its group that is placed: those that stay somewhere and lower
 * pids are. */
static struct coord_host *home_of_group(struct coord *state, uint32_t processes, uint32_t pid,
                                        const uint32_t *together)
{
    uint32_t more = 0;
    for (uint32_t other = together[pid]; other < processes; other++) {
        if (together[other] != together[pid])
            continue;
        if (other < pid || state->stays[other] > 0)
            return &state->hosts[state->home[other]];
        more++;
    }
    return least_loaded(state, more);
}

static bool is_taken_apart(const struct coord *state, uint32_t processes, const uint32_t *together)
{
    for (uint32_t pid = 0; pid < processes; pid++)
        if (state->home[pid] != state->home[together[pid]])
            return true;
    return false;
}

/* Notes which processes stay where they are. */
static void note_stays(struct coord *state, uint32_t processes, const uint16_t *copy_on,
                       const uint32_t *together)
{
    uint32_t staying = 0;
    for (uint32_t pid = 0; pid < processes; pid++) {
        bool stays = copy_on[pid] > 0 && is_open(state, &state->hosts[copy_on[pid] - 1]);
        state->stays[pid] = stays ? copy_on[pid] : 0;
        staying += stays;
    }
    if (staying > 0 && !state->config.anew)
        return;
    place_anew(state, 0, processes);
    if (is_taken_apart(state, processes, together))
        return;
    for (uint32_t pid = 0; pid < processes; pid++)
        state->stays[pid] = (uint16_t)(state->home[pid] + 1);
}

/* Processes of a group move together. */
static void note_moves(struct coord *state, uint32_t processes, const uint32_t *together)
{
    for (uint32_t pid = 0; pid < processes; pid++) {
        uint16_t to = state->moves_to[pid];
        if (to == 0 || !is_open(state, &state->hosts[to - 1]))
            continue;
        for (uint32_t other = together[pid]; other < processes; other++)
            if (together[other] == together[pid])
                state->stays[other] = to;
    }
}

void coord_place_again(struct coord *state, uint32_t processes, const uint16_t *copy_on,
                       const uint32_t *together)
{
    note_stays(state, processes, copy_on, together);
    note_moves(state, processes, together);
    for (uint32_t i = 0; i < state->host_count; i++)
        state->hosts[i].count = state->hosts[i].first = 0;
    for (uint32_t pid = 0; pid < processes; pid++)
        if (state->stays[pid] > 0)
            put(state, pid, &state->hosts[state->stays[pid] - 1]);
    for (uint32_t pid = 0; pid < processes; pid++)
        if (state->stays[pid] == 0)
            put(state, pid, home_of_group(state, processes, pid, together));
    for (uint32_t pid = processes; pid-- > 0;)
        state->hosts[state->home[pid]].first = pid;
    state->processes = processes;
}

/* ---- For messages ---- */

bool coord_keeps_manifest(const struct coord *state, const struct coord_host *host)
{
    return !host->lost && (state->config.copies > 1 || host == &state->hosts[state->home[0]]);
}

struct wire_numbers coord_homes(struct coord *state)
{
    for (uint32_t pid = 0; pid < state->processes; pid++)
        state->numbers[pid] = state->hosts[state->home[pid]].id;
    return (struct wire_numbers){state->numbers, state->processes};
}

uint32_t coord_copies(const struct coord *state)
{
    return state->config.copies < state->host_count ? state->config.copies : state->host_count;
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
