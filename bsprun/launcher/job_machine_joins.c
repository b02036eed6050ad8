/* job_machine_joins.c - hosts that come while the job runs, and hosts that it leaves by request.
 *
 * Happy path: USE of a host that takes no part, or a lost one is tried again -> START_AGENT, and
 * the term goes on -> AGENT_UP -> the term is to end at a snapshot -> the next one has the host.
 *
 * What can fail: its agent does not come or is lost: the term goes on without it.
 */
#include "bsprun/launcher/job_machine_inside.h"

#define RETRIES_DOUBLE 6u /* the interval between two of them grows to 64 times the first */

void machine_start_agent(struct job_machine *machine, struct machine_host *host,
                         enum host_state state, struct job_effects *effects)
{
    host->state = state;
    host->starts++;
    host->retry_at_ms = 0;
    host->usable = false;
    machine_add(machine, effects, JOB_EFFECT_START_AGENT)->host = host->id;
}

/* Whether a term can be ended to go on with other hosts. */
static bool can_move(const struct job_machine *machine)
{
    return machine->config.snapshots && !machine->closed;
}

void machine_move_processes(struct job_machine *machine, struct job_effects *effects)
{
    if (machine->state != JOB_MACHINE_RUNNING || !can_move(machine))
        return;
    machine_add(machine, effects, JOB_EFFECT_SAVE)->move = true;
    machine_note_asked(machine, NULL, true);
}

/* ---- They come ----------------------------------------------------------------------------- */

static void enter(struct job_machine *machine, struct machine_host *host)
{
    host->state = HOST_UP;
    host->starts = 0;
    host->since = machine->came++;
    host->took_part = true;
}

void machine_take_agent_up(struct job_machine *machine, const struct job_event *event,
                           struct job_effects *effects)
{
    struct machine_host *host = machine_find(machine, event->host);
    if (!host || (host->state != HOST_STARTING && host->state != HOST_COMING))
        return;
    if (host->state == HOST_COMING)
        machine->anew = ANEW_WANTED;
    if (host->state == HOST_COMING && machine->state == JOB_MACHINE_RUNNING) {
        host->state = HOST_WAITING;
        machine_move_processes(machine, effects);
    } else {
        enter(machine, host);
    }
}

void machine_let_join(struct job_machine *machine)
{
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        if (machine->hosts[i].state == HOST_WAITING)
            enter(machine, &machine->hosts[i]);
}

void machine_lose_outsider(struct job_machine *machine, struct machine_host *host,
                           const struct job_event *event, struct job_effects *effects)
{
    bool left = host->state == HOST_LEAVING;
    bool wanted = host->use == JOB_USE_OPEN && !host->excluded;
    host->state = HOST_GONE;
    if (left ? wanted : event->usable && host->starts < STARTS_MAX)
        machine_start_agent(machine, host, HOST_COMING, effects);
    else
        host->starts = 0;
    host->usable = host->state == HOST_GONE && event->usable;
}

void machine_start_last_resort(struct job_machine *machine, struct job_effects *effects)
{
    for (uint32_t i = 0; machine->restores && i < machine->config.host_count; i++) {
        struct machine_host *host = &machine->hosts[i];
        if (host->state == HOST_GONE && host->usable && host->use == JOB_USE_OPEN &&
            !host->excluded && effects->count < JOB_EFFECTS_MAX / 2)
            machine_start_agent(machine, host, HOST_STARTING, effects);
    }
}

void machine_call_spare(struct job_machine *machine, struct job_effects *effects)
{
    for (uint32_t i = 0; can_move(machine) && i < machine->config.host_count; i++) {
        if (machine->hosts[i].state != HOST_UNUSED || machine->hosts[i].use != JOB_USE_OPEN)
            continue;
        machine_start_agent(machine, &machine->hosts[i], HOST_COMING, effects);
        return;
    }
}

/* ---- Lost ones are tried again ------------------------------------------------------------- */

/* The hosts that take part, or will if they come up. */
static uint32_t count_taking_part(const struct job_machine *machine)
{
    return machine_count(machine, HOST_UP) + machine_count(machine, HOST_WAITING) +
           machine_count(machine, HOST_COMING);
}

