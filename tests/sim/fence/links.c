/* links.c - time, and what hosts and bsprun send each other; see world.h. */
#include "tests/sim/fence/world.h"

/* ---- Time: the world's is in microseconds --------------------------------------------------- */

struct action *fence_plan(struct world *world, enum action_kind kind, uint64_t delay)
{
    struct action *action = timeline_plan(&world->time, delay);
    action->kind = kind;
    return action;
}

uint64_t fence_clock_ns(const struct world *world, uint64_t rate)
{
    return world->time.now * rate / 1000u;
}

uint64_t fence_bsprun_ms(const struct world *world)
{
    return fence_clock_ns(world, world->rate) / MICRO;
}

/* How long a clock takes to show so many milliseconds more. */
uint64_t fence_lasts(uint64_t milliseconds, uint64_t rate)
{
    return milliseconds * 1000u * MICRO / rate + 1;
}

/* Mostly the least or the most, for it is extremes that meet badly. */
uint64_t fence_delay(struct world *world)
{
    uint64_t most = world->bound_ms * 10u, kind = random_below(world, 5);
    return kind < 2 ? 0 : kind < 4 ? most : random_below(world, most + 1);
}

uint64_t fence_some_time(struct world *world, uint64_t hundredths)
{
    return random_below(world, world->bound_ms * 10u * hundredths + 1);
}

/* ---- Links ---------------------------------------------------------------------------------- */

static struct action *transmit(struct world *world, uint32_t host, enum way way, uint64_t delay)
{
    struct host *at = &world->hosts[host];
    uint64_t when = world->time.now + delay;
    if (when < at->link_free[way])
        when = at->link_free[way];
    at->link_free[way] = when;
    struct action *action = fence_plan(world, DO_MESSAGE, when - world->time.now);
    action->host = host;
    action->way = way;
    action->life = at->life;
    return action;
}

void fence_send(struct world *world, uint32_t host, enum way way, enum message message,
                uint32_t term)
{
    struct host *at = &world->hosts[host];
    bool goes = world->time.now >= at->down_until[way];
    uint64_t wait = goes ? 0 : at->down_until[way] - world->time.now;
    struct action *action = transmit(world, host, way, wait + fence_delay(world));
    action->message = message;
    action->term = term;
    action->on_wire = goes;
}

/* One end is cut: what the other has not got yet, and is not on its way, it never gets. */
void fence_cut(struct world *world, uint32_t host, enum way way)
{
    struct host *at = &world->hosts[host];
    for (uint32_t i = 0; i < world->time.count; i++) {
        const struct action *action = timeline_at(&world->time, i);
        if (action->kind == DO_MESSAGE && action->host == host && action->way == way &&
            !action->on_wire)
            timeline_remove(&world->time, i--);
    }
    if (world->time.now < at->down_until[way])
        return; /* nobody sends that again */
    struct action *reset = transmit(world, host, way, fence_delay(world));
    reset->kind = DO_RESET;
}
