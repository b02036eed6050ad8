/* coord.c - the step of Processor Zero, its life, and what can be asked about a machine.
 *
 * coord_step looks the message up in `rules`: the states in which it is legal, those in which it
 * comes too late to matter, and the function that handles it.
 */
#include "coordinator/core/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_GRACE_MS 10000u

/* ---- The step ----------------------------------------------------------------------------- */

#define OVER             (IN(COORD_ENDED) | IN(COORD_ABORTED) | IN(COORD_FAILED))
#define GOING                                                                                      \
    (IN(COORD_RUNNING) | IN(COORD_HELD_BACK) | IN(COORD_CAPTURING) | IN(COORD_SAVING) |            \
     IN(COORD_CLOSING) | IN(COORD_ENDING))
#define RESTORE (IN(COORD_CHOOSING) | IN(COORD_RESTORING) | IN(COORD_PASSING))
#define STARTED (IN(COORD_WAITING) | IN(COORD_PLACING) | RESTORE | GOING)
#define WRITING (IN(COORD_PLACING) | GOING)
#define LATE    (IN(COORD_GIVING_UP) | IN(COORD_ABORTING))
#define TAKING  IN(COORD_TAKING_OVER)

static const struct rule {
    unsigned legal; /* states in which it is handled */
    unsigned
        late; /* states in which it comes too late and is ignored; in others it breaks the rules */
    coord_take *take;
} rules[WIRE_KIND_COUNT] = {
    [WIRE_HOST_READY] = {IN(COORD_WAITING), LATE, coord_take_host_ready},
    [WIRE_REGISTERED] = {IN(COORD_WAITING), LATE, coord_take_registered},
    [WIRE_RANKS_READY] = {STARTED, LATE, coord_take_ranks_ready},
    [WIRE_ARRIVE] = {GOING, LATE, coord_take_arrive},
    [WIRE_QUIET] = {STARTED, LATE, coord_take_quiet},
    [WIRE_RANK_EXITED] = {STARTED, LATE, coord_take_rank_exited},
    [WIRE_ABORT] = {STARTED, LATE, coord_take_abort},
    [WIRE_STOP] = {STARTED | TAKING, LATE, coord_take_stop},
    [WIRE_RANKS_STOPPED] = {LATE, 0, coord_take_ranks_stopped},
    [WIRE_LINK_LOST] = {STARTED | TAKING | LATE, 0, coord_take_link_lost},
    [WIRE_HELD] = {IN(COORD_WAITING), LATE, coord_take_held},
    [WIRE_TERM_RECORDED] = {IN(COORD_CHOOSING), LATE, coord_take_term_recorded},
    [WIRE_STAGED] = {IN(COORD_RESTORING), LATE, coord_take_staged},
    [WIRE_CAPTURED] = {GOING, LATE, coord_take_captured},
    [WIRE_IMAGE_DURABLE] = {WRITING, LATE, coord_take_image_durable},
    [WIRE_IMAGE_FAILED] = {WRITING | IN(COORD_RESTORING) | IN(COORD_PASSING), LATE,
                           coord_take_image_failed},
    [WIRE_PERSISTED] = {WRITING, LATE, coord_take_persisted},
    [WIRE_KNOWN] = {WRITING, LATE, coord_take_known},
    [WIRE_AHEAD_READY] = {GOING, LATE, coord_take_ahead_ready},
    [WIRE_SAVE] = {STARTED | TAKING, LATE, coord_take_save},
    [WIRE_CLOSED] = {IN(COORD_CLOSING) | IN(COORD_GIVING_UP), IN(COORD_ABORTING) | TAKING,
                     coord_take_closed},
    [WIRE_BEARS] = {STARTED | TAKING, LATE, coord_take_bears},
    [WIRE_OBJECTS] = {STARTED, LATE, coord_take_objects},
    [WIRE_HALTED] = {STARTED, LATE, coord_take_halted},
    [WIRE_ACCOUNT] = {TAKING, STARTED | LATE, coord_take_account},
};

static struct coord_host *find_host(const struct coord *state, uint32_t id)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (state->hosts[i].id == id)
            return &state->hosts[i];
    return NULL;
}

static void begin_step(struct coord_effects *effects)
{
    effects->count = 0;
    effects->dropped = false;
    effects->complaint[0] = '\0';
}

