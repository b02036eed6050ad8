/* job_machine.c - terms, elections, replacements, restarts; see job_machine.h.
 *
 * Happy path: START_AGENT -> AGENT_UP of all, REGISTERED -> ELECT -> COMMITTED, ... -> CLOSING ->
 * ENDED -> RECORD_FINISH -> EXIT.
 *
 * What can fail: a fault ends a term (TERM_OVER, or a host is lost): START_AGENT for what is to be
 * replaced -> AGENT_UP -> ELECT of the next term -> CHOSEN -> RECORD_TERM -> TERM_RECORDED.  Too
 * many faults, no host left, the user's wish: EXIT.
 */
#include "bsprun/launcher/job_machine_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define STARTS_MAX 3u /* of an agent in a row without success */

#define IN(state) (1u << (state))
static const struct {
    const char *name;
    unsigned next;
} states[JOB_MACHINE_STATE_COUNT] = {
    [JOB_MACHINE_GATHERING] = {"GATHERING", IN(JOB_MACHINE_RUNNING) | IN(JOB_MACHINE_OVER)},
    [JOB_MACHINE_RUNNING] = {"RUNNING", IN(JOB_MACHINE_GATHERING) | IN(JOB_MACHINE_FINISHING) |
                                            IN(JOB_MACHINE_OVER)},
    [JOB_MACHINE_FINISHING] = {"FINISHING", IN(JOB_MACHINE_OVER)},
    [JOB_MACHINE_OVER] = {"OVER", 0},
};

void machine_move(struct job_machine *machine, enum job_machine_state to)
{
    assert(states[machine->state].next & IN(to));
    machine->state = to;
}

struct job_effect *machine_add(struct job_machine *machine, struct job_effects *effects,
                               enum job_effect_kind kind)
{
    assert(effects->count < JOB_EFFECTS_MAX);
    struct job_effect *effect = &effects->items[effects->count++];
    *effect = (struct job_effect){.kind = kind, .term = machine->term, .host = machine->zero};
    return effect;
}

struct machine_host *machine_find(const struct job_machine *machine, uint32_t id)
{
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        if (machine->hosts[i].id == id)
            return &machine->hosts[i];
    return NULL;
}

/* ---- Hosts and terms ---------------------------------------------------------------------- */

static void start_agent(struct job_machine *machine, struct machine_host *host,
                        struct job_effects *effects)
{
    host->state = HOST_STARTING;
    host->starts++;
    machine_add(machine, effects, JOB_EFFECT_START_AGENT)->host = host->id;
}

/* The lost one's place is taken by a new agent there, or on a spare, or by nobody: false. */
static bool replace(struct job_machine *machine, struct machine_host *host, bool usable,
                    struct job_effects *effects)
{
    if (usable && host->starts < STARTS_MAX) {
        start_agent(machine, host, effects);
        return true;
    }
    host->state = HOST_GONE;
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        if (machine->hosts[i].state == HOST_UNUSED) {
            if (machine->program == host->id && !machine->elected)
                machine->program = machine->zero = machine->hosts[i].id;
            start_agent(machine, &machine->hosts[i], effects);
            return true;
        }
    return false;
}

static uint32_t count(const struct job_machine *machine, enum host_state state)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        found += machine->hosts[i].state == state;
    return found;
}

/* Processor Zero: where it was, if that agent lives; else, of those that do, the one that came
 * first. */
static uint32_t pick_zero(const struct job_machine *machine)
{
    const struct machine_host *host = machine_find(machine, machine->zero), *first = NULL;
    if (machine->elected && host && host->state == HOST_UP)
        return host->id;
    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        host = &machine->hosts[i];
        if (host->state == HOST_UP && (!first || host->since < first->since))
            first = host;
    }
    return first->id;
}

