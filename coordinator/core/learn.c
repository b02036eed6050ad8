/* learn.c - what Processor Zero learns of failures and costs; see learn.h. */
#include "coordinator/core/learn.h"

#include "coordinator/core/state.h"

#define NS 1e9

void coord_add_seen(struct estimate *estimate, const struct coord_seen *seen)
{
    struct estimate_units sums = {seen->host_seconds, seen->process_seconds};

    estimate_watch(estimate, sums, 1);
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        for (uint32_t i = 0; i < seen->failures[kind] && seen->failures[kind] <= COORD_SEEN_MOST;
             i++)
            estimate_failed(estimate, (enum estimate_kind)kind);
}

/* ---- Rates -------------------------------------------------------------------------------- */

static struct estimate_units units(const struct coord *state)
{
    struct estimate_units units = {0, 0};

    for (uint32_t i = 0; i < state->host_count; i++)
        units.hosts += !state->hosts[i].lost;
    if (state->running)
        units.processes = state->processes;
    return units;
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / NS : 0;
}

void coord_watch(struct coord *state)
{
    if (state->watched_ns > 0)
        estimate_watch(&state->estimate, units(state),
                       seconds_between(state->watched_ns, state->now_ns));
    if (state->now_ns > state->watched_ns)
        state->watched_ns = state->now_ns;
}

void coord_learn_begin(struct coord *state)
{
    state->begun_ns = state->watched_ns = state->now_ns;
}

void coord_know(struct coord *state)
{
    struct estimate_units now = units(state);

    coord_watch(state);
    now.processes = state->processes;
    state->facts.known = estimate_model(&state->estimate, now, &state->facts.model);
}

struct estimate coord_estimate(const struct coord *state, uint64_t now_ns)
{
    struct estimate estimate = state->estimate;

    if (state->watched_ns > 0)
        estimate_watch(&estimate, units(state), seconds_between(state->watched_ns, now_ns));
    return estimate;
}

/* ---- Supersteps --------------------------------------------------------------------------- */

void coord_pace_from(struct coord *state)
{
    state->paced_ns = state->now_ns;
    state->paced_superstep = state->superstep;
}

/* Measures the duration of supersteps when all are at the barrier. */
void coord_pace(struct coord *state)
{
    uint64_t steps = state->superstep + 1 - state->paced_superstep;

    if (steps == 0 || state->now_ns <= state->paced_ns || state->superstep < state->paced_superstep)
        return;
    state->facts.superstep_ns =
        state->saved_at_calls ? 0 : (state->now_ns - state->paced_ns) / steps;
}

/* ---- Costs -------------------------------------------------------------------------------- */

void coord_learn_running(struct coord *state, bool restored)
{
    const struct coord_recovery *recovery = &state->config.recovery;

    coord_watch(state);
    state->running = true;
    if (!restored || !recovery->any)
        return;
    estimate_take(&state->estimate.restores[recovery->kind],
                  recovery->down + seconds_between(state->begun_ns, state->now_ns));
}

void coord_learn_commit(struct coord *state)
{
    if (!state->ticket.base)
        estimate_take(&state->estimate.delay, seconds_between(state->facts.last_ns, state->now_ns));
}

void coord_learn_known(struct coord *state, const struct coord_host *host, uint64_t busy_ns,
                       uint64_t copied_ns)
{
    struct coord_ticket *ticket = &state->ticket;
    double copied = ticket->follows ? (double)copied_ns : 0;

    ticket->cost_ns += ((double)busy_ns + copied) * host->count;
    ticket->counted += host->count;
}

/* The cost is the mean over the ranks plus the common pause. */
void coord_learn_cost(struct coord *state)
{
    const struct coord_ticket *ticket = &state->ticket;
    double rest = ticket->counted > 0 ? ticket->cost_ns / ticket->counted : 0;

    if (!ticket->base)
        estimate_take(&state->estimate.snapshot, ((double)state->facts.costs.pause_ns + rest) / NS);
}

/* ---- Before the first restore ------------------------------------------------------------- */

/* The bytes that the processes of a host have to read, including the base of their images. */
static double bytes_of(const struct coord *state, const struct coord_host *host)
{
    double bytes = 0;

    for (uint32_t pid = 0; pid < state->processes; pid++) {
        const struct wire_image *image = &state->ticket.images[state->ticket.base ? 0 : pid];

        if (&state->hosts[state->home[pid]] == host)
            bytes += (double)image->facts.size +
                     (image->facts.generation > 0 ? (double)state->base_size : 0);
    }
    return bytes;
}

void coord_learn_read(struct coord *state, const struct coord_host *host, uint64_t read_bytes,
                      uint64_t read_ns)
{
    if (read_bytes == 0 || read_ns == 0 || host->count == 0)
        return;
    double rate = (double)read_bytes / ((double)read_ns / NS);
    double seconds = bytes_of(state, host) / rate;
    if (seconds > state->guess)
        state->guess = seconds; /* the slowest host determines the restore */
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        bool silent = kind == ESTIMATE_HOST || kind == ESTIMATE_SPLIT;

        estimate_guess(&state->estimate.restores[kind],
                       state->guess + (silent ? state->config.notice : 0));
    }
}

/* ---- What comes of it --------------------------------------------------------------------- */

uint64_t coord_interval(const struct coord *state, enum wire_why *why)
{
    const struct policy_rule *rule = &state->config.rule;
    const struct policy_facts *facts = &state->facts;
    uint64_t interval = policy_interval_ns(rule, facts);
    struct interval_model model = policy_model(facts);

    if (rule->kind == POLICY_OFF)
        *why = WIRE_WHY_OFF;
    else if (rule->kind != POLICY_AUTO)
        *why = WIRE_WHY_ASKED;
    else if (!facts->taken && !facts->restored)
        *why = WIRE_WHY_FIRST;
    else if (!policy_knows(facts))
        *why = WIRE_WHY_OVERHEAD;
    else if ((double)interval > interval_best(&model) * NS * (1 + 1e-9) + 1)
        *why = WIRE_WHY_BOUND;
    else
        *why = interval_best(&model) > interval_exact(&model) ? WIRE_WHY_COMMIT : WIRE_WHY_BEST;
    if (*why == WIRE_WHY_FIRST)
        interval = 0;
    else if (rule->kind == POLICY_SUPERSTEPS)
        interval = POLICY_NEVER;
    return interval;
}

struct wire_learned coord_learned(const struct coord *state, uint64_t now_ns,
                                  struct wire_real list[ESTIMATE_NUMBERS])
{
    struct estimate estimate = coord_estimate(state, now_ns);
    double numbers[ESTIMATE_NUMBERS];
    enum wire_why why;
    uint64_t interval_ns = coord_interval(state, &why);

    estimate_to_numbers(&estimate, numbers);
    for (uint32_t i = 0; i < ESTIMATE_NUMBERS; i++)
        list[i].value = numbers[i];
    return (struct wire_learned){
        {list, ESTIMATE_NUMBERS}, interval_ns, why, coord_balancing_shares(state)};
}
