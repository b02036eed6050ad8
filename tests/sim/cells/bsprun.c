/* bsprun.c - what bsprun hears of hosts, and when it lets the job end. */
#include "tests/sim/cells/world.h"

#include <inttypes.h>

#include "tests/sim/cells/shown.h"

static const char *const told_names[] = {"a line", "the mark", "the passing", "the rest",
                                         "the replicas"};

void cells_ask_all(struct world *world)
{
    uint64_t superstep;

    while (shown_asks(&superstep))
        for (uint32_t i = 0; i < world->host_count; i++)
            cells_plan(world, DO_ASK_PASSED, cells_on_line(world, &world->hosts[i].line_free[1]), i)
                ->superstep = superstep;
}

/* Of hosts without processes nothing is to come. */
void cells_show_lost(const struct world *world, uint32_t host)
{
    if (world->housing_known && world->hosts[host].count == 0)
        shown_idle(host);
    else
        shown_lost(host);
}

void cells_bsprun_hears(struct world *world, const struct action *action)
{
    struct host *from = &world->hosts[action->host];

    if (from->doomed || (from->dead && timeline_apart(&world->time, 100) < 30))
        from->cut_off = true;
    if (from->cut_off)
        return;
    note(world, "bsprun: %s of host %u, %" PRIu64, told_names[action->told], from->id,
         action->superstep);
    switch (action->told) {
    case TOLD_LINE:
        shown_line(action->host, action->number, action->superstep);
        break;
    case TOLD_MARK:
        shown_mark(action->host, action->superstep);
        break;
    case TOLD_PASSED:
        from->wrote_all |= action->superstep == world->supersteps;
        shown_passed(action->host, action->superstep);
        break;
    case TOLD_IDLE:
        shown_idle(action->host);
        break;
    default:
        world->housing_known = true;
        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].count > 0 && world->hosts[i].cell != i)
                shown_replica(i, world->hosts[i].cell);
        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].noticed)
                cells_show_lost(world, i);
    }
    cells_ask_all(world);
}

/* Before nothing can be rolled back any more, bsprun waits for what has been written, by one host
 * of each cell that has a living one. */
static bool has_all_output(struct world *world)
{
    for (uint32_t lead = 0; lead < world->host_count; lead++) {
        bool any = false, all = false;

        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].count > 0 && world->hosts[i].cell == lead) {
                any |= !world->hosts[i].doomed && !world->hosts[i].dead;
                all |= world->hosts[i].wrote_all;
            }
        if (any && !all)
            return false;
    }
    return true;
}

/* whole: the processes have come to bsp_end. */
void cells_close_when_written(struct world *world, bool whole)
{
    if (world->finished)
        return;
    if (whole && !has_all_output(world)) {
        for (uint32_t i = 0; i < world->host_count; i++)
            cells_plan(world, DO_ASK_PASSED, cells_on_line(world, &world->hosts[i].line_free[1]), i)
                ->superstep = world->supersteps;
        cells_plan(world, DO_CLOSED, 20, 0)->number = true;
        return;
    }
    world->closed = true;
    cells_order(world, (struct wire_message){.kind = WIRE_CLOSED});
}
