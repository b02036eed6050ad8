/* faults.c - hosts are killed, stall, become slow, or are cut off from bsprun; processes are
 * stopped. */
#include "tests/sim/cells/world.h"

/* All processes that are stopped for good: they may be the last ones. */
static void continue_all(struct world *world)
{
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].stopped_until >= FOR_GOOD) {
            world->hosts[i].stopped_until = world->time.now + 1;
            cells_plan(world, DO_CONTINUE, 1, i);
        }
}

/* Before snapshot 0 is committed a loss ends the term whatever the host has; that of Processor
 * Zero, before bsprun knows that all hosts have it. */
static void note_loss(struct world *world, bool of_zero)
{
    const struct coord *coord = world->zeros[world->era].coord;
    enum coord_phase phase = coord_phase(coord);
    bool early = of_zero ? !world->placed && !world->ran : coord_outcome(coord).committed.term == 0;

    if (phase == COORD_WAITING || (phase == COORD_PLACING && early) || !cells_is_covered(world)) {
        world->by_death = true;
        continue_all(world);
    } else {
        cells_summary.lost_beside++;
    }
}

static void kill_host(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    struct zero *zero = &world->zeros[world->era];

    if (here->dead)
        return;
    note(world, "host %u dies", here->id);
    here->dead = true;
    world->faults[zero->host == host ? FAULT_ZERO : FAULT_KILLED]++;
    zero->dead = zero->dead || zero->host == host;
    note_loss(world, zero->host == host);
    cells_plan(world, DO_LOSS, 1 + timeline_random(&world->time, 30), host);
}

/* It decides on, until bsprun has told the last host to obey another one. */
static void cut_off(struct world *world)
{
    struct zero *zero = &world->zeros[world->era];

    if (world->hosts[zero->host].dead || zero->unheard)
        return;
    note(world, "host %u is cut off from bsprun", world->hosts[zero->host].id);
    zero->unheard = true;
    world->faults[FAULT_CUT]++;
    world->hosts[zero->host].doomed = true;
    note_loss(world, true);
    cells_plan(world, DO_LOSS, 1 + timeline_random(&world->time, 60), zero->host);
}

/* For good only where others can go on. */
static void stop_processes(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    uint64_t before = here->stopped_until;
    uint64_t until = world->time.now + 20 + timeline_apart(&world->time, 3000);

    if (until > before)
        here->stopped_until = until;
    if (here->count > 0 && timeline_apart(&world->time, 5) < 2) {
        uint64_t short_time = here->stopped_until;

        here->stopped_until = FOR_GOOD;
        if (cells_is_covered(world) && !world->by_death)
            cells_summary.for_good += before < FOR_GOOD;
        else
            here->stopped_until = short_time;
    }
    cells_plan(world, DO_CONTINUE, here->stopped_until - world->time.now, host);
}

void cells_harm(struct world *world, const struct action *action)
{
    struct host *here = &world->hosts[action->host];

    if (world->finished)
        return;
    switch ((enum fault_kind)action->number) {
    case FAULT_KILLED:
        kill_host(world, action->host);
        return;
    case FAULT_ZERO:
        kill_host(world, world->zeros[world->era].host);
        return;
    case FAULT_CUT:
        cut_off(world);
        return;
    case FAULT_STALLS: {
        uint64_t until = world->time.now + 50 + timeline_random(&world->time, 2000);
        if (until > here->stalled_until)
            here->stalled_until = until;
        break;
    }
    case FAULT_STOPPED:
        stop_processes(world, action->host);
        break;
    default:
        here->pace *= 10;
    }
    note(world, "host %u: %s", here->id, cells_fault_names[action->number]);
    world->faults[action->number]++;
}