static void note_time(struct coord *state, uint64_t now_ns)
{
    if (now_ns > state->now_ns)
        state->now_ns = now_ns;
    if (state->begun_ns == 0)
        coord_learn_begin(state);
}

/* Whether the sender may send such a message, and names itself in it. */
static int check_sender(const struct coord *state, uint32_t from,
                        const struct wire_message *message, struct coord_effects *effects)
{
    bool of_agent = wire_way(message->kind) == WIRE_WAY_TO_ZERO;
    bool known = (unsigned)message->kind < WIRE_KIND_COUNT && rules[message->kind].take;
    if (memcmp(message->envelope.job, state->config.job, WIRE_JOB_SIZE) != 0)
        return coord_broken(effects, "a message of another job");
    if (!known || of_agent == (from == COORD_BSPRUN))
        return coord_broken(effects, "a message that is not for Processor Zero");
    if (of_agent && wire_sender_of(message) != from)
        return coord_broken(effects, "a message in the name of another host");
    if (message->envelope.term > state->config.term)
        return coord_broken(effects, "an event of term %u, this is term %u", message->envelope.term,
                            state->config.term);
    return 0;
}

int coord_step(struct coord *state, uint64_t now_ns, uint32_t from,
               const struct wire_message *message, struct coord_effects *effects)
{
    begin_step(effects);
    int result = check_sender(state, from, message, effects);
    if (result < 0)
        return result;
    const struct rule *rule = &rules[message->kind];
    uint32_t of_host = message->kind == WIRE_LINK_LOST ? message->link_lost.peer : from;
    struct coord_host *host = find_host(state, of_host);
    if (of_host != COORD_BSPRUN && !host)
        return coord_broken(effects, "an event from host %u, which is none of this job", of_host);
    /* A lost host may not know yet that it is; others say again what the former Processor Zero was
     * told. */
    bool from_lost = (host && host->lost) ||
                     (from != COORD_BSPRUN && (TAKING & IN(state->phase) & ~rule->legal));
    if (message->envelope.term < state->config.term || from_lost ||
        (IN(state->phase) & (rule->late | OVER))) {
        if (!from_lost && message->kind == WIRE_HOST_READY)
            coord_tell_latecomer(state, host, message, effects);
        effects->dropped = effects->count == 0;
        return 0;
    }
    if (!host && !(rule->legal & IN(state->phase)))
        return coord_broken(effects, "bsprun sends something that does not belong into state %s",
                            coord_phase_name(state->phase));
    if (!(rule->legal & IN(state->phase)))
        return coord_broken(effects, "host %u sends something that does not belong into state %s",
                            of_host, coord_phase_name(state->phase));
    note_time(state, now_ns);
    coord_check(state);
    result = rule->take(state, host, message, effects);
    coord_check(state);
    return result;
}

/* False: the term or the job is over, and nothing is done any more. */
static bool goes_on(struct coord *state, uint64_t now_ns, struct coord_effects *effects)
{
    begin_step(effects);
    effects->dropped = IN(state->phase) & OVER;
    if (!effects->dropped)
        note_time(state, now_ns);
    return !effects->dropped;
}

void coord_expire(struct coord *state, uint64_t now_ns, enum coord_timer timer,
                  struct coord_effects *effects)
{
    if (!goes_on(state, now_ns, effects))
        return;
    coord_check(state);
    if (timer == COORD_TIMER_CAPTURE)
        coord_give_up_captures(state, effects);
    else
        coord_take_timer(state, timer, effects);
    coord_check(state);
}

void coord_glance(struct coord *state, uint64_t now_ns, uint64_t superstep,
                  struct coord_effects *effects)
{
    if (!goes_on(state, now_ns, effects))
        return;
    if (coord_balancing_glance(state, superstep))
        coord_consult(state, effects);
    coord_balancing_timer(state, effects);
}

/* ---- Life and looks ----------------------------------------------------------------------- */

