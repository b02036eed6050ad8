/* coord.c - the states of Processor Zero, the step, and what can be asked about a machine.
 *
 * coord_step looks the event up in `rules`: in which states it is legal, in which it comes too late
 * to matter, and which function of events.c takes it.
 */
#include "coordinator/core/state.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_GRACE_MS 10000u

#define IN(phase)        (1u << (phase))

/* ---- States ------------------------------------------------------------------------------- */

static const struct phase {
    const char *name;
    unsigned next; /* the states that may follow */
} phases[COORD_PHASE_COUNT] = {
    [COORD_WAITING] = {"WAITING", IN(COORD_PLACING) | IN(COORD_ABORTING)},
    [COORD_PLACING] = {"PLACING", IN(COORD_RUNNING) | IN(COORD_ABORTING)},
    [COORD_RUNNING] = {"RUNNING", IN(COORD_ENDING) | IN(COORD_ABORTING)},
    [COORD_ENDING] = {"ENDING", IN(COORD_ENDED) | IN(COORD_ABORTING)},
    [COORD_ENDED] = {"ENDED", 0},
    [COORD_ABORTING] = {"ABORTING", IN(COORD_ABORTED)},
    [COORD_ABORTED] = {"ABORTED", 0},
};

/* The only way from one state to another. */
void coord_move(struct coord *state, enum coord_phase to)
{
    enum coord_phase from = state->phase;
    assert(phases[from].next & IN(to));
    state->phase = to;
    if (state->config.moved)
        state->config.moved(state->config.context, from, to);
}

const char *coord_phase_name(enum coord_phase phase)
{
    return (unsigned)phase < COORD_PHASE_COUNT ? phases[phase].name : "unknown";
}

/* ---- Effects and complaints --------------------------------------------------------------- */

struct coord_effect *coord_add_effect(struct coord *state, struct coord_effects *effects,
                                      enum coord_effect_kind kind)
{
    assert(effects->count < COORD_EFFECTS_MAX);
    /* The kinds are numbered in the order effects must have: sends, timers, the end. */
    assert(effects->count == 0 || effects->items[effects->count - 1].kind <= kind);
    struct coord_effect *effect = &effects->items[effects->count++];
    *effect = (struct coord_effect){.kind = kind,
                                    .term = state->config.term,
                                    .processes = state->processes,
                                    .superstep = state->superstep,
                                    .consult = state->consult};
    return effect;
}

int coord_broken(struct coord_effects *effects, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(effects->complaint, sizeof(effects->complaint), format, arguments);
    va_end(arguments);
    return -EPROTO;
}

/* ---- The step ----------------------------------------------------------------------------- */

#define OVER    (IN(COORD_ENDED) | IN(COORD_ABORTED))
#define STARTED (IN(COORD_WAITING) | IN(COORD_PLACING) | IN(COORD_RUNNING) | IN(COORD_ENDING))

static const struct rule {
    unsigned legal; /* in these states it is taken */
    unsigned late;  /* in these it comes too late and does nothing; elsewhere it is wrong */
    bool of_host;   /* `host` must be one of the job's */
    coord_take *take;
} rules[COORD_EVENT_KIND_COUNT] = {
    [COORD_EVENT_HOST_READY] = {IN(COORD_WAITING), IN(COORD_ABORTING), true, coord_take_host_ready},
    [COORD_EVENT_REGISTERED] = {IN(COORD_WAITING), IN(COORD_ABORTING), true, coord_take_registered},
    [COORD_EVENT_RANKS_READY] = {IN(COORD_PLACING), IN(COORD_ABORTING), true,
                                 coord_take_ranks_ready},
    [COORD_EVENT_ARRIVED] = {IN(COORD_RUNNING), IN(COORD_ABORTING), true, coord_take_arrived},
    [COORD_EVENT_RANK_EXITED] = {STARTED, IN(COORD_ABORTING), true, coord_take_rank_exited},
    [COORD_EVENT_ABORT] = {STARTED, IN(COORD_ABORTING), true, coord_take_abort},
    [COORD_EVENT_STOP] = {STARTED, IN(COORD_ABORTING), false, coord_take_stop},
    [COORD_EVENT_RANKS_STOPPED] = {IN(COORD_ABORTING), 0, true, coord_take_ranks_stopped},
    [COORD_EVENT_HOST_LOST] = {STARTED | IN(COORD_ABORTING), 0, true, coord_take_host_lost},
    [COORD_EVENT_TIMER] = {IN(COORD_ABORTING), STARTED, false, coord_take_timer},
};

static struct coord_host *find_host(const struct coord *state, uint32_t id)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (state->hosts[i].id == id)
            return &state->hosts[i];
    return NULL;
}

