/* job_machine.c - the terms of a job; see job_machine.h.
 *
 * Happy path: START_AGENT -> AGENT_UP of all, REGISTERED -> ELECT -> COMMITTED, ... -> CLOSING ->
 * ENDED -> RECORD_FINISH -> EXIT.
 *
 * What can fail: a fault ends a term (TERM_OVER, or a host is lost): START_AGENT for replacements
 * -> AGENT_UP -> ELECT of the next term -> CHOSEN -> RECORD_TERM -> TERM_RECORDED.  Too many
 * faults, no host left, the user's request: EXIT.
 */
#include "bsprun/launcher/job_machine_inside.h"

#include <stdlib.h>

/* ---- Terms -------------------------------------------------------------------------------- */

/* Elects Processor Zero: the same host, if its agent lives; else the agent that came up first. */
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

static bool is_any_drained(const struct job_machine *machine)
{
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        if (machine->hosts[i].state == HOST_UP && machine->hosts[i].use != JOB_USE_OPEN)
            return true;
    return false;
}

static void elect_when_complete(struct job_machine *machine, const struct job_event *event,
                                struct job_effects *effects)
{
    if (machine->state != JOB_MACHINE_GATHERING || machine_count(machine, HOST_STARTING) > 0 ||
        machine_count(machine, HOST_LEAVING) > 0)
        return;
    if (machine_count(machine, HOST_UP) == 0) {
        if (machine_count(machine, HOST_COMING) == 0)
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
    machine->config.replicas = machine->replicas_next;
    machine->zero = pick_zero(machine);
    machine->term++;
    machine->fenced = false;
    machine->retry_timer_ms = 0;
    machine->elected = true;
    machine_forget_roll(machine);
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        machine->hosts[i].given_up = machine->hosts[i].behind = machine->hosts[i].bears =
            machine->hosts[i].asked = false;
    machine_move(machine, JOB_MACHINE_RUNNING);
    machine_add(machine, effects, JOB_EFFECT_ELECT)->anew = machine->anew != ANEW_NOT;
    machine_renew_asked(machine, effects);
    if (machine->anew == ANEW_WANTED)
        machine->anew = ANEW_UNTIL_COMMIT;
    /* Process 0 is where it began. */
    if (!machine->restores && machine->config.snapshots && is_any_drained(machine))
        machine_move_processes(machine, effects);
}

/* ---- The other events --------------------------------------------------------------------- */

static void take_recorded(struct job_machine *machine, const struct job_event *event,
                          struct job_effects *effects)
{
    if (event->error == 0) {
        coord_lineage_add(&machine->config.lineage, event->term, event->name);
        machine->config.wanted = COORD_NEVER; /* from now on determined by the lineage */
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

/* Whether the event is of the present term, or of an agent that was in none when its program
 * ended. */
static bool is_present(const struct job_machine *machine, const struct job_event *event)
{
    if (event->kind == JOB_EVENT_ENDED && event->term == 0)
        return machine->state == JOB_MACHINE_RUNNING || machine->state == JOB_MACHINE_GATHERING;
    return machine->state == JOB_MACHINE_RUNNING && event->term == machine->term;
}

/* Handles events from Processor Zero of the present term. */
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
        machine_note_snapshot(machine, event);
        if (machine->anew == ANEW_UNTIL_COMMIT)
            machine->anew = ANEW_NOT;
        break;
    case JOB_EVENT_UNSAVED:
        machine_note_snapshot(machine, event);
        break;
    case JOB_EVENT_CLOSING:
        machine->closed = true;
        machine->cut_short = event->cut_short;
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

static bool is_any_left(const struct job_machine *machine)
{
    return machine_count(machine, HOST_UP) + machine_count(machine, HOST_STARTING) +
               machine_count(machine, HOST_COMING) >
           0;
}

/* Between terms: the job goes on if there is a host for it. */
static void go_on(struct job_machine *machine, const struct job_event *event, bool was_running,
                  struct job_effects *effects)
{
    if (!is_any_left(machine))
        machine_start_last_resort(machine, effects);
    if (was_running && event->outcome.cause != WIRE_CAUSE_MOVED && is_any_left(machine))
        machine_add(machine, effects, JOB_EFFECT_SAY_AGAIN);
}

/* What Processor Zero says of a host. */
static void take_of_host(struct job_machine *machine, struct machine_host *host,
                         const struct job_event *event, struct job_effects *effects)
{
    if (!host || machine->state != JOB_MACHINE_RUNNING || event->term != machine->term)
        effects->dropped = true;
    else if (event->kind == JOB_EVENT_BEARABLE)
        host->bears = event->bears;
    else if (host->asked) {
        host->asked = false; /* it is tried again as any that was lost before */
        machine_call_spare(machine, effects);
    }
}

static void take_event(struct job_machine *machine, const struct job_event *event,
                       struct job_effects *effects)
{
    struct machine_host *host = machine_find(machine, event->host);

    switch (event->kind) {
    case JOB_EVENT_AGENT_UP:
        machine_take_agent_up(machine, event, effects);
        break;
    case JOB_EVENT_AGENT_LOST:
        machine_take_agent_lost(machine, event, effects);
        break;
    case JOB_EVENT_REGISTERED:
        machine->registered = machine->registered || (host && host->state == HOST_UP);
        break;
    case JOB_EVENT_PLACED:
    case JOB_EVENT_RUNNING:
        if (event->replicas)
            machine->replicated_term = event->term;
        break;
    case JOB_EVENT_BEARABLE:
    case JOB_EVENT_SURVIVED:
        take_of_host(machine, host, event, effects);
        break;
    case JOB_EVENT_LINK_LOST:
        machine_take_link_lost(machine, event, effects);
        break;
    case JOB_EVENT_ROLL:
        machine_take_roll(machine, event->now_ms, effects);
        break;
    case JOB_EVENT_RECORDED:
        take_recorded(machine, event, effects);
        break;
    case JOB_EVENT_STOP:
    case JOB_EVENT_SAVE:
        machine_take_request(machine, event, effects);
        break;
    case JOB_EVENT_USE:
        machine_take_use(machine, event, effects);
        break;
    case JOB_EVENT_PLACE:
    case JOB_EVENT_MOVE:
        if (event->kind == JOB_EVENT_PLACE)
            machine->anew = ANEW_WANTED;
        machine_move_processes(machine, effects);
        break;
    case JOB_EVENT_REPLICAS:
        machine->replicas_next = event->replicas > 1;
        machine->anew = ANEW_WANTED; /* other hosts than those with copies may be free */
        machine_move_processes(machine, effects);
        break;
    case JOB_EVENT_FINISH_RECORDED:
        if (machine->state == JOB_MACHINE_FINISHING)
            machine_leave(machine, effects);
        break;
    case JOB_EVENT_TIMER:
        machine->fenced = false;
        if (machine->state == JOB_MACHINE_RUNNING)
            machine_retry(machine, event->now_ms, effects);
        if (machine->state == JOB_MACHINE_RUNNING)
            machine_decide_links(machine, event->now_ms, effects);
        break;
    default:
        if (is_present(machine, event))
            take_of_term(machine, event, effects);
        else
            effects->dropped = true;
        break;
    }
}

void job_machine_step(struct job_machine *machine, const struct job_event *event,
                      struct job_effects *effects)
{
    bool was_running = machine->state == JOB_MACHINE_RUNNING;
    uint32_t zero = machine->zero;
    *effects = (struct job_effects){0};
    if (machine->state != JOB_MACHINE_OVER)
        machine_check(machine, effects);
    if (machine->state == JOB_MACHINE_OVER) {
        effects->dropped = true;
        return;
    }
    if (machine->state == JOB_MACHINE_GATHERING) {
        machine_replace_late(machine, effects);
        if (machine->elected)
            machine_remove_drained(machine, effects);
    }
    take_event(machine, event, effects);
    if (was_running && machine->state == JOB_MACHINE_RUNNING && machine->zero != zero)
        machine_review_links(machine, effects);
    if (machine->state == JOB_MACHINE_GATHERING)
        go_on(machine, event, was_running, effects);
    elect_when_complete(machine, event, effects);
    machine_plan_retries(machine, event->now_ms, effects);
    machine_check(machine, effects);
}

/* ---- Life --------------------------------------------------------------------------------- */

static bool is_sensible(const struct job_machine_config *config)
{
    if (config->host_count == 0 || config->spares >= config->host_count ||
        config->host_count > COORD_HOSTS_MAX || config->room > COORD_HOSTS_MAX ||
        (config->restore && !config->snapshots))
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
    uint32_t room = config->room > config->host_count ? config->room : config->host_count;
    struct machine_host *hosts = calloc(room, sizeof(*hosts));
    if (!machine || !hosts) {
        free(machine);
        free(hosts);
        return NULL;
    }
    machine->config = *config;
    machine->config.hosts = NULL;
    machine->config.room = room;
    machine->begun_with = config->host_count - config->spares;
    machine->hosts = hosts;
    if (!config->restore)
        machine->config.wanted = COORD_NEVER;
    machine->term = config->last_term;
    machine->restores = config->restore;
    machine->replicas_next = config->replicas;
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