static bool is_sensible(const struct coord_config *config)
{
    if (config->term == 0 || config->host_count == 0 || config->host_count > COORD_HOSTS_MAX ||
        config->processes_max > WIRE_RANKS_MAX || config->copies > COORD_COPIES_MAX ||
        config->replicas > WIRE_REPLICAS_MAX || config->avoid_count > COORD_AVOID_MAX)
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

/* Memory for jobs with snapshots only; untouched pages cost nothing. */
static bool allocate_snapshots(struct coord *state, uint32_t processes)
{
    if (!state->config.snapshots && !state->config.restore)
        return true;
    state->lineage = calloc(1, sizeof(*state->lineage));
    state->ticket.images = calloc(processes, sizeof(*state->ticket.images));
    state->ticket.holders = calloc(processes, sizeof(*state->ticket.holders));
    state->held = calloc(COORD_HELD_MAX, sizeof(*state->held));
    state->ahead.expected = calloc(processes, sizeof(*state->ahead.expected));
    state->ahead.moves = calloc(processes, sizeof(*state->ahead.moves));
    if (!state->lineage || !state->ticket.images || !state->ticket.holders || !state->held ||
        !state->ahead.expected || !state->ahead.moves)
        return false;
    for (uint32_t i = 0; i < COORD_HELD_MAX && state->config.restore; i++) {
        state->held[i].has_image = calloc(processes, sizeof(*state->held[i].has_image));
        state->held[i].copy_on = calloc(processes, sizeof(*state->held[i].copy_on));
        state->held[i].together = calloc(processes, sizeof(*state->held[i].together));
        state->held[i].needs = calloc(processes, sizeof(*state->held[i].needs));
        if (!state->held[i].has_image || !state->held[i].copy_on || !state->held[i].together ||
            !state->held[i].needs)
            return false;
    }
    return true;
}

static bool allocate_placement(struct coord *state, uint32_t processes)
{
    struct placement *placement = &state->placement;
    placement->hosts = calloc(state->host_count, sizeof(*placement->hosts));
    placement->wanted = calloc(processes, sizeof(*placement->wanted));
    placement->next = calloc(processes, sizeof(*placement->next));
    placement->groups = calloc(processes, sizeof(*placement->groups));
    state->missed = calloc(processes, sizeof(*state->missed));
    return placement->hosts && placement->wanted && placement->next && placement->groups &&
           state->missed;
}

static bool allocate(struct coord *state)
{
    uint32_t processes = state->config.processes_max;
    state->hosts = calloc(state->host_count, sizeof(*state->hosts));
    state->exited = calloc(processes, sizeof(*state->exited));
    state->home = calloc(processes, sizeof(*state->home));
    state->moves_to = calloc(processes, sizeof(*state->moves_to));
    state->leads = calloc(2 * (size_t)state->host_count, sizeof(*state->leads));
    state->lost = calloc(state->host_count, sizeof(*state->lost));
    state->halt.requests = calloc(processes, sizeof(*state->halt.requests));
    state->halt.said = calloc(processes, sizeof(*state->halt.said));
    uint32_t most = processes > state->host_count ? processes : state->host_count;
    state->numbers = calloc(2 * (size_t)most, sizeof(*state->numbers));
    return state->hosts && state->exited && state->home && state->moves_to && state->leads &&
           state->lost && state->halt.requests && state->halt.said && state->numbers &&
           allocate_placement(state, processes) &&
           (!coord_has_replicas(state) || coord_groups_allocate(&state->groups, processes)) &&
           allocate_snapshots(state, processes);
}

/* Unknown loads count as idle; speeds are used only if all are known. */
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

static void note_moves(struct coord *state, struct wire_move_list moves)
{
    for (uint32_t i = 0; i < moves.count; i++) {
        const struct coord_host *host = find_host(state, moves.items[i].host);
        if (host && !coord_has_replicas(state) && moves.items[i].pid < state->config.processes_max)
            state->moves_to[moves.items[i].pid] = (uint16_t)(host - state->hosts + 1);
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
    state->config.earlier = NULL;
    state->config.lineage = NULL;
    state->config.predecessor = (struct coord_predecessor){0};
    state->takeover.spared = COORD_NEVER;
    state->config.moves = (struct wire_move_list){NULL, 0};
    if (config->processes_max == 0)
        state->config.processes_max = WIRE_RANKS_MAX;
    if (config->stop_grace_ms == 0)
        state->config.stop_grace_ms = DEFAULT_GRACE_MS;
    if (config->copies == 0)
        state->config.copies = 1;
    if (config->replicas == 0)
        state->config.replicas = 1;
    if (config->counts.count > 0)
        state->config.replicas = replica_counts_most(&config->counts, WIRE_RANKS_MAX);
    /* Images may wait for replicas that are slow. */
    state->config.rule.skips = coord_has_replicas(state);
    state->phase = COORD_WAITING;
    state->consult = COORD_NEVER;
    state->outcome.pid = COORD_NOBODY;
    state->facts.costs = config->costs;
    state->estimate = config->estimate;
    coord_add_seen(&state->estimate, &config->seen);
    coord_patience_begin(state);
    state->host_count = config->host_count;
    if (!allocate(state) || !quiet_begin(&state->quiet, state->host_count) ||
        !coord_balancing_begin(state, config->earlier)) {
        coord_free(state);
        return NULL;
    }
    if (config->lineage && state->lineage)
        *state->lineage = *config->lineage;
    state->all_drained = true;
    for (uint32_t i = 0; i < config->host_count; i++) {
        state->hosts[i].id = config->hosts[i].host;
        state->hosts[i].lead = (uint16_t)i;
        state->hosts[i].name = config->hosts[i].name ? strdup(config->hosts[i].name) : NULL;
        state->hosts[i].available = PLACEMENT_UNKNOWN;
        state->hosts[i].slots = config->hosts[i].slots;
        state->hosts[i].drained = config->hosts[i].drained;
        state->all_drained = state->all_drained && config->hosts[i].drained;
    }
    note_loads(state, config->loads);
    note_moves(state, config->moves);
    if (config->predecessor.homes.count > 0 && !coord_begin_takeover(state, &config->predecessor)) {
        coord_free(state);
        return NULL;
    }
    return state;
}

void coord_free(struct coord *state)
{
    if (!state)
        return;
    quiet_end(&state->quiet);
    for (uint32_t i = 0; state->held && i < COORD_HELD_MAX; i++) {
        free(state->held[i].has_image);
        free(state->held[i].copy_on);
        free(state->held[i].together);
        free(state->held[i].needs);
    }
    for (uint32_t i = 0; state->hosts && i < state->host_count; i++)
        free(state->hosts[i].name);
    coord_balancing_free(state);
    free(state->held);
    free(state->lineage);
    free(state->ticket.images);
    free(state->ticket.holders);
    free(state->ahead.expected);
    free(state->ahead.moves);
    free(state->hosts);
    free(state->exited);
    free(state->home);
    free(state->moves_to);
    free(state->leads);
    free(state->lost);
    free(state->halt.requests);
    free(state->halt.said);
    free(state->placement.hosts);
    free(state->placement.wanted);
    free(state->placement.next);
    free(state->placement.groups);
    free(state->missed);
    free(state->numbers);
    coord_groups_free(&state->groups);
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

bool coord_host_alive(const struct coord *state, uint32_t host)
{
    const struct coord_host *found = find_host(state, host);
    return found && found->ready && !found->lost;
}

bool coord_can_lose(const struct coord *state, uint32_t host)
{
    const struct coord_host *found = find_host(state, host);
    return found && (coord_goes_on_without(state, found) ||
                     (state->phase == COORD_ENDING && coord_has_replicas(state)));
}

bool coord_can_outlive(const struct coord *state, uint32_t host)
{
    const struct coord_host *found = find_host(state, host);
    return found && coord_survives(state, found);
}

uint32_t coord_host_count(const struct coord *state)
{
    return state->host_count;
}

uint32_t coord_host_at(const struct coord *state, uint32_t index)
{
    assert(index < state->host_count);
    return state->hosts[index].id;
}

struct coord_outcome coord_outcome(const struct coord *state)
{
    struct coord_outcome outcome = state->outcome;
    outcome.superstep = state->superstep;
    outcome.text = state->text;
    outcome.committed = state->committed;
    outcome.moving_seconds = state->config.moving_seconds;
    outcome.passed_seconds = coord_balancing_passed(state);
    if (state->outcome.cause == WIRE_CAUSE_MOVED && state->balancing.move_count > 0) {
        outcome.moves =
            (struct wire_move_list){state->balancing.moves, state->balancing.move_count};
        outcome.moving_seconds = balance_spent(state->balancing.balance);
    }
    return outcome;
}

enum coord_ticket_state coord_ticket(const struct coord *state, struct bspz_snapshot_name *name)
{
    if (name)
        *name = state->ticket.name;
    return state->ticket.state;
}

bool coord_is_addressed(const struct coord *state, uint32_t host, enum wire_kind kind)
{
    return coord_host_alive(state, host) &&
           (kind != WIRE_PERSIST || coord_keeps_manifest(state, find_host(state, host)));
}

struct policy_costs coord_costs(const struct coord *state)
{
    return state->facts.costs;
}
