/* agents.c - agents around their real rule of silence, and what they compute; see world.h. */
#include "tests/sim/fence/world.h"

static void plan_look(struct world *world, uint32_t host, uint64_t milliseconds)
{
    struct host *at = &world->hosts[host];
    struct action *action =
        fence_plan(world, DO_LOOK, fence_lasts(milliseconds, at->rate) + fence_delay(world));
    action->host = host;
    action->life = at->life;
}

void fence_agent_up(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    at->up = at->line = true;
    at->life++;
    at->heard_ms = fence_bsprun_ms(world);
    silence_begin(&at->silence, (uint32_t)world->bound_ms, fence_clock_ns(world, at->rate));
    plan_look(world, host, silence_period_ms(&at->silence));
}

static void say_ready(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    at->wants_ready = false;
    at->ready = true;
    struct action *action =
        fence_plan(world, DO_READY, chance(world, 80) ? 0 : fence_some_time(world, 150));
    action->host = host;
    action->term = at->term;
}

static void end_processes(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    at->ready = false;
    if (at->computes && !at->ending) {
        at->ending = true;
        fence_plan(world, DO_DEAD, fence_delay(world))->host = host;
    }
}

void fence_dead(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    at->computes = at->ending = false;
    if (at->wants_ready && at->up)
        say_ready(world, host);
}

/* The agent has no bsprun any more: it and what it has come to an end. */
void fence_agent_ends(struct world *world, uint32_t host)
{
    struct host *at = &world->hosts[host];
    if (!at->up)
        return;
    note(world, "the agent of host %u ends", host);
    at->up = at->wants_ready = false;
    end_processes(world, host);
    fence_cut(world, host, TO_BSPRUN);
}

static void take_election(struct world *world, uint32_t host, uint32_t term)
{
    struct host *at = &world->hosts[host];
    at->term = term;
    at->term_over = at->ready = false;
    at->wants_ready = true;
    end_processes(world, host);
    if (!at->computes)
        say_ready(world, host);
}

void fence_agent_hears(struct world *world, const struct action *action)
{
    struct host *at = &world->hosts[action->host];
    if (!at->up || at->life != action->life)
        return;
    silence_heard(&at->silence, fence_clock_ns(world, at->rate));
    if (action->message == ELECT)
        take_election(world, action->host, action->term);
    else
        fence_send(world, action->host, TO_BSPRUN, ALIVE, 0);
}

void fence_look(struct world *world, const struct action *action)
{
    uint32_t host = action->host;
    struct host *at = &world->hosts[host];
    bool open =
        world->time.now >= at->down_until[TO_AGENT] && world->time.now >= at->down_until[TO_BSPRUN];
    if (!at->up || at->life != action->life)
        return;
    if (at->silence.cut_off && open && !at->line) { /* a probe is answered: no such connection */
        fence_agent_ends(world, host);
        return;
    }
    uint64_t period = silence_period_ms(&at->silence);
    switch (silence_look(&at->silence, fence_clock_ns(world, at->rate), open ? 0 : INT64_MAX)) {
    case SILENCE_WAIT:
        break;
    case SILENCE_LOOK_AGAIN:
        period = SILENCE_MOMENT_MS;
        break;
    case SILENCE_CUT_OFF:
        note(world, "host %u has not heard of bsprun", host);
        fence_send(world, host, TO_BSPRUN, DEAF, at->term);
        at->term_over = true;
        at->wants_ready = false;
        end_processes(world, host);
        break;
    case SILENCE_LEAVE:
        fence_agent_ends(world, host);
        return;
    }
    plan_look(world, host, period);
}

/* ---- Terms ---------------------------------------------------------------------------------- */

void fence_hear_ready(struct world *world, const struct action *action)
{
    if (action->term != world->term)
        return;
    world->ready_members |= 1u << action->host;
    if (world->ready_members != world->members)
        return;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->members & 1u << i) {
            struct action *run =
                fence_plan(world, DO_RUN, chance(world, 80) ? 0 : fence_some_time(world, 150));
            run->host = i;
            run->term = world->term;
            run->number = world->members;
        }
}

static uint32_t processes_of(uint32_t members, uint32_t host)
{
    uint32_t place = (uint32_t)__builtin_popcount(members & ((1u << host) - 1));
    uint32_t count = (uint32_t)__builtin_popcount(members), processes = 0;
    for (uint32_t pid = place; pid < PROCESSES; pid += count)
        processes |= 1u << pid;
    return processes;
}

void fence_run(struct world *world, const struct action *action)
{
    struct host *at = &world->hosts[action->host];
    if (!at->up || at->term != action->term || at->term_over || !at->ready || at->computes)
        return;
    at->computes = true;
    at->processes = processes_of((uint32_t)action->number, action->host);
    note(world, "host %u computes in term %u", action->host, at->term);
    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct host *other = &world->hosts[i];
        if (i == action->host || !other->computes || !(other->processes & at->processes))
            continue;
        if (!fence_beyond)
            fail(world, "host %u computes in term %u what host %u still does in term %u",
                 action->host, at->term, i, other->term);
        world->violated = true;
    }
}