static bool is_tried_again(const struct job_machine *machine, const struct machine_host *host)
{
    return machine->config.retry_ms > 0 && can_move(machine) && host->state == HOST_GONE &&
           (host->use == JOB_USE_OPEN || host->use == JOB_USE_LEFT) && host->took_part &&
           !host->excluded && count_taking_part(machine) < machine->begun_with;
}

void machine_plan_retries(struct job_machine *machine, uint64_t now_ms, struct job_effects *effects)
{
    uint64_t first = machine->roll.decide_at_ms;
    if (machine->state != JOB_MACHINE_RUNNING)
        return;
    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        struct machine_host *host = &machine->hosts[i];
        if (!is_tried_again(machine, host)) {
            host->retry_at_ms = 0;
            continue;
        }
        uint64_t least = machine->config.fence_ms; /* its former agent may live so long */
        uint64_t wait = machine->config.retry_ms << host->retries;
        if (host->retry_at_ms == 0)
            host->retry_at_ms = now_ms + (wait > least ? wait : least);
        if (first == 0 || host->retry_at_ms < first)
            first = host->retry_at_ms;
    }
    if (first > 0 && first != machine->retry_timer_ms)
        machine_add(machine, effects, JOB_EFFECT_SET_TIMER)->milliseconds =
            first > now_ms ? first - now_ms : 0;
    machine->retry_timer_ms = first;
}

void machine_retry(struct job_machine *machine, uint64_t now_ms, struct job_effects *effects)
{
    machine->retry_timer_ms = 0;
    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        struct machine_host *host = &machine->hosts[i];
        if (host->retry_at_ms == 0 || host->retry_at_ms > now_ms ||
            !is_tried_again(machine, host) || effects->count >= JOB_EFFECTS_MAX / 2)
            continue;
        host->retries += host->retries < RETRIES_DOUBLE;
        host->starts = 0;
        machine_start_agent(machine, host, HOST_COMING, effects);
        effects->items[effects->count - 1].again = true;
    }
}

/* ---- By request ---------------------------------------------------------------------------- */

/* Not the last one; another step dismisses those that this one has no room for. */
void machine_remove_drained(struct job_machine *machine, struct job_effects *effects)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < machine->config.host_count; i++)
        others +=
            (machine->hosts[i].state == HOST_UP || machine->hosts[i].state == HOST_STARTING) &&
            machine->hosts[i].use != JOB_USE_REMOVED;
    if (others == 0)
        return;
    for (uint32_t i = 0; i < machine->config.host_count; i++) {
        struct machine_host *host = &machine->hosts[i];
        if (host->use != JOB_USE_REMOVED || host->state != HOST_UP ||
            effects->count >= JOB_EFFECTS_MAX / 2)
            continue;
        host->state = HOST_LEAVING;
        machine_add(machine, effects, JOB_EFFECT_DISMISS)->host = host->id;
    }
}

/* A host that was not named at the beginning. */
static struct machine_host *admit(struct job_machine *machine, const struct job_event *event)
{
    if (event->use != JOB_USE_OPEN || machine->config.host_count == machine->config.room)
        return NULL;
    struct machine_host *host = &machine->hosts[machine->config.host_count++];
    *host = (struct machine_host){.id = event->host, .state = HOST_UNUSED};
    return host;
}

static void open_host(struct job_machine *machine, struct machine_host *host,
                      struct job_effects *effects)
{
    bool drained = host->use != JOB_USE_OPEN;
    host->use = JOB_USE_OPEN;
    host->excluded = false;
    host->retries = 0;
    if (host->state == HOST_UNUSED || host->state == HOST_GONE) {
        host->starts = 0;
        machine_start_agent(machine, host, HOST_COMING, effects);
    } else if (drained && host->state != HOST_LEAVING) {
        machine->anew = ANEW_WANTED;
        machine_move_processes(machine, effects);
    }
}

void machine_take_use(struct job_machine *machine, const struct job_event *event,
                      struct job_effects *effects)
{
    struct machine_host *host = machine_find(machine, event->host);
    if (!host)
        host = admit(machine, event);
    if (!host || !can_move(machine) ||
        (event->use != JOB_USE_OPEN && !job_machine_can_drain(machine, event->host))) {
        effects->dropped = true;
        return;
    }
    if (event->use == JOB_USE_OPEN) {
        open_host(machine, host, effects);
    } else {
        host->use = event->use;
        machine_move_processes(machine, effects);
    }
}
