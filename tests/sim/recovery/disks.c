/* disks.c - made-up disks: the images and manifests on them, who is told, and what is removed again
 * with the frozen copies. */
#include "tests/sim/recovery/made_up.h"

#include <errno.h>

/* ---- Looks -------------------------------------------------------------------------------- */

uint64_t disk_bit(const struct world *world, uint32_t host)
{
    return world->shared ? 1 : (uint64_t)1 << host;
}

struct snap *snap_find(struct world *world, struct coord_name name, bool make)
{
    for (uint32_t i = 0; i < world->snap_count; i++)
        if (coord_name_same(world->snaps[i].name, name))
            return &world->snaps[i];
    if (!make)
        return NULL;
    if (world->snap_count == SNAPS)
        fail(world, "too many snapshots");
    struct snap *snap = &world->snaps[world->snap_count++];
    *snap = (struct snap){.name = name, .processes = world->processes};
    return snap;
}

bool snap_complete(const struct snap *snap)
{
    bool complete = snap->manifests > 0 && snap->processes > 0;
    for (uint32_t pid = 0; pid < snap->processes; pid++)
        complete = complete && snap->images[pid] > 0;
    return complete;
}

bool disk_has_any(const struct world *world, uint32_t host, const struct snap *snap)
{
    uint64_t all = snap->manifests;
    for (uint32_t pid = 0; pid < snap->processes; pid++)
        all |= snap->images[pid];
    return all & disk_bit(world, host);
}

void disk_report(struct world *world, uint32_t host, const struct snap *snap)
{
    struct agent *agent = &world->agents[host];
    uint64_t images[RANKS], copies[RANKS];
    struct wire_message message = {.kind = WIRE_HELD};
    uint32_t image_count = 0, copy_count = 0;
    for (uint32_t pid = 0; pid < snap->processes; pid++) {
        const struct rank *rank = &agent->ranks[pid];
        if (snap->images[pid] & disk_bit(world, host))
            images[image_count++] = pid;
        if (coord_name_same(rank->copy[0], snap->name) ||
            coord_name_same(rank->copy[1], snap->name))
            copies[copy_count++] = pid;
    }
    message.held.superstep = snap->name.superstep;
    message.held.from = snap->name.term;
    message.held.processes = snap->processes;
    message.held.manifest = snap->manifests & disk_bit(world, host);
    message.held.all = image_count == snap->processes;
    message.held.images = (struct wire_numbers){images, message.held.all ? 0 : image_count};
    message.held.copies = (struct wire_numbers){copies, copy_count};
    send_to_zero(world, host, &message);
}

/* ---- Writing ------------------------------------------------------------------------------ */

void disk_image(struct world *world, const struct action *action)
{
    struct agent *agent = &world->agents[action->host];
    struct snap *snap = snap_find(world, action->name, false);
    uint32_t pid = action->number;
    if (!snap || coord_name_same(agent->abandoned, action->name))
        return;
    if (world->fail_write && agent->mine[pid]) {
        world->fail_write = false;
        agent_send_failure(world, action->host, pid, action->name, WIRE_CAUSE_NOT_WRITTEN);
        return;
    }
    bool base = action->name.superstep == 0;
    for (uint32_t i = pid; i < (base ? snap->processes : pid + 1); i++)
        snap->images[i] |= disk_bit(world, action->host);
    struct wire_message message = {.kind = WIRE_IMAGE_DURABLE,
                                   .envelope = {.superstep = action->name.superstep}};
    message.image_durable.pid = pid;
    message.image_durable.size = 1000 + pid;
    message.image_durable.changed = 1000;
    message.image_durable.digest = (struct wire_bytes){&snap->value[pid], 8};
    send_to_zero(world, action->host, &message);
    if (world->shared || !agent->mine[pid])
        return;
    /* A second copy elsewhere. */
    for (uint32_t i = 1; i < world->host_count; i++) {
        uint32_t other = (action->host + i) % world->host_count;
        if (!world->agents[other].up || world->agents[other].term != agent->term ||
            world->agents[other].cut_off || agent->cut_off)
            continue;
        struct action *more = agent_plan(world, DO_IMAGE, other, 20);
        more->number = pid;
        more->name = action->name;
        return;
    }
}

void disk_manifest(struct world *world, const struct action *action)
{
    struct wire_message message = {.kind = WIRE_PERSISTED,
                                   .envelope = {.superstep = action->name.superstep}};
    struct snap *snap = snap_find(world, action->name, false);
    if (coord_name_same(world->agents[action->host].abandoned, action->name))
        return;
    if (world->fail_write || !snap)
        message.persisted.error = ENOSPC;
    else
        snap->manifests |= disk_bit(world, action->host);
    world->fail_write = false;
    send_to_zero(world, action->host, &message);
}

/* ---- Removing ----------------------------------------------------------------------------- */

static void erase(struct world *world, uint32_t host, struct snap *snap)
{
    snap->manifests &= ~disk_bit(world, host);
    for (uint32_t pid = 0; pid < RANKS; pid++)
        snap->images[pid] &= ~disk_bit(world, host);
}

void disk_retire(struct world *world, uint32_t host, struct coord_name name)
{
    for (uint32_t i = 0; i < world->snap_count; i++)
        if (coord_name_newer(name, world->snaps[i].name))
            erase(world, host, &world->snaps[i]);
    for (uint32_t pid = 0; pid < RANKS; pid++)
        for (int i = 0; i < 2; i++) {
            struct coord_name *copy = &world->agents[host].ranks[pid].copy[i];
            if (copy->term > 0 && coord_name_newer(name, *copy))
                *copy = (struct coord_name){0};
        }
}

void disk_abandon(struct world *world, uint32_t host, struct coord_name name)
{
    struct agent *agent = &world->agents[host];
    struct snap *snap = snap_find(world, name, false);
    agent->abandoned = name;
    if (snap)
        erase(world, host, snap);
    for (uint32_t pid = 0; pid < RANKS; pid++)
        for (int i = 0; i < 2; i++)
            if (coord_name_same(agent->ranks[pid].copy[i], name))
                agent->ranks[pid].copy[i] = (struct coord_name){0};
}
