/* bsprun.c - a bsprun around its real job machine; see world.h. */
#include "tests/sim/fence/world.h"

static void check_roll(struct world *world)
{
    if (!world->rolling)
        return;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].line && world->hosts[i].answers < world->hosts[i].called_at)
            return;
    world->rolling = false;
    fence_tell_machine(world, (struct job_event){.kind = JOB_EVENT_ROLL});
}

void fence_call(struct world *world, uint32_t host)
{
    world->hosts[host].calls++;
    fence_send(world, host, TO_AGENT, ALIVE, 0);
}

void fence_give_up(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    note(world, "bsprun gives host %u up%s", host, at->computes ? ", which computes" : "");
    world->given_up++;
    world->given_up_computing += at->computes;
    at->line = false;
    fence_cut(world, host, TO_AGENT);
    fence_tell_machine(
        world, (struct job_event){.kind = JOB_EVENT_AGENT_LOST, .host = host, .unheard = true});
    check_roll(world);
}

static void elect(struct world *world, const struct job_effect *effect)
{
    world->terms++;
    world->term = effect->term;
    world->members = world->ready_members = 0;
    if (effect->term >= TERMS)
        fail(world, "terms without end");
    for (uint32_t i = 0; i < world->host_count; i++)
        if (job_machine_member(world->machine, i)) {
            world->members |= 1u << i;
            fence_send(world, i, TO_AGENT, ELECT, effect->term);
        }
    note(world, "term %u, members %x", effect->term, world->members);
}

void fence_carry_out(struct world *world, const struct job_effect *effect)
{
    switch (effect->kind) {
    case JOB_EFFECT_ELECT:
        elect(world, effect);
        break;
    case JOB_EFFECT_SET_TIMER: {
        struct action *action = fence_plan(
            world, DO_MACHINE, fence_lasts(effect->milliseconds, world->rate) + fence_delay(world));
        action->event.kind = JOB_EVENT_TIMER;
        action->number = ++world->timer;
        break;
    }
    case JOB_EFFECT_CALL:
        world->rolling = true;
        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].line) {
                fence_call(world, i);
                world->hosts[i].called_at = world->hosts[i].calls;
            }
        break;
    case JOB_EFFECT_START_AGENT: {
        struct action *action = fence_plan(world, DO_MACHINE, 1 + fence_delay(world));
        action->event = (struct job_event){.kind = JOB_EVENT_AGENT_UP, .host = effect->host};
        break;
    }
    case JOB_EFFECT_EXIT:
        note(world, "bsprun ends");
        world->over = true;
        break;
    case JOB_EFFECT_BLAME:
    case JOB_EFFECT_SAY_AGAIN:
        break;
    default:
        fail(world, "an effect of kind %d", (int)effect->kind);
    }
}

void fence_tell_machine(struct world *world, struct job_event event)
{
    struct job_effects effects;
    if (world->over)
        return;
    event.now_ms = fence_bsprun_ms(world);
    job_machine_step(world->machine, &event, &effects);
    for (uint32_t i = 0; i < effects.count; i++)
        fence_carry_out(world, &effects.items[i]);
}

/* As agents_remote.c has it. */
void fence_watch(struct world *world)
{
    uint64_t now = fence_bsprun_ms(world), watch_ms = world->bound_ms / WATCHES;
    bool late = now - world->watched_ms > world->bound_ms / 3 * 2;
    world->watched_ms = now;
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct host *at = &world->hosts[i];
        if (!at->line)
            continue;
        if (late)
            at->heard_ms = now;
        else if (now - at->heard_ms > world->bound_ms)
            fence_give_up(world, i);
        if (at->line)
            fence_call(world, i);
    }
    fence_plan(world, DO_WATCH, fence_lasts(watch_ms, world->rate));
}

void fence_bsprun_hears(struct world *world, const struct action *action)
{
    struct host *at = &world->hosts[action->host];
    if (!at->line || at->life != action->life)
        return;
    at->heard_ms = fence_bsprun_ms(world);
    if (action->message == ALIVE) {
        at->answers++;
        check_roll(world);
    } else {
        world->deaf++;
        fence_tell_machine(world, (struct job_event){.kind = JOB_EVENT_LINK_LOST,
                                                     .host = action->host,
                                                     .peer = action->host,
                                                     .term = action->term});
    }
}