static void elect_when_complete(struct job_machine *machine, const struct job_event *event,
                                struct job_effects *effects)
{
    if (machine->state != JOB_MACHINE_GATHERING || count(machine, HOST_STARTING) > 0 ||
        count(machine, HOST_LEAVING) > 0)
        return;
    if (count(machine, HOST_UP) == 0) {
        machine_give_up(machine, effects);
        return;
    }
    if (event->now_ms < machine->fence_until_ms) {
        if (!machine->fenced)
            machine_add(machine, effects, JOB_EFFECT_SET_TIMER)->milliseconds =
                machine->fence_until_ms - event->now_ms;
        machine->fenced = true;
        return;
    }
    if (!machine->restores && !machine->registered)
        return;
    machine->zero = pick_zero(machine);
    machine->term++;
    machine->fenced = false;
    machine->elected = true;
    machine_forget_roll(machine);
    machine_move(machine, JOB_MACHINE_RUNNING);
    machine_add(machine, effects, JOB_EFFECT_ELECT);
}

/* ---- Faults ------------------------------------------------------------------------------- */

static bool same_fault(const struct coord_outcome *a, const struct coord_outcome *b)
{
    return a->cause == b->cause && a->pid == b->pid && a->signal == b->signal &&
           a->superstep == b->superstep;
}

/* What the job ends of, should it end now. */
static void remember_fault(struct job_machine *machine, const struct coord_outcome *outcome)
{
    struct job_fault *fault = &machine->fault;
    bool again = fault->repeats > 0 && same_fault(&fault->outcome, outcome);
    fault->repeats = again ? fault->repeats + 1 : 1;
    fault->outcome = *outcome;
    fault->outcome.text = "";
}

/* One that ends a term. */
static void note_fault(struct job_machine *machine, const struct coord_outcome *outcome)
{
    remember_fault(machine, outcome);
    machine->fault.restarts++;
}

/* As many as a step has room for: until they have come, others will follow. */
static void replace_late(struct job_machine *machine, struct job_effects *effects)
{
    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        struct machine_host *host = &machine->hosts[i];
        if (!host->unreplaced || effects->count >= JOB_EFFECTS_MAX / 2)
            continue;
        host->unreplaced = false;
        replace(machine, host, host->usable, effects);
    }
}

void machine_recover(struct job_machine *machine, const struct coord_outcome *outcome,
                     struct job_effects *effects)
{
    note_fault(machine, outcome);
    machine->closed = false; /* a term that is rolled back has not let anybody leave bsp_end */
    if (machine->stop_asked || machine->save_asked ||
        machine->fault.restarts > machine->config.max_restarts) {
        machine_give_up(machine, effects);
        return;
    }
    if (outcome->bad.term > 0 && machine->avoid_count < COORD_AVOID_MAX)
        machine->avoid[machine->avoid_count++] = outcome->bad;
    machine->restores = true;
    machine_move(machine, JOB_MACHINE_GATHERING);
    replace_late(machine, effects);
}

struct coord_outcome machine_host_lost(void)
{
    return (struct coord_outcome){
        .status = 1, .cause = WIRE_CAUSE_HOST_LOST, .pid = COORD_NOBODY, .text = ""};
}

void machine_end_of_loss(struct job_machine *machine, struct job_effects *effects)
{
    struct coord_outcome lost = machine_host_lost();
    note_fault(machine, &lost);
    machine_give_up(machine, effects);
}

void machine_dismiss(struct job_machine *machine, uint32_t id, struct job_effects *effects)
{
    struct machine_host *host = machine_find(machine, id);
    replace(machine, host, false, effects);
    host->state = HOST_LEAVING;
    machine_add(machine, effects, JOB_EFFECT_DISMISS)->host = id;
}

/* Before there was a term: nothing has run yet on a host whose agent never came, and a spare will
 * do as well.  A new job does not begin with fewer hosts than were asked for. */
static void lost_early(struct job_machine *machine, struct machine_host *host,
                       const struct job_event *event, struct job_effects *effects)
{
    if (host->state == HOST_STARTING && replace(machine, host, event->usable, effects))
        return;
    machine_end_of_loss(machine, effects);
}

