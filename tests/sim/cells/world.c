/* world.c - see world.h. */
#include "tests/sim/cells/world.h"

#include <inttypes.h>

struct cells_summary cells_summary;

const char *const cells_fault_names[FAULT_KINDS] = {"host killed",
                                                    "host stalls",
                                                    "host slow",
                                                    "host of Processor Zero killed",
                                                    "Processor Zero cut off from bsprun",
                                                    "processes of a host stopped"};

struct action *cells_plan(struct world *world, enum action_kind kind, uint64_t delay, uint32_t host)
{
    struct action *action = timeline_plan(&world->time, delay);

    action->kind = kind;
    action->host = host;
    return action;
}

uint64_t cells_on_link(struct world *world, uint64_t *is_free)
{
    uint64_t when = world->time.now + 1 + timeline_random(&world->time, 8);

    if (when <= *is_free)
        when = *is_free + 1;
    *is_free = when;
    return when - world->time.now;
}

uint64_t cells_on_line(struct world *world, uint64_t *is_free)
{
    uint64_t when = world->time.now + 1 + timeline_apart(&world->time, 12);

    if (when <= *is_free)
        when = *is_free + 1;
    *is_free = when;
    return when - world->time.now;
}

uint32_t cells_index_of(const struct world *world, uint64_t id)
{
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].id == id)
            return i;
    fail(world, "there is no host %" PRIu64, id);
}

bool cells_is_covered(const struct world *world)
{
    for (uint32_t lead = 0; lead < world->host_count; lead++) {
        bool living = world->hosts[lead].cell != lead || world->hosts[lead].count == 0;
        for (uint32_t i = 0; i < world->host_count; i++)
            living =
                living || (world->hosts[i].cell == lead && !world->hosts[i].dead &&
                           !world->hosts[i].doomed && world->hosts[i].stopped_until < FOR_GOOD);
        if (!living)
            return false;
    }
    return true;
}
