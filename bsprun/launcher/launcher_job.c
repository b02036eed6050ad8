/* launcher_job.c - runs the job machine: passes in events, carries out effects.
 *
 * Happy path: AGENT_UP -> REGISTERED -> ELECT -> COMMITTED ... -> CLOSING -> CLOSED -> ENDED ->
 * RECORD_FINISH -> EXIT.
 *
 * What can fail: a fault ends a term, and the next one begins from a snapshot; when that is no
 * longer possible, EXIT follows with the last fault.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/launcher_inside.h"

/* ---- Effects ---- */

static void elect(struct launcher *launcher, const struct job_effect *effect)
{
    const struct coord_lineage *lineage = job_machine_lineage(launcher->machine);
    struct wire_message message = {.kind = WIRE_ELECT};
    uint64_t replicas[2 * REPLICA_RUNS_MAX];
    struct wire_begun avoid[COORD_AVOID_MAX];
    struct elect_lists *lists = &launcher->elect_lists;
    struct evidence_room room;
    uint32_t members = 0;
    const struct bspz_snapshot_name *names;
    uint32_t count = job_machine_avoid(launcher->machine, &names);

    launcher->agent_status = 0;
    if (!launcher->has_elected && !job_machine_restores(launcher->machine))
        launcher_warn_oversubscribed(launcher);
    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        const struct launcher_agent *agent = &launcher->agents.items[i];

        if (!job_machine_member(launcher->machine, agent->host))
            continue;
        lists->hosts[members] =
            (struct wire_host){agent->host, agent->slots, agent->name,
                               job_machine_drained(launcher->machine, agent->host)};
        lists->busy[members] = agent->load.busy;
        lists->speeds[members] = agent->load.speed;
        lists->addresses[members++] = agent->addresses ? agent->addresses : "";
    }
    for (uint32_t i = 0; i < count; i++)
        avoid[i] = (struct wire_begun){.from = names[i]};
    message.elect.elected = effect->host;
    message.elect.hosts = (struct wire_host_list){lists->hosts, members};
    if (agents_has_hosts(&launcher->agents))
        message.elect.addresses = (struct wire_texts){lists->addresses, members};
    if (launcher->common.options->hosts.load) {
        message.elect.busy = (struct wire_numbers){lists->busy, members};
        message.elect.speeds = (struct wire_numbers){lists->speeds, members};
    }
    message.elect.restore = job_machine_restores(launcher->machine);
    message.elect.wanted = job_machine_wanted(launcher->machine);
    message.elect.begun = (struct wire_begun_list){lineage->items, lineage->count};
    message.elect.avoid = (struct wire_begun_list){avoid, count};
    message.elect.anew = effect->anew;
    message.elect.moves = wanted_moves_list(&launcher->wanted_moves);
    message.elect.moving_seconds = launcher->moving_seconds;
    message.elect.passed_seconds = launcher->passed_seconds;
    message.elect.by_node = launcher->common.options->hosts.by_node;
    message.elect.first_of_run = !launcher->has_elected;
    launcher->has_elected = true;
    launcher_replicas_elect(launcher);
    message.elect.replicas = replica_counts_list(&launcher->common.replicas, replicas);
    learning_elect(&launcher->learning, members, &room, &message.elect);
    if (message.elect.restore)
        stdin_go_back(&launcher->input);
    output_begin_term(&launcher->output, launcher->machine);
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (job_machine_member(launcher->machine, launcher->agents.items[i].host))
            agents_send(&launcher->agents.items[i], &message);
}

/* The hosts that it names as lost include those that are in none of the terms. */
static void take_over(struct launcher *launcher, const struct job_effect *effect)
{
    struct wire_message message = {.kind = WIRE_TAKE_OVER};
    bool replicas = replica_view_any(&launcher->replicas);
    uint64_t *lost = launcher->elect_lists.lost;
    uint32_t count = 0;

    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (!job_machine_goes_on(launcher->machine, i)) {
            lost[count++] = i;
            if (replicas)
                output_lose(&launcher->output, i);
        }
    message.take_over.elected = effect->host;
    message.take_over.lost = (struct wire_numbers){lost, count};
    if (launcher->committed.term > 0)
        message.take_over.committed = launcher->committed;
    notices_say(
        &launcher->common.notices,
        replicas ? "host %s was lost; processes with replicas elsewhere continue there, and host "
                   "%s is Processor Zero now"
                 : "host %s was lost; host %s is Processor Zero now",
        launcher->agents.items[effect->peer].name, launcher->agents.items[effect->host].name);
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (job_machine_goes_on(launcher->machine, i))
            agents_send(&launcher->agents.items[i], &message);
}