static void take_agent_lost(struct job_machine *machine, const struct job_event *event,
                            struct job_effects *effects)
{
    struct machine_host *host = machine_find(machine, event->host);
    struct coord_outcome lost = machine_host_lost();
    if (!host || host->state == HOST_UNUSED || host->state == HOST_GONE) {
        effects->dropped = true;
        return;
    }
    if (event->unheard && event->now_ms + machine->config.fence_ms > machine->fence_until_ms) {
        machine->fence_until_ms = event->now_ms + machine->config.fence_ms;
        machine->fenced = false;
    }
    if (host->state == HOST_LEAVING) {
        host->state = HOST_GONE;
        return;
    }
    if (machine->state == JOB_MACHINE_RUNNING) {
        bool of_zero = host->id == machine->zero;
        host->state = HOST_GONE;
        if (machine->config.snapshots && !machine->closed) {
            machine_recover(machine, &lost, effects);
        } else if (of_zero) {
            machine_end_of_loss(machine, effects);
        } else { /* Processor Zero decides */
            host->unreplaced = true;
            host->usable = event->usable;
        }
    } else if (machine->state == JOB_MACHINE_GATHERING && !machine->elected && !machine->restores) {
        lost_early(machine, host, event, effects);
        return;
    }
    if (machine->state != JOB_MACHINE_GATHERING)
        return;
    replace(machine, host, event->usable, effects);
    /* There is no term that it would end. */
    if (machine->term > 0 && machine->fault.repeats == 0)
        remember_fault(machine, &lost);
}

/* ---- The other events --------------------------------------------------------------------- */

static void take_recorded(struct job_machine *machine, const struct job_event *event,
                          struct job_effects *effects)
{
    if (event->error == 0) {
        coord_lineage_add(&machine->config.lineage, event->term, event->name);
        machine->config.wanted = COORD_NEVER; /* from now on the lineage says it */
    }
    if (event->term != machine->term || machine->state != JOB_MACHINE_RUNNING) {
        effects->dropped = true;
    } else if (event->error > 0) {
        machine->fault.outcome = (struct coord_outcome){
            .status = 1, .cause = WIRE_CAUSE_NOT_WRITTEN, .pid = COORD_NOBODY, .text = ""};
        machine_give_up(machine, effects);
    } else {
        machine_add(machine, effects, JOB_EFFECT_TERM_RECORDED);
    }
}

/* Whether the event comes from the present term, or from an agent that was in none when its program
 * ended. */
static bool is_present(const struct job_machine *machine, const struct job_event *event)
{
    if (event->kind == JOB_EVENT_ENDED && event->term == 0)
        return machine->state == JOB_MACHINE_RUNNING || machine->state == JOB_MACHINE_GATHERING;
    return machine->state == JOB_MACHINE_RUNNING && event->term == machine->term;
}

/* What Processor Zero of the present term says. */
static void take_of_term(struct job_machine *machine, const struct job_event *event,
                         struct job_effects *effects)
{
    if (event->outcome.cause == WIRE_CAUSE_HOST_LOST && machine->config.host_count > 1 &&
        (event->kind == JOB_EVENT_TERM_OVER || event->kind == JOB_EVENT_ENDED) && event->term > 0) {
        machine_take_loss(machine, event, effects);
        return;
    }
    switch (event->kind) {
    case JOB_EVENT_CHOSEN:
        machine_add(machine, effects, JOB_EFFECT_RECORD_TERM)->name = event->name;
        break;
    case JOB_EVENT_COMMITTED:
        machine->committed = event->name;
        machine->fault.restarts = 0;
        machine->lost_before.count = 0;
        break;
    case JOB_EVENT_CLOSING:
        machine->closed = true;
        machine_add(machine, effects, JOB_EFFECT_CLOSED);
        break;
    case JOB_EVENT_TERM_OVER:
        machine_recover(machine, &event->outcome, effects);
        break;
    default:
        machine_take_ended(machine, event, effects);
        break;
    }
}

