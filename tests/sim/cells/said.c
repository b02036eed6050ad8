/* said.c - what must hold of what Processor Zero says, checked when it says it. */
#include "tests/sim/cells/world.h"

#include <inttypes.h>
#include <string.h>

static void check_replicas(struct world *world, const struct host *lead, uint32_t copies)
{
    for (uint32_t pid = lead->first; pid < lead->first + lead->count; pid++) {
        uint32_t wanted =
            world->counts.count > 0 ? replica_counts_of(&world->counts, pid) : world->replicas;

        if (copies != wanted)
            fail(world, "process %u of host %u has %u replicas instead of %u", pid, lead->id,
                 copies, wanted);
    }
}

/* As all hosts are told: who has which processes. */
static void note_place(struct world *world, const struct wire_place *place)
{
    uint32_t copies[HOSTS] = {0};

    world->processes = place->processes;
    for (uint32_t i = 0; i < world->host_count; i++)
        world->hosts[i].cell = HOSTS;
    for (uint32_t pid = 0; pid < place->processes; pid++) {
        struct host *lead = &world->hosts[cells_index_of(world, place->host_of.items[pid])];
        lead->cell = (uint32_t)(lead - world->hosts);
        if (lead->count++ == 0)
            lead->first = pid;
    }
    for (uint32_t i = 0; i + 1 < place->leads.count; i += 2) {
        uint32_t host = cells_index_of(world, place->leads.items[i]);
        uint32_t lead = cells_index_of(world, place->leads.items[i + 1]);
        if (world->hosts[host].cell != HOSTS)
            fail(world, "host %u has two replicas", world->hosts[host].id);
        if (world->hosts[lead].cell != lead && world->hosts[lead].count > 0)
            fail(world, "host %u is no lead", world->hosts[lead].id);
        world->hosts[host].cell = lead;
        world->hosts[host].count = world->hosts[lead].count;
        world->hosts[host].first = world->hosts[lead].first;
    }
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].count > 0)
            copies[world->hosts[i].cell]++;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].cell == i && world->hosts[i].count > 0)
            check_replicas(world, &world->hosts[i], copies[i]);
}

static void check_new(struct world *world, uint64_t superstep)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct host *host = &world->hosts[i];
        if (host->held == superstep + 1)
            continue; /* it has passed as hosts were captured that are lost */
        if (host->count > 0 && host->superstep > superstep && !host->dead)
            fail(world, "host %u is past superstep %" PRIu64 " when that is decided", host->id,
                 superstep);
        if (!host->dead && host->heard[superstep].told &&
            (!host->heard[superstep].snapshot || host->heard[superstep].resumed ||
             (host->era == world->era && !host->waits)))
            fail(world, "superstep %" PRIu64 " is decided twice", superstep);
    }
}

static void note_decision(struct world *world, const struct wire_message *message)
{
    uint64_t superstep = message->envelope.superstep;
    bool end = message->release.decision == WIRE_DECISION_END;

    if (superstep > world->supersteps)
        fail(world, "superstep %" PRIu64 " never comes", superstep);
    if (message->release.decision == WIRE_DECISION_SNAPSHOT && message->release.captures.count == 0)
        return; /* of a former Processor Zero */
    check_new(world, superstep);
    if (message->release.decision == WIRE_DECISION_ABORT)
        fail(world, "Processor Zero aborts");
    if (end != (superstep == world->supersteps))
        fail(world, "bsp_end is decided at superstep %" PRIu64, superstep);
    if (message->release.decision != WIRE_DECISION_SNAPSHOT)
        return;
    memset(world->has_image, 0, sizeof world->has_image);
    world->snapshot = superstep + 1;
    for (uint32_t i = 0; i < message->release.captures.count; i++) {
        uint32_t host = cells_index_of(world, message->release.captures.items[i]);
        const struct host *who = &world->hosts[host];
        if (who->dead && !who->here)
            fail(world, "host %u is to capture", who->id);
        for (uint32_t pid = who->first; pid < who->first + who->count; pid++) {
            if (world->has_image[pid])
                fail(world, "process %u has two images", pid);
            world->has_image[pid] = true;
        }
    }
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (!world->has_image[pid])
            fail(world, "process %u has no image", pid);
}

/* Once, when Processor Zero says it; hosts hear of it later. */
void cells_note_said(struct world *world, const struct wire_message *message, bool heeded)
{
    world->ran = world->ran || (heeded && message->kind == WIRE_RUN);
    if (!heeded)
        return; /* of one that was cut off: see check_new when somebody has heard it */
    if (message->kind == WIRE_PLACE)
        note_place(world, &message->place);
    else if (message->kind == WIRE_RELEASE)
        note_decision(world, message);
    else if (message->kind == WIRE_STOP_RANKS && !world->by_death)
        fail(world, "processes are stopped though each has a living replica");
}
