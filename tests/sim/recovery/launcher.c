/* launcher.c - the made-up bsprun around the real job machine, and the links that it hears of. */
#include "tests/sim/recovery/made_up.h"

#include <errno.h>

#define STARTS_MAX 3u   /* of an agent in a row without success */
#define SILENCE_MS 100u /* after which a link is lost */

struct action *tell_bsprun(struct world *world, uint32_t host, struct job_event event)
{
    if (world->agents[host].cut_off)
        return NULL;
    event.host = world->agents[host].id;
    struct action *action = plan_on_link(world, DO_JOB_EVENT, host, 3);
    action->event = event;
    action->number = world->machine_life;
    return action;
}

static void record(struct world *world, struct job_event event)
{
    if (world->fail_write && event.kind != JOB_EVENT_TIMER && apart(world, 2) == 0) {
        world->fail_write = false;
        world->not_recorded = true;
        event.error = ENOSPC;
    }
    struct action *action = plan(world, DO_JOB_EVENT, 1 + random_below(world, 20));
    action->event = event;
    action->number = world->machine_life;
}

static void elect(struct world *world, const struct job_effect *effect)
{
    if (effect->term >= TERMS)
        fail(world, "terms without end");
    uint32_t zero = host_index(world, effect->host);
    world->closing = world->cut_short = world->nothing_saved = world->no_memory = false;
    learned_elect(world, effect->term);
    world->anew = effect->anew;
    zero_create(world, zero, effect->term);
    for (uint32_t i = 0; i < world->host_count; i++) {
        if (!job_machine_member(world->machine, world->agents[i].id) || world->agents[i].cut_off)
            continue;
        struct action *action = plan_on_link(world, DO_ELECT, i, 2);
        action->term = effect->term;
        action->number = zero;
        for (uint32_t k = 0; k < world->host_count; k++)
            if (!hears(world, i, k) && job_machine_member(world->machine, world->agents[k].id))
                plan_complaint(world, i, k, effect->term);
    }
}

/* Who cannot answer is lost sooner or later, which is told. */
static void call_roll(struct world *world)
{
    struct action *action = plan(world, DO_JOB_EVENT, 1 + random_below(world, 40));
    action->event = (struct job_event){.kind = JOB_EVENT_ROLL};
    action->number = world->machine_life;
}

static bool all_answer(const struct world *world)
{
    for (uint32_t i = 0; i < world->host_count; i++)
        if (job_machine_member(world->machine, world->agents[i].id) &&
            (!world->agents[i].up || world->agents[i].cut_off))
            return false;
    return true;
}

static void dismiss(struct world *world, uint32_t host)
{
    note(world, "host %u is dismissed", world->agents[host].id);
    world->dismissals++;
    world->agents[host].dismissed = true;
    plan_on_link(world, DO_DISMISSED, host, 2);
}

static void lost_to_zero(struct world *world, uint32_t host)
{
    struct action *notice = plan(world, DO_NOTICE, 1 + random_below(world, 10));
    notice->host = host;
    notice->term = job_machine_term(world->machine);
}

static void leave(struct world *world, const struct job_effect *effect)
{
    world->over = true;
    world->exit_status = effect->status;
    world->outcome = job_machine_outcome(world->machine);
    note(world, "bsprun ends with status %d: %s", effect->status,
         wire_cause_text(world->outcome.cause));
    check_outcome(world);
    char reason[JOB_REASON_MAX] = "";
    if (world->exit_status != 0 && job_machine_reason(world->machine, reason)[0] == '\0')
        fail(world, "bsprun ends with status %d and no word", world->exit_status);
    note(world, "bsprun says: %s", reason);
    for (uint32_t i = 0; i < world->host_count; i++)
        plan_on_link(world, DO_ORPHANED, i, 2);
    /* Whoever is told that it can, may go on. */
    if (world->outcome.again && world->runs < 4 && apart(world, 3) == 0)
        plan(world, DO_RESTART, 500);
}

static void say_again(struct world *world)
{
    struct job_fault last = job_machine_fault(world->machine);
    world->rollbacks++;
    cells_check_rollback(world, last.outcome.cause);
    note(world, "again: %s, restart %u", wire_cause_text(last.outcome.cause), last.restarts);
    if (++world->restarts_in_a_row > world->max_restarts)
        fail(world, "%u restarts without a commit", world->restarts_in_a_row);
    if (world->past_end)
        fail(world, "a rollback after processes have left bsp_end");
}

static void start_agent(struct world *world, uint32_t id)
{
    struct action *action = plan(world, DO_START_AGENT, 1 + random_below(world, 30));
    action->host = host_index(world, id);
    action->number = world->machine_life;
    world->starts[action->host]++;
}