static void record_term(struct launcher *launcher, const struct job_effect *effect)
{
    char error[SAVED_TEXT];
    uint32_t failed = saved_term(&launcher->common.saved, effect->term, effect->name, error);

    if (failed) {
        notices_say(&launcher->common.notices, "%s", error);
        launcher->unrecorded_told = true;
    }
    launcher_step(launcher, (struct job_event){.kind = JOB_EVENT_RECORDED,
                                               .term = effect->term,
                                               .name = effect->name,
                                               .error = failed});
    if (failed)
        return;
    launcher->committed = effect->name;
    launcher_note_stopped(launcher);
    account_back(&launcher->account, effect->name);
    launcher_note(launcher, &(struct timeline_event){.kind = TIMELINE_BACK,
                                                     .superstep = effect->name.superstep});
    output_go_back(&launcher->output, effect->name);
    stdin_begin_at(&launcher->input, effect->name);
    if (launcher->common.options->verbosity > 0 && !launcher->fault_untold)
        notices_say(&launcher->common.notices, "job %s continues from superstep %llu",
                    store_job_name(launcher->common.saved.store),
                    (unsigned long long)effect->name.superstep);
    launcher_tell_rollback(launcher, &effect->name);
}

static void record_finish(struct launcher *launcher, const struct job_effect *effect)
{
    char error[SAVED_TEXT];

    if (saved_finish(&launcher->common.saved, effect->status, effect->term,
                     launcher->committed.superstep, error))
        notices_say(&launcher->common.notices, "%s", error);
    else
        launcher->finish_noted = true;
    launcher_step(launcher, (struct job_event){.kind = JOB_EVENT_FINISH_RECORDED});
}

void launcher_over(struct launcher *launcher, enum life_state state, int status)
{
    bool well = job_machine_outcome(launcher->machine).cause == WIRE_CAUSE_NONE;

    life_move(&launcher->common.life, state);
    launcher->status = status;
    agents_over(&launcher->agents, !launcher->common.saved.store ? LEFTOVERS_STAY
                                   : well                        ? LEFTOVERS_COPIES_DIE
                                                                 : LEFTOVERS_DIE);
}

static void leave(struct launcher *launcher, const struct job_effect *effect)
{
    struct coord_outcome outcome = job_machine_outcome(launcher->machine);
    bool asked = (outcome.cause == WIRE_CAUSE_SAVED || outcome.cause == WIRE_CAUSE_STOPPED) &&
                 (outcome.signal == SIGTERM || outcome.signal == SIGUSR2);
    int status = effect->status;

    if (launcher->forced_status)
        status = launcher->forced_status;
    else if (outcome.cause == WIRE_CAUSE_HOST_LOST && launcher->agent_status > 0)
        status = launcher->agent_status;
    if (!life_is_over(&launcher->common.life)) /* else a forced status has ended it already */
        launcher_over(launcher, LIFE_OVER, status);
    learning_end(&launcher->learning, asked && !launcher->end_requested);
}

static void tell_zero(struct launcher *launcher, const struct job_effect *effect)
{
    struct wire_message message = {.kind = WIRE_CLOSED};

    if (effect->kind == JOB_EFFECT_TERM_RECORDED) {
        message.kind = WIRE_TERM_RECORDED;
    } else if (effect->kind == JOB_EFFECT_STOP) {
        message.kind = WIRE_STOP;
        message.stop.how = effect->how;
        message.stop.signal = effect->signal;
    } else if (effect->kind == JOB_EFFECT_SAVE) {
        message.kind = WIRE_SAVE;
        message.save.stop = effect->stop;
        message.save.move = effect->move;
        message.save.signal = effect->signal;
        message.save.grace_ms = effect->milliseconds;
        owners_asked(&launcher->owners, &launcher->agents, effect->move, launcher_now_ms());
    }
    if (message.kind == WIRE_SAVE && message.save.move) {
        if (!launcher_ask_to_move(launcher, effect->host, &message))
            launcher_query_status(launcher, false);
        return;
    }
    agents_send(&launcher->agents.items[effect->host], &message);
}

static void start_agent(struct launcher *launcher, struct launcher_agent *agent)
{
    bool joins = job_machine_joins(launcher->machine, agent->host);

    /* Before the first term all that were asked for must come. */
    if (!agent->local && job_machine_term(launcher->machine) > 0 &&
        allocation_hold(&launcher->allocation, agent->host))
        return;
    if (agents_start(agent))
        return;
    launcher_step(
        launcher,
        (struct job_event){.kind = JOB_EVENT_AGENT_LOST, .host = agent->host, .usable = !joins});
    if (joins)
        launcher_tell_not_joined(launcher, agent, "no agent can be started there");
}

/* A host that lives but is not heard by others: it must not wait for another Processor Zero. */
static void tell_lost(struct launcher *launcher, uint32_t host)
{
    struct wire_message message = {.kind = WIRE_LINK_LOST};

    message.link_lost.host = message.link_lost.peer = host;
    message.link_lost.text = "";
    if (job_machine_member(launcher->machine, host))
        agents_send(&launcher->agents.items[host], &message);
}

