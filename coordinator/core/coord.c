/* coord.c - the states of Processor Zero, the step, and what can be asked about a machine.
 *
 * coord_step looks the event up in `rules`: in which states it is legal, in which it comes too late
 * to matter, and which function takes it.
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
#define CUT_SHORT        (IN(COORD_ABORTING) | IN(COORD_FAILED))

/* ---- States ------------------------------------------------------------------------------- */

static const struct phase {
    const char *name;
    unsigned next; /* the states that may follow */
} phases[COORD_PHASE_COUNT] = {
    [COORD_WAITING] = {"WAITING", IN(COORD_PLACING) | IN(COORD_CHOOSING) | CUT_SHORT},
    [COORD_PLACING] = {"PLACING", IN(COORD_RUNNING) | CUT_SHORT},
    [COORD_CHOOSING] = {"CHOOSING", IN(COORD_RESTORING) | CUT_SHORT},
    [COORD_RESTORING] = {"RESTORING", IN(COORD_PASSING) | CUT_SHORT},
    [COORD_PASSING] = {"PASSING", IN(COORD_RUNNING) | CUT_SHORT},
    [COORD_RUNNING] = {"RUNNING", IN(COORD_HELD_BACK) | IN(COORD_CAPTURING) | IN(COORD_CLOSING) |
                                      IN(COORD_ENDING) | CUT_SHORT},
    [COORD_HELD_BACK] = {"HELD_BACK", IN(COORD_RUNNING) | IN(COORD_CAPTURING) | CUT_SHORT},
    [COORD_CAPTURING] = {"CAPTURING", IN(COORD_RUNNING) | IN(COORD_SAVING) | CUT_SHORT},
    [COORD_SAVING] = {"SAVING", CUT_SHORT},
    [COORD_CLOSING] = {"CLOSING", IN(COORD_ENDING) | CUT_SHORT},
    [COORD_ENDING] = {"ENDING", IN(COORD_ENDED) | IN(COORD_ABORTING)},
    [COORD_ENDED] = {"ENDED", 0},
    [COORD_ABORTING] = {"ABORTING", IN(COORD_ABORTED)},
    [COORD_ABORTED] = {"ABORTED", 0},
    [COORD_FAILED] = {"FAILED", 0},
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
                                    .name = state->ticket.name,
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

#define OVER (IN(COORD_ENDED) | IN(COORD_ABORTED) | IN(COORD_FAILED))
#define GOING                                                                                      \
    (IN(COORD_RUNNING) | IN(COORD_HELD_BACK) | IN(COORD_CAPTURING) | IN(COORD_SAVING) |            \
     IN(COORD_CLOSING) | IN(COORD_ENDING))
#define RESTORE (IN(COORD_CHOOSING) | IN(COORD_RESTORING) | IN(COORD_PASSING))
#define STARTED (IN(COORD_WAITING) | IN(COORD_PLACING) | RESTORE | GOING)
#define WRITING (IN(COORD_PLACING) | GOING)
#define LATE    IN(COORD_ABORTING)

static const struct rule {
    unsigned legal; /* in these states it is taken */
    unsigned late;  /* in these it comes too late and does nothing; elsewhere it is wrong */
    bool of_host;   /* `host` must be one of the job's */
    coord_take *take;
} rules[COORD_EVENT_KIND_COUNT] = {
    [COORD_EVENT_HOST_READY] = {IN(COORD_WAITING), LATE, true, coord_take_host_ready},
    [COORD_EVENT_REGISTERED] = {IN(COORD_WAITING), LATE, true, coord_take_registered},
    [COORD_EVENT_RANKS_READY] = {IN(COORD_PLACING) | IN(COORD_PASSING), LATE, true,
                                 coord_take_ranks_ready},
    [COORD_EVENT_ARRIVED] = {IN(COORD_RUNNING), LATE, true, coord_take_arrived},
    [COORD_EVENT_RANK_EXITED] = {STARTED, LATE, true, coord_take_rank_exited},
    [COORD_EVENT_ABORT] = {STARTED, LATE, true, coord_take_abort},
    [COORD_EVENT_STOP] = {STARTED, LATE, false, coord_take_stop},
    [COORD_EVENT_RANKS_STOPPED] = {IN(COORD_ABORTING), 0, true, coord_take_ranks_stopped},
    [COORD_EVENT_HOST_LOST] = {STARTED | IN(COORD_ABORTING), 0, true, coord_take_host_lost},
    [COORD_EVENT_TIMER] = {STARTED | IN(COORD_ABORTING), 0, false, coord_take_timer},
    [COORD_EVENT_HELD] = {IN(COORD_WAITING), LATE, true, coord_take_held},
    [COORD_EVENT_TERM_RECORDED] = {IN(COORD_CHOOSING), LATE, false, coord_take_term_recorded},
    [COORD_EVENT_STAGED] = {IN(COORD_RESTORING), LATE, true, coord_take_staged},
    [COORD_EVENT_CAPTURED] = {IN(COORD_CAPTURING), LATE, true, coord_take_captured},
    [COORD_EVENT_IMAGE_DURABLE] = {WRITING, LATE, true, coord_take_image_durable},
    [COORD_EVENT_IMAGE_FAILED] = {WRITING | IN(COORD_RESTORING) | IN(COORD_PASSING), LATE, true,
                                  coord_take_image_failed},
    [COORD_EVENT_PERSISTED] = {WRITING, LATE, true, coord_take_persisted},
    [COORD_EVENT_KNOWN] = {WRITING, LATE, true, coord_take_known},
    [COORD_EVENT_SAVE] = {STARTED, LATE, false, coord_take_save},
    [COORD_EVENT_CLOSED] = {IN(COORD_CLOSING), LATE, false, coord_take_closed},
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
    if (event->now_ns > state->now_ns)
        state->now_ns = event->now_ns;
    if (state->begun_ns == 0)
        coord_learn_begin(state);
    return rule->take(state, host, event, effects);
}

/* ---- Life and looks ----------------------------------------------------------------------- */

static bool is_sensible(const struct coord_config *config)
{
    if (config->term == 0 || config->host_count == 0 || config->host_count > COORD_HOSTS_MAX ||
        config->processes_max > WIRE_RANKS_MAX || config->copies > COORD_COPIES_MAX ||
        config->avoid_count > COORD_AVOID_MAX)
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

/* What only jobs with snapshots need; pages that are not used cost nothing. */
static bool allocate_snapshots(struct coord *state, uint32_t processes)
{
    if (!state->config.snapshots && !state->config.restore)
        return true;
    state->lineage = calloc(1, sizeof(*state->lineage));
    state->ticket.images = calloc(processes, sizeof(*state->ticket.images));
    state->held = calloc(COORD_HELD_MAX, sizeof(*state->held));
    if (!state->lineage || !state->ticket.images || !state->held)
        return false;
    for (uint32_t i = 0; i < COORD_HELD_MAX && state->config.restore; i++) {
        state->held[i].has_image = calloc(processes, sizeof(*state->held[i].has_image));
        state->held[i].copy_on = calloc(processes, sizeof(*state->held[i].copy_on));
        state->held[i].together = calloc(processes, sizeof(*state->held[i].together));
        if (!state->held[i].has_image || !state->held[i].copy_on || !state->held[i].together)
            return false;
    }
    return true;
}

static bool allocate(struct coord *state)
{
    uint32_t processes = state->config.processes_max;
    state->hosts = calloc(state->host_count, sizeof(*state->hosts));
    state->exited = calloc(processes, sizeof(*state->exited));
    state->home = calloc(processes, sizeof(*state->home));
    return state->hosts && state->exited && state->home &&
           allocate_snapshots(state, processes);
}

/* As far as they are known, else as if there were no others; speeds count if all are known. */
static void note_loads(struct coord *state, const struct coord_load *loads)
{
    bool with_speeds = loads != NULL;
    for (uint32_t i = 0; with_speeds && i < state->host_count; i++)
        with_speeds = loads[i].speed > 0;
    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_load load = loads ? loads[i] : (struct coord_load){0, 0};
        state->hosts[i].busy = load.busy < COORD_BUSY_MAX ? load.busy : COORD_BUSY_MAX;
        state->hosts[i].speed = !with_speeds                   ? 1
                                : load.speed < COORD_SPEED_MAX ? load.speed
                                                               : COORD_SPEED_MAX;
    }
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
    state->config.loads = NULL;
    state->config.lineage = NULL;
    if (config->processes_max == 0)
        state->config.processes_max = WIRE_RANKS_MAX;
    if (config->stop_grace_ms == 0)
        state->config.stop_grace_ms = DEFAULT_GRACE_MS;
    if (config->copies == 0)
        state->config.copies = 1;
    state->phase = COORD_WAITING;
    state->consult = COORD_NEVER;
    state->outcome.pid = COORD_NOBODY;
    state->facts.costs = config->costs;
    state->estimate = config->estimate;
    coord_add_seen(&state->estimate, &config->seen);
    state->host_count = config->host_count;
    if (!allocate(state)) {
        coord_free(state);
        return NULL;
    }
    if (config->lineage && state->lineage)
        *state->lineage = *config->lineage;
    for (uint32_t i = 0; i < config->host_count; i++) {
        state->hosts[i].id = config->hosts[i].host;
        state->hosts[i].slots = config->hosts[i].slots;
    }
    note_loads(state, config->loads);
    return state;
}

void coord_free(struct coord *state)
{
    if (!state)
        return;
    for (uint32_t i = 0; state->held && i < COORD_HELD_MAX; i++) {
        free(state->held[i].has_image);
        free(state->held[i].copy_on);
        free(state->held[i].together);
    }
    free(state->held);
    free(state->lineage);
    free(state->ticket.images);
    free(state->hosts);
    free(state->exited);
    free(state->home);
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
    return state->hosts[state->home[pid]].id;
}

uint32_t coord_pids_of(const struct coord *state, uint32_t host, uint32_t *first)
{
    const struct coord_host *found = find_host(state, host);
    *first = found ? found->first : 0;
    return found ? found->count : 0;
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
    outcome.committed = state->committed;
    return outcome;
}

enum coord_ticket_state coord_ticket(const struct coord *state, struct coord_name *name)
{
    if (name)
        *name = state->ticket.name;
    return state->ticket.state;
}

struct coord_name coord_committed(const struct coord *state)
{
    return state->committed;
}

uint32_t coord_copies(const struct coord *state)
{
    return state->config.copies < state->host_count ? state->config.copies : state->host_count;
}

const struct coord_image *coord_image(const struct coord *state, uint32_t pid)
{
    assert(pid < state->processes);
    return &state->ticket.images[state->ticket.base ? 0 : pid].image;
}

uint64_t coord_position(const struct coord *state, uint32_t host, uint32_t stream)
{
    const struct coord_host *found = find_host(state, host);
    return found && stream < 2 ? found->position[stream] : 0;
}

uint64_t coord_input(const struct coord *state)
{
    return state->ticket.input;
}

uint64_t coord_input_digest(const struct coord *state)
{
    return state->ticket.input_digest;
}

bool coord_host_persists(const struct coord *state, uint32_t host)
{
    const struct coord_host *found = find_host(state, host);
    /* One store that all see: by the host of process 0, else everybody keeps the manifest. */
    return found && !found->lost &&
           (state->config.copies > 1 || found == &state->hosts[state->home[0]]);
}

bool coord_from_copy(const struct coord *state, uint32_t pid)
{
    assert(pid < state->processes);
    return state->from && state->from->copy_on[pid] == state->home[pid] + 1u;
}

struct policy_costs coord_costs(const struct coord *state)
{
    return state->facts.costs;
}