static void carry_out(struct world *world, const struct job_effect *effect)
{
    struct job_event done = {.term = effect->term, .name = effect->name};
    switch (effect->kind) {
    case JOB_EFFECT_RECORD_TERM:
        done.kind = JOB_EVENT_RECORDED;
        record(world, done);
        break;
    case JOB_EFFECT_RECORD_FINISH:
        world->finish_status = effect->status;
        done.kind = JOB_EVENT_FINISH_RECORDED;
        record(world, done);
        break;
    case JOB_EFFECT_START_AGENT:
        world->tried_again += effect->again;
        start_agent(world, effect->host);
        break;
    case JOB_EFFECT_CALL:
        call_roll(world);
        break;
    case JOB_EFFECT_BLAME:
        learned_blame(world);
        break;
    case JOB_EFFECT_LOST_TO_ZERO:
        lost_to_zero(world, host_index(world, effect->host));
        break;
    case JOB_EFFECT_TAKE_OVER:
        zero_succeed(world, host_index(world, effect->host));
        break;
    case JOB_EFFECT_DISMISS:
        dismiss(world, host_index(world, effect->host));
        break;
    case JOB_EFFECT_SAY_AGAIN:
        say_again(world);
        break;
    case JOB_EFFECT_ELECT:
        elect(world, effect);
        break;
    case JOB_EFFECT_SET_TIMER:
        done.kind = JOB_EVENT_TIMER;
        record(world, done);
        ((struct action *)timeline_last(&world->time))->moment.when =
            world->time.now + effect->milliseconds;
        break;
    case JOB_EFFECT_EXIT:
        leave(world, effect);
        break;
    default: {
        uint32_t host = host_index(world, effect->host);
        if (world->agents[host].cut_off)
            break;
        struct action *action = plan_on_link(world, DO_TELL_ZERO, host, 2);
        action->effect = *effect;
    }
    }
}

static void carry_out_all(struct world *world, const struct job_effects *effects)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        if (i > 0 && effects->items[i].kind == JOB_EFFECT_EXIT && i + 1 < effects->count)
            fail(world, "effects after EXIT");
        carry_out(world, &effects->items[i]);
    }
}

/* Of the present term. */
static void note_news(struct world *world, const struct job_event *event)
{
    switch (event->kind) {
    case JOB_EVENT_COMMITTED:
        world->restarts_in_a_row = 0;
        world->heard_of = event->name;
        step_is_done(world, STEP_HEARD);
        break;
    case JOB_EVENT_PLACED:
    case JOB_EVENT_RUNNING:
        if (event->replicas)
            world->zeros[event->term].placed = true;
        break;
    case JOB_EVENT_CHOSEN:
        step_is_done(world, STEP_CHOSEN);
        break;
    case JOB_EVENT_CLOSING:
        if (event->outcome.cause == WIRE_CAUSE_NONE)
            world->closing = true;
        else
            world->cut_short = true;
        world->cut_short_for = event->outcome.cause;
        step_is_done(world, STEP_CLOSING);
        break;
    default:
        break;
    }
}

static uint32_t count_spares(const struct world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        count += job_machine_spare(world->machine, world->agents[i].id);
    return count;
}

void bsprun_event(struct world *world, const struct job_event *event)
{
    struct job_effects effects;
    struct job_event timed = *event;
    if (!world->machine)
        return;
    timed.now_ms = world->time.now;
    learned_event(world, event);
    if (event->kind == JOB_EVENT_ROLL && !world->over && !all_answer(world)) {
        call_roll(world);
        return;
    }
    if (event->kind == JOB_EVENT_RECORDED && event->error == 0) {
        coord_lineage_add(&world->lineage, event->term, event->name);
        world->last_term = event->term;
        step_is_done(world, STEP_RECORDED);
    }
    if (event->kind == JOB_EVENT_FINISH_RECORDED && event->error == 0) {
        world->finish_durable = true;
        step_is_done(world, STEP_FINISHED);
        if (world->killed_at_step)
            return; /* before it could leave */
    }
    world->joined +=
        event->kind == JOB_EVENT_AGENT_UP && job_machine_joins(world->machine, event->host);
    if (event->kind == JOB_EVENT_AGENT_UP)
        world->starts[host_index(world, event->host)] = 0;
    if (event->kind == JOB_EVENT_AGENT_LOST &&
        (!event->usable || world->starts[host_index(world, event->host)] >= STARTS_MAX))
        world->agents[host_index(world, event->host)].given_up = true;
    if (event->term == job_machine_term(world->machine) &&
        job_machine_state(world->machine) == JOB_MACHINE_RUNNING)
        note_news(world, event);
    uint32_t spares = count_spares(world);
    job_machine_step(world->machine, &timed, &effects);
    if (event->kind != JOB_EVENT_USE && event->kind != JOB_EVENT_AGENT_UP &&
        job_machine_state(world->machine) == JOB_MACHINE_RUNNING)
        world->called += spares - count_spares(world);
    carry_out_all(world, &effects);
}