static void carry_out(struct launcher *launcher, const struct job_effect *effect)
{
    switch (effect->kind) {
    case JOB_EFFECT_RECORD_TERM:
        record_term(launcher, effect);
        break;
    case JOB_EFFECT_RECORD_FINISH:
        record_finish(launcher, effect);
        break;
    case JOB_EFFECT_START_AGENT:
        launcher->agents.items[effect->host].tried_again = effect->again;
        start_agent(launcher, &launcher->agents.items[effect->host]);
        break;
    case JOB_EFFECT_CALL:
        agents_call_roll(&launcher->agents);
        break;
    case JOB_EFFECT_BLAME:
        launcher_blame(launcher, effect);
        break;
    case JOB_EFFECT_LOST_TO_ZERO:
        if (replica_view_any(&launcher->replicas)) {
            notices_say(&launcher->common.notices,
                        "host %s was lost; processes with replicas elsewhere continue there",
                        launcher->agents.items[effect->host].name);
            output_lose(&launcher->output, effect->host);
        }
        launcher_lost_to_zero(launcher, effect->host, launcher_last_fault(launcher));
        if (replica_view_any(&launcher->replicas))
            tell_lost(launcher, effect->host);
        break;
    case JOB_EFFECT_DISMISS:
        if (!agents_dismiss(&launcher->agents.items[effect->host]))
            launcher_step(launcher,
                          (struct job_event){.kind = JOB_EVENT_AGENT_LOST, .host = effect->host});
        break;
    case JOB_EFFECT_SAY_AGAIN:
        launcher->fault_untold = true;
        launcher->faults++;
        launcher_note_stopped(launcher);
        break;
    case JOB_EFFECT_ELECT:
        elect(launcher, effect);
        break;
    case JOB_EFFECT_TAKE_OVER:
        take_over(launcher, effect);
        break;
    case JOB_EFFECT_SET_TIMER:
        uv_timer_start(&launcher->machine_timer, launcher->machine_due, effect->milliseconds, 0);
        break;
    case JOB_EFFECT_EXIT:
        leave(launcher, effect);
        break;
    default:
        tell_zero(launcher, effect);
        break;
    }
}

/* ---- Events ---- */

static void handle(struct launcher *launcher, const struct job_event *event)
{
    struct job_effects *effects = &launcher->effects;

    if (event->kind == JOB_EVENT_AGENT_LOST)
        launcher_replicas_lose(launcher, event->host);
    job_machine_step(launcher->machine, event, effects);
    agents_set_term(&launcher->agents, job_machine_term(launcher->machine));
    if (effects->dropped && event->kind == JOB_EVENT_ENDED) {
        free(launcher->last_text);
        free(launcher->last_table);
        launcher->last_text = launcher->last_table = NULL;
    }
    for (uint32_t i = 0; i < effects->count; i++)
        carry_out(launcher, &effects->items[i]);
}

void launcher_step(struct launcher *launcher, struct job_event event)
{
    if (launcher->event_count == LAUNCHER_EVENTS)
        return; /* cannot happen: an effect makes at most one event */
    event.now_ms = launcher_now_ms();
    launcher->events[launcher->event_count++] = event;
    if (launcher->handling)
        return;
    launcher->handling = true;
    while (launcher->event_count > 0) {
        struct job_event next = launcher->events[0];

        launcher->event_count--;
        memmove(launcher->events, launcher->events + 1,
                launcher->event_count * sizeof *launcher->events);
        handle(launcher, &next);
    }
    launcher->handling = false;
}

static uint32_t own_host(const struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (launcher->agents.items[i].local)
            return i;
    return JOB_NO_HOST;
}

bool launcher_begin_job(struct launcher *launcher)
{
    const struct saved *saved = &launcher->common.saved;
    struct wire_host *hosts = calloc(launcher->agents.count, sizeof *hosts);

    for (uint32_t i = 0; hosts && i < launcher->agents.count; i++)
        hosts[i].host = i;
    const struct job_machine_config config = {
        .host_count = launcher->agents.count,
        .hosts = hosts,
        .spares = launcher->agents.count - launcher->agents.starters,
        .room = launcher->agents.room,
        .replicas = replica_view_any(&launcher->replicas),
        .own = own_host(launcher),
        .fence_ms = launcher->common.options->hosts.heartbeat_ms,
        .retry_ms = launcher->common.options->hosts.rejoin_ms,
        .snapshots = launcher_has_snapshots(launcher),
        .restore = saved->restart,
        .wanted = launcher->common.options->snapshots.restart_at,
        .last_term = saved->last_term,
        .lineage = saved->lineage,
        .max_restarts = launcher->common.options->snapshots.max_restarts,
    };

    launcher->machine = hosts ? job_machine_new(&config, &launcher->effects) : NULL;
    free(hosts);
    if (!launcher->machine)
        return false;
    agents_set_term(&launcher->agents, job_machine_term(launcher->machine));
    if (saved->restart)
        account_down(&launcher->account, launcher_now_ms());
    if (saved->restart && saved->has_manifest)
        launcher->committed = saved->manifest.name;
    return true;
}