int coord_step(struct coord *state, const struct coord_event *event, struct coord_effects *effects)
{
    effects->count = 0;
    effects->dropped = false;
    effects->complaint[0] = '\0';

    if ((unsigned)event->kind >= COORD_EVENT_KIND_COUNT)
        return coord_broken(effects, "an event of unknown kind %u", (unsigned)event->kind);
    if (event->term > state->config.term)
        return coord_broken(effects, "an event of term %u, this is term %u", event->term,
                            state->config.term);
    const struct rule *rule = &rules[event->kind];
    struct coord_host *host = rule->of_host ? find_host(state, event->host) : NULL;
    if (rule->of_host && !host)
        return coord_broken(effects, "an event from host %u, which is none of this job",
                            event->host);
    /* A host that was given up may not know it yet. */
    bool from_lost = host && host->lost;
    if (event->term < state->config.term || from_lost || (IN(state->phase) & (rule->late | OVER))) {
        effects->dropped = true;
        return 0;
    }
    if (!(rule->legal & IN(state->phase)))
        return coord_broken(effects, "host %u sends something that does not belong into state %s",
                            event->host, coord_phase_name(state->phase));
    return rule->take(state, host, event, effects);
}

/* ---- Life and looks ----------------------------------------------------------------------- */

static bool is_sensible(const struct coord_config *config)
{
    if (config->term == 0 || config->host_count == 0 || config->host_count > COORD_HOSTS_MAX ||
        config->processes_max > WIRE_RANKS_MAX)
        return false;
    for (uint32_t i = 0; i < config->host_count; i++) {
        if (config->hosts[i].slots > WIRE_SLOTS_MAX)
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (config->hosts[i].host == config->hosts[j].host)
                return false;
    }
    return true;
}

struct coord *coord_new(const struct coord_config *config)
{
    if (!is_sensible(config))
        return NULL;
    struct coord *state = calloc(1, sizeof(*state));
    if (!state)
        return NULL;
    state->config = *config;
    state->config.hosts = NULL;
    if (config->processes_max == 0)
        state->config.processes_max = WIRE_RANKS_MAX;
    if (config->stop_grace_ms == 0)
        state->config.stop_grace_ms = DEFAULT_GRACE_MS;
    if (config->host_count > 1)
        state->config.consult_every = 1;
    state->phase = COORD_WAITING;
    state->consult = COORD_NEVER;
    state->outcome.pid = COORD_NOBODY;
    state->host_count = config->host_count;
    state->hosts = calloc(config->host_count, sizeof(*state->hosts));
    state->bytes = calloc((size_t)config->host_count * config->host_count, sizeof(*state->bytes));
    state->exited = calloc(state->config.processes_max, sizeof(*state->exited));
    if (!state->hosts || !state->bytes || !state->exited) {
        coord_free(state);
        return NULL;
    }
    for (uint32_t i = 0; i < config->host_count; i++) {
        state->hosts[i].id = config->hosts[i].host;
        state->hosts[i].slots = config->hosts[i].slots;
    }
    return state;
}

void coord_free(struct coord *state)
{
    if (!state)
        return;
    free(state->hosts);
    free(state->bytes);
    free(state->exited);
    free(state);
}

enum coord_phase coord_phase(const struct coord *state)
{
    return state->phase;
}

uint32_t coord_term(const struct coord *state)
{
    return state->config.term;
}

uint32_t coord_processes(const struct coord *state)
{
    return state->processes;
}

uint32_t coord_host_of(const struct coord *state, uint32_t pid)
{
    assert(pid < state->processes);
    uint32_t i = 0;
    while (!coord_lives_on(state, pid, &state->hosts[i]))
        i++;
    return state->hosts[i].id;
}

uint32_t coord_pids_of(const struct coord *state, uint32_t host, uint32_t *first)
{
    const struct coord_host *found = find_host(state, host);
    *first = found ? found->first : 0;
    return found ? found->count : 0;
}

uint64_t coord_expected(const struct coord *state, uint32_t from, uint32_t to)
{
    const struct coord_host *sender = find_host(state, from);
    const struct coord_host *receiver = find_host(state, to);
    if (!sender || !receiver)
        return 0;
    return state->bytes[(size_t)(sender - state->hosts) * state->host_count +
                        (size_t)(receiver - state->hosts)];
}

bool coord_host_alive(const struct coord *state, uint32_t host)
{
    const struct coord_host *found = find_host(state, host);
    return found && found->ready && !found->lost;
}

struct coord_outcome coord_outcome(const struct coord *state)
{
    struct coord_outcome outcome = state->outcome;
    outcome.superstep = state->superstep;
    outcome.text = state->text;
    return outcome;
}