/* Of a snapshot that is there; most of the time the newest will do. */
static uint64_t pick_superstep(struct world *world)
{
    const struct snap *snap = NULL;
    if (world->finish_durable || world->snap_count == 0 || apart(world, 4) > 0)
        return COORD_NEVER;
    snap = &world->snaps[apart(world, world->snap_count)];
    return is_usable(world, snap, disks_left(world)) ? snap->name.superstep : COORD_NEVER;
}

/* A host that was cut off may be there again, with what it has written when nobody heard of it. */
static void heal(struct world *world)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct agent *agent = &world->agents[i];
        if (agent->cut_off && !agent->up && apart(world, 2) == 0)
            agent->cut_off = false;
    }
}

static bool is_listed(const struct wire_host *hosts, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (hosts[i].host == id)
            return true;
    return false;
}

void bsprun_begin(struct world *world, bool restore)
{
    struct wire_host hosts[HOSTS];
    struct job_effects effects;
    uint32_t count = 0;
    if (restore)
        heal(world);
    for (uint32_t i = 0; i < world->host_count; i++)
        if (!world->agents[i].gone && !world->agents[i].cut_off &&
            world->time.now >= world->agents[i].down_until)
            hosts[count++] = (struct wire_host){.host = world->agents[i].id};
    bool unnamed = world->unnamed && !restore;
    if (count == 0 ||
        (restore && !world->finish_durable && !any_complete(world, disks_left(world))))
        return; /* nothing to restart, which bsprun sees before it begins */
    struct job_machine_config config = {
        .host_count = count - unnamed,
        .hosts = hosts,
        .spares = restore || unnamed ? 0 : world->spares,
        .room = world->host_count,
        .snapshots = true,
        .restore = restore,
        .wanted = restore ? pick_superstep(world) : COORD_NEVER,
        .last_term = world->last_term,
        .lineage = world->lineage,
        .finished = world->finish_durable,
        .finished_status = world->finish_status,
        .max_restarts = world->max_restarts,
        .own = JOB_NO_HOST,
        .replicas = cells_any(world),
        .fence_ms = FENCE_MS,
        .retry_ms = world->retry_ms,
    };
    if (!restore)
        world->last_term = 1; /* recorded when the job is made */
    job_machine_free(world->machine);
    world->machine = job_machine_new(&config, &effects);
    if (!world->machine)
        fail(world, "no job machine");
    learned_begin(world);
    world->machine_life++;
    world->runs++;
    world->over = false;
    world->restarts_in_a_row = 0;
    note(world, "bsprun begins%s%s", restore ? " again" : "",
         config.wanted != COORD_NEVER ? ", from a superstep that was named" : "");
    for (uint32_t i = 0; i < world->host_count; i++) {
        world->agents[i].dismissed = false;
        world->starts[i] = 0;
        world->agents[i].given_up = !is_listed(hosts, config.host_count, world->agents[i].id);
    }
    world->closing = world->cut_short = world->nothing_saved = world->no_memory = false;
    world->write_failed = world->was_refused = world->not_recorded = false;
    world->stop_asked = world->save_asked = world->aborted = false;
    if (restore) {
        world->restarted++;
        world->named += config.wanted != COORD_NEVER;
        world->past_end = false;
        for (uint32_t term = 0; term < TERMS; term++)
            world->zeros[term].gone = true;
        /* A term that was opened and never recorded may be opened again. */
        for (uint32_t term = world->last_term + 1; term < TERMS; term++) {
            coord_shell_free(world->zeros[term].shell);
            world->zeros[term] = (struct zero){0};
        }
    }
    carry_out_all(world, &effects);
    for (uint32_t i = 0; i < config.host_count - config.spares && !world->over; i++)
        start_agent(world, hosts[i].host);
}

/* ---- Links -------------------------------------------------------------------------------- */

bool hears(const struct world *world, uint32_t host, uint32_t peer)
{
    return world->time.now >= world->silent_until[host][peer];
}

void plan_complaint(struct world *world, uint32_t host, uint32_t peer, uint32_t term)
{
    struct action *action = plan(world, DO_COMPLAIN, SILENCE_MS + random_below(world, SILENCE_MS));
    action->host = host;
    action->number = peer;
    action->term = term;
    action->life = world->agents[host].life;
}

void complain(struct world *world, const struct action *action)
{
    struct agent *agent = &world->agents[action->host];
    struct zero *zero = &world->zeros[action->term];
    if (!agent->up || agent->life != action->life || agent->term > action->term || !world->machine)
        return;
    if (agent->term < action->term) { /* it has not come there yet */
        plan_complaint(world, action->host, action->number, action->term);
        return;
    }
    struct job_event event = {.kind = JOB_EVENT_LINK_LOST,
                              .term = action->term,
                              .peer = world->agents[action->number].id};
    tell_bsprun(world, action->host, event);
    if (!zero->shell)
        return;
    if (zero->host == action->host && !zero->gone && !zero->finished && !agent->replicated.placed)
        coord_shell_host_lost(zero->shell, event.peer);
    else if (zero->host == action->number && !agent->let_out && !agent->replicated.placed)
        agent_rewind(world, action->host);
}
