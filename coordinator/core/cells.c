/* cells.c - replicas: several hosts, a cell, have the same processes.
 *
 * All that is said of processes and hosts elsewhere is said of cells, each named by its lead; which
 * of its hosts came first, or is left, is decided here.  Without replicas each host is a cell.
 */
#include "coordinator/core/state.h"

/* ---- Forming them ------------------------------------------------------------------------- */

bool coord_has_cell(const struct coord *state, const struct coord_host *host)
{
    return host->lead < state->host_count;
}

bool coord_is_lead(const struct coord *state, const struct coord_host *host)
{
    return coord_has_cell(state, host) && &state->hosts[host->lead] == host;
}

static bool is_usable(const struct coord *state, const struct coord_host *host)
{
    return !host->lost && (!host->drained || state->all_drained ||
                           (state->registered && host == &state->hosts[state->registered_host]));
}

static uint32_t count_usable(const struct coord *state)
{
    uint32_t usable = 0;
    for (uint32_t i = 0; i < state->host_count; i++)
        usable += is_usable(state, &state->hosts[i]);
    return usable;
}

/* The next host that can be used, from that place of the order on; counted from the first one. */
static struct coord_host *next_host(struct coord *state, uint32_t first, uint32_t *at)
{
    while (*at < state->host_count) {
        struct coord_host *host = &state->hosts[(first + (*at)++) % state->host_count];

        if (is_usable(state, host))
            return host;
    }
    return NULL;
}

/* The hosts of a group are dealt out in rounds: those of a round have each of its processes once.
 */
static void deal(struct coord *state, uint32_t replicas, uint32_t first, uint32_t *at)
{
    uint16_t *leads = state->home; /* not used yet; at least as many as cells are needed */
    uint32_t cells = state->groups.cells[replicas];

    for (uint32_t dealt = 0; dealt < cells * replicas; dealt++) {
        struct coord_host *host = next_host(state, first, at);

        if (!host)
            return;
        if (dealt < cells)
            leads[dealt] = (uint16_t)(host - state->hosts);
        host->lead = leads[dealt % cells];
        host->replicas = (uint8_t)replicas;
    }
}

/* The hosts in their order, the registered one first, are for the group of process 0, then for the
 * others, those with the most replicas first; what is left over gets no processes. */
bool coord_form_cells(struct coord *state, uint32_t processes, const uint32_t *together,
                      uint32_t lowered)
{
    uint32_t first = state->registered ? state->registered_host : 0, at = 0;

    if (!coord_has_replicas(state))
        return true;
    if (!coord_form_groups(state, processes, count_usable(state), together, lowered))
        return false;
    for (uint32_t i = 0; i < state->host_count; i++)
        state->hosts[i].lead = COORD_NO_CELL;
    uint32_t of_zero = coord_replicas_of(state, 0, together);
    deal(state, of_zero, first, &at);
    for (uint32_t replicas = WIRE_REPLICAS_MAX; replicas > 0; replicas--)
        if (replicas != of_zero)
            deal(state, replicas, first, &at);
    return true;
}

void coord_describe_cell(const struct coord *state, const struct coord_host *lead,
                         struct placement_host *description)
{
    *description = (struct placement_host){.name = lead->name,
                                           .id = lead->id,
                                           .slots = lead->slots,
                                           .busy = lead->busy,
                                           .speed = lead->speed,
                                           .drained = lead->drained,
                                           .left = lead->available};
    for (uint32_t i = 0; coord_has_replicas(state) && i < state->host_count; i++) {
        const struct coord_host *host = &state->hosts[i];
        if (!coord_has_cell(state, host) || &state->hosts[host->lead] != lead)
            continue;
        if (host->slots < description->slots)
            description->slots = host->slots;
        if (host->available < description->left)
            description->left = host->available;
    }
}

struct wire_numbers coord_leads(struct coord *state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < state->host_count; i++) {
        const struct coord_host *host = &state->hosts[i];
        if (!coord_has_cell(state, host) || coord_is_lead(state, host))
            continue;
        state->leads[count++] = host->id;
        state->leads[count++] = state->hosts[host->lead].id;
    }
    return (struct wire_numbers){state->leads, count};
}

/* ---- Who has what --------------------------------------------------------------------------- */

bool coord_lives_on(const struct coord *state, uint32_t pid, const struct coord_host *host)
{
    if (state->processes == 0) /* not placed: there is only process 0 */
        return pid == 0 && state->registered && host == &state->hosts[state->registered_host];
    return pid < state->processes && state->home[pid] == host->lead;
}

/* ---- Who is left, who came first ---------------------------------------------------------- */

static bool is_of_cell(const struct coord *state, const struct coord_host *host, uint32_t lead)
{
    return coord_has_cell(state, host) && host->lead == lead;
}

/* A living host of the cell, or NULL. */
static struct coord_host *find_living(const struct coord *state, uint32_t lead)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (is_of_cell(state, &state->hosts[i], lead) && !state->hosts[i].lost)
            return &state->hosts[i];
    return NULL;
}

bool coord_first_of_cell(const struct coord *state, const struct coord_host *host)
{
    return coord_has_cell(state, host) && find_living(state, host->lead) == host;
}

struct coord_host *coord_host_of(const struct coord *state, uint32_t pid)
{
    return find_living(state, state->home[pid]);
}

static bool has_another(const struct coord *state, uint32_t lead, const struct coord_host *without)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (is_of_cell(state, &state->hosts[i], lead) && !state->hosts[i].lost &&
            &state->hosts[i] != without)
            return true;
    return false;
}

bool coord_is_covered(const struct coord *state, const struct coord_host *without)
{
    if (!coord_has_replicas(state))
        return false;
    for (uint32_t i = 0; i < state->host_count; i++)
        if (state->hosts[i].count > 0 && !has_another(state, state->hosts[i].lead, without))
            return false;
    return true;
}

static struct coord_host *find_arrived(const struct coord *state, uint32_t lead)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (is_of_cell(state, &state->hosts[i], lead) && state->hosts[i].arrived &&
            !state->hosts[i].lost)
            return &state->hosts[i];
    return NULL;
}

bool coord_all_arrived(const struct coord *state)
{
    bool any = false;

    for (uint32_t i = 0; i < state->host_count; i++) {
        const struct coord_host *host = &state->hosts[i];
        if (host->count == 0 && !host->arrived)
            continue;
        if (!find_arrived(state, host->lead))
            return false;
        any = true;
    }
    return any;
}

struct wire_numbers coord_choose_captures(struct coord *state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_host *host = &state->hosts[i];
        host->captures = host->count > 0 && find_arrived(state, host->lead) == host;
        if (host->captures)
            state->leads[count++] = host->id;
    }
    return (struct wire_numbers){state->leads, coord_has_replicas(state) ? count : 0};
}