void job_machine_step(struct job_machine *machine, const struct job_event *event,
                      struct job_effects *effects)
{
    struct machine_host *host = machine_find(machine, event->host);
    bool was_running = machine->state == JOB_MACHINE_RUNNING;
    *effects = (struct job_effects){0};
    if (machine->state == JOB_MACHINE_OVER) {
        effects->dropped = true;
        return;
    }
    if (machine->state == JOB_MACHINE_GATHERING)
        replace_late(machine, effects);
    switch (event->kind) {
    case JOB_EVENT_AGENT_UP:
        if (host && host->state == HOST_STARTING) {
            host->state = HOST_UP;
            host->starts = 0;
            host->since = machine->came++;
        }
        break;
    case JOB_EVENT_AGENT_LOST:
        take_agent_lost(machine, event, effects);
        break;
    case JOB_EVENT_REGISTERED:
        machine->registered = machine->registered || (host && host->state == HOST_UP);
        break;
    case JOB_EVENT_LINK_LOST:
        machine_take_link_lost(machine, event, effects);
        break;
    case JOB_EVENT_ROLL:
        machine_take_roll(machine, effects);
        break;
    case JOB_EVENT_RECORDED:
        take_recorded(machine, event, effects);
        break;
    case JOB_EVENT_STOP:
    case JOB_EVENT_SAVE:
        machine_take_wish(machine, event, effects);
        break;
    case JOB_EVENT_FINISH_RECORDED:
        if (machine->state == JOB_MACHINE_FINISHING)
            machine_leave(machine, effects);
        break;
    case JOB_EVENT_TIMER:
        machine->fenced = false;
        break;
    default:
        if (is_present(machine, event))
            take_of_term(machine, event, effects);
        else
            effects->dropped = true;
        break;
    }
    if (was_running && machine->state == JOB_MACHINE_GATHERING &&
        count(machine, HOST_UP) + count(machine, HOST_STARTING) > 0)
        machine_add(machine, effects, JOB_EFFECT_SAY_AGAIN);
    elect_when_complete(machine, event, effects);
}

/* ---- Life --------------------------------------------------------------------------------- */

static bool is_sensible(const struct job_machine_config *config)
{
    if (config->host_count == 0 || config->spares >= config->host_count ||
        config->host_count > COORD_HOSTS_MAX || (config->restore && !config->snapshots))
        return false;
    for (uint32_t i = 0; i < config->host_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (config->hosts[i].host == config->hosts[j].host)
                return false;
    return true;
}

struct job_machine *job_machine_new(const struct job_machine_config *config,
                                    struct job_effects *effects)
{
    *effects = (struct job_effects){0};
    if (!is_sensible(config))
        return NULL;
    struct job_machine *machine = calloc(1, sizeof(*machine));
    struct machine_host *hosts = calloc(config->host_count, sizeof(*hosts));
    if (!machine || !hosts) {
        free(machine);
        free(hosts);
        return NULL;
    }
    machine->config = *config;
    machine->config.hosts = NULL;
    machine->hosts = hosts;
    if (!config->restore)
        machine->config.wanted = COORD_NEVER;
    machine->term = config->last_term;
    machine->restores = config->restore;
    machine->fault.outcome = machine_host_lost();
    machine_forget_roll(machine);
    machine->program = machine->zero = config->hosts[0].host;
    for (uint32_t i = 0; i < config->host_count; i++) {
        hosts[i].id = config->hosts[i].host;
        hosts[i].state = i < config->host_count - config->spares ? HOST_STARTING : HOST_UNUSED;
        hosts[i].starts = hosts[i].state == HOST_STARTING;
    }
    if (config->finished) {
        machine->outcome = (struct coord_outcome){
            .status = config->finished_status, .pid = COORD_NOBODY, .text = ""};
        machine_leave(machine, effects);
    }
    return machine;
}

void job_machine_free(struct job_machine *machine)
{
    if (!machine)
        return;
    free(machine->hosts);
    free(machine);
}

const char *job_machine_state_name(enum job_machine_state state)
{
    return (unsigned)state < JOB_MACHINE_STATE_COUNT ? states[state].name : "unknown";
}

bool job_machine_member(const struct job_machine *machine, uint32_t host)
{
    const struct machine_host *found = machine_find(machine, host);
    return found && found->state == HOST_UP;
}
