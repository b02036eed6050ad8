/* disks.c - made-up disks: the images and manifests on them, who is told, and what is removed again
 * with the frozen copies. */
#include "tests/sim/recovery/made_up.h"

#include <errno.h>

/* ---- Looks -------------------------------------------------------------------------------- */

uint64_t disk_bit(const struct world *world, uint32_t host)
{
    return world->shared ? 1 : (uint64_t)1 << host;
}

struct snap *snap_find(struct world *world, struct bspz_snapshot_name name, bool make)
{
    for (uint32_t i = 0; i < world->snap_count; i++)
        if (bspz_snapshot_same(world->snaps[i].name, name))
            return &world->snaps[i];
    if (!make)
        return NULL;
    if (world->snap_count == SNAPS)
        fail(world, "too many snapshots");
    struct snap *snap = &world->snaps[world->snap_count++];
    *snap = (struct snap){.name = name, .processes = world->processes};
    return snap;
}

uint64_t disks_left(const struct world *world)
{
    uint64_t disks = world->shared;
    for (uint32_t i = 0; i < world->host_count && !world->shared; i++)
        if (!world->agents[i].gone && !world->agents[i].cut_off)
            disks |= disk_bit(world, i);
    return disks;
}

bool snap_complete(const struct snap *snap, uint64_t disks)
{
    bool complete = (snap->manifests & disks) && snap->processes > 0;
    for (uint32_t pid = 0; pid < snap->processes; pid++)
        complete = complete && (snap->images[pid] & disks);
    return complete;
}

bool snap_synced(const struct snap *snap)
{
    bool synced = snap->manifests & ~snap->unsynced_manifests;
    for (uint32_t pid = 0; pid < snap->processes; pid++)
        synced = synced && (snap->images[pid] & ~snap->unsynced_images[pid]);
    return synced;
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
    uint64_t images[RANKS], copies[RANKS], needs[RANKS] = {0};
    struct wire_message message = {.kind = WIRE_HELD};
    uint32_t image_count = 0, copy_count = 0;
    for (uint32_t pid = 0; pid < snap->processes; pid++) {
        const struct rank *rank = &agent->ranks[pid];
        if (snap->images[pid] & disk_bit(world, host))
            needs[images[image_count++] = pid] = memory_need(world, pid);
        if (bspz_snapshot_same(rank->copy[0], snap->name) ||
            bspz_snapshot_same(rank->copy[1], snap->name))
            copies[copy_count++] = pid;
    }
    message.held.name = snap->name;
    message.held.processes = snap->processes;
    message.held.manifest = snap->manifests & disk_bit(world, host);
    message.held.all = image_count == snap->processes;
    message.held.images = (struct wire_numbers){images, message.held.all ? 0 : image_count};
    message.held.copies = (struct wire_numbers){copies, copy_count};
    if (memory_is_limited(world))
        message.held.needs = (struct wire_numbers){needs, snap->processes};
    send_to_zero(world, host, &message);
}

/* ---- Writing ------------------------------------------------------------------------------ */

static void put_image(struct world *world, uint32_t host, struct snap *snap, uint32_t pid,
                      bool synced)
{
    uint64_t bit = disk_bit(world, host);
    if (!synced && !(snap->images[pid] & bit))
        snap->unsynced_images[pid] |= bit;
    else if (synced)
        snap->unsynced_images[pid] &= ~bit;
    snap->images[pid] |= bit;
    snap->removed_images[pid] &= ~bit;
}

static void put_images(struct world *world, uint32_t host, struct snap *snap, uint32_t pid,
                       bool synced)
{
    bool base = snap->name.superstep == 0; /* one for all */
    for (uint32_t i = pid; i < (base ? snap->processes : pid + 1); i++)
        put_image(world, host, snap, i, synced);
}

static void put_manifest(struct world *world, uint32_t host, struct snap *snap, bool synced)
{
    uint64_t bit = disk_bit(world, host);
    if (!synced && !(snap->manifests & bit))
        snap->unsynced_manifests |= bit;
    else if (synced)
        snap->unsynced_manifests &= ~bit;
    snap->manifests |= bit;
    snap->removed_manifests &= ~bit;
}

/* With replicas the others go on.  An image that was offered to a host that is lost is offered to
 * the next one when its link is: as if that were known when it is written. */
static bool is_lost(const struct world *world, uint32_t host, uint32_t other)
{
    const struct agent *agent = &world->agents[other];
    const struct zero *zero = &world->zeros[world->agents[host].term];
    return !agent->up || agent->cut_off || agent->dismissed ||
           !coord_host_alive(coord_shell_state(zero->shell), agent->id) ||
           agent->term != world->agents[host].term || !hears(world, host, other) ||
           !hears(world, other, host);
}

/* Which keeps the images of this host, too: the next of the term, if it can be reached. */
static bool next_host(const struct world *world, uint32_t host, uint32_t *next)
{
    uint64_t members = world->zeros[world->agents[host].term].member_bits;
    *next = host;
    do
        *next = (*next + 1) % world->host_count;
    while (*next != host &&
           (!(members >> *next & 1) || (cells_any(world) && is_lost(world, host, *next))));
    const struct agent *other = &world->agents[*next];
    return *next != host && other->up && other->term == world->agents[host].term &&
           !other->cut_off && !world->agents[host].cut_off && hears(world, host, *next) &&
           hears(world, *next, host);
}

void disk_image(struct world *world, const struct action *action)
{
    struct agent *agent = &world->agents[action->host];
    struct snap *snap = snap_find(world, action->name, false);
    uint32_t pid = action->number;
    bool copy = cells_any(world) ? action->copies : !agent->mine[pid];
    if (!snap || bspz_snapshot_same(agent->abandoned, action->name))
        return;
    if (world->fail_write && !copy) {
        world->fail_write = false;
        world->write_failed = true;
        agent_send_failure(world, action->host, pid, action->name, WIRE_CAUSE_NOT_WRITTEN);
        return;
    }
    put_images(world, action->host, snap, pid, true);
    step_is_done(world, STEP_IMAGE);
    struct wire_message message = {.kind = WIRE_IMAGE_DURABLE,
                                   .envelope = {.superstep = action->name.superstep}};
    message.image_durable.pid = pid;
    message.image_durable.facts = (struct bspz_image_facts){.size = 1000 + pid, .changed = 1000};
    memcpy(message.image_durable.facts.digest, &snap->value[pid], sizeof snap->value[pid]);
    send_to_zero(world, action->host, &message);
    if (world->shared || copy)
        return;
    uint32_t other;
    if (!next_host(world, action->host, &other))
        return;
    struct action *more = agent_plan(world, DO_IMAGE, other, 20);
    more->number = pid;
    more->name = action->name;
    more->copies = true;
}

void disk_manifest(struct world *world, const struct action *action)
{
    struct wire_message message = {.kind = WIRE_PERSISTED,
                                   .envelope = {.superstep = action->name.superstep}};
    struct snap *snap = snap_find(world, action->name, false);
    if (bspz_snapshot_same(world->agents[action->host].abandoned, action->name))
        return;
    if (world->fail_write || !snap) {
        message.persisted.error = ENOSPC;
        world->write_failed = true;
    } else {
        put_manifest(world, action->host, snap, true);
        step_is_done(world, STEP_MANIFEST);
    }
    world->fail_write = false;
    send_to_zero(world, action->host, &message);
}

static bool is_written(const struct world *world, const struct action *action, uint32_t host)
{
    const struct agent *agent = &world->agents[host];
    return (action->kind == DO_IMAGE || action->kind == DO_MANIFEST) && action->host == host &&
           action->life == agent->life && action->term == agent->term &&
           !bspz_snapshot_same(agent->abandoned, action->name);
}

static void put(struct world *world, uint32_t host, const struct action *action, bool synced)
{
    struct snap *snap = snap_find(world, action->name, false);
    if (snap && action->kind == DO_MANIFEST)
        put_manifest(world, host, snap, synced);
    else if (snap)
        put_images(world, host, snap, action->number, synced);
}

/* It has its name, and the directory was synced, or was not; or it has not. */
void disk_agent_ends(struct world *world, uint32_t host)
{
    for (uint32_t i = 0; i < world->time.count; i++) {
        const struct action *action = timeline_at(&world->time, i);
        if (is_written(world, action, host) && apart(world, 2) == 0)
            put(world, host, action, apart(world, 2) == 0);
    }
}

/* Only with hosts that have no common directory. */
void disk_spread_again(struct world *world, uint32_t host)
{
    const struct agent *agent = &world->agents[host];
    uint32_t other;
    if (world->shared || !next_host(world, host, &other))
        return;
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        if (!agent->mine[pid])
            continue;
        struct action *action = plan(world, DO_COPY, 1 + apart(world, 60));
        action->host = other;
        action->life = world->agents[other].life;
        action->term = world->agents[other].term;
        action->number = pid;
        action->name = agent->from;
    }
}

/* A newer snapshot has copies of its own. */
void disk_copy(struct world *world, const struct action *action)
{
    struct snap *snap = snap_find(world, action->name, false);
    if (!snap || !bspz_snapshot_same(world->agents[action->host].known, action->name))
        return;
    put_image(world, action->host, snap, action->number, false);
    put_manifest(world, action->host, snap, true);
}

void disk_fetched(struct world *world, uint32_t host, struct snap *snap, uint32_t pid)
{
    put_image(world, host, snap, pid, false);
    put_manifest(world, host, snap, true);
}

/* ---- Power -------------------------------------------------------------------------------- */

/* First the manifest is removed, which is waited for, then the images. */
static void come_back(struct world *world, struct snap *snap, uint64_t bit)
{
    bool whole = (snap->removed_manifests & bit) && apart(world, 2) == 0;
    if (whole)
        snap->manifests |= bit;
    for (uint32_t pid = 0; pid < snap->processes; pid++)
        if ((snap->removed_images[pid] & bit) && (whole || apart(world, 2) == 0))
            snap->images[pid] |= bit;
}

static void lose_unsynced(struct world *world, struct snap *snap, uint64_t bit)
{
    if ((snap->unsynced_manifests & bit) && apart(world, 2) == 0)
        snap->manifests &= ~bit;
    for (uint32_t pid = 0; pid < snap->processes; pid++)
        if ((snap->unsynced_images[pid] & bit) && apart(world, 2) == 0)
            snap->images[pid] &= ~bit;
}

void disk_loses_power(struct world *world, uint32_t host)
{
    uint64_t bit = disk_bit(world, host);
    for (uint32_t i = 0; i < world->time.count; i++) {
        const struct action *action = timeline_at(&world->time, i);
        if (is_written(world, action, host) && apart(world, 3) == 0)
            put(world, host, action, true);
    }
    if (world->shared && world->host_count > 1)
        return; /* it is elsewhere */
    for (uint32_t i = 0; i < world->snap_count; i++) {
        struct snap *snap = &world->snaps[i];
        lose_unsynced(world, snap, bit);
        come_back(world, snap, bit);
        snap->unsynced_manifests &= ~bit;
        snap->removed_manifests &= ~bit;
        for (uint32_t pid = 0; pid < snap->processes; pid++) {
            snap->unsynced_images[pid] &= ~bit;
            snap->removed_images[pid] &= ~bit;
        }
    }
}

/* ---- Removing ----------------------------------------------------------------------------- */

static void erase(struct world *world, uint32_t host, struct snap *snap)
{
    uint64_t bit = disk_bit(world, host);
    snap->removed_manifests |= snap->manifests & bit;
    snap->manifests &= ~bit;
    snap->unsynced_manifests &= ~bit;
    for (uint32_t pid = 0; pid < RANKS; pid++) {
        snap->removed_images[pid] |= snap->images[pid] & bit;
        snap->images[pid] &= ~bit;
        snap->unsynced_images[pid] &= ~bit;
    }
}

void disk_retire(struct world *world, uint32_t host, struct bspz_snapshot_name name)
{
    for (uint32_t i = 0; i < world->snap_count; i++)
        if (bspz_snapshot_newer(name, world->snaps[i].name))
            erase(world, host, &world->snaps[i]);
    for (uint32_t pid = 0; pid < RANKS; pid++)
        for (int i = 0; i < 2; i++) {
            struct bspz_snapshot_name *copy = &world->agents[host].ranks[pid].copy[i];
            if (copy->term > 0 && bspz_snapshot_newer(name, *copy))
                *copy = (struct bspz_snapshot_name){0};
        }
}

void disk_abandon(struct world *world, uint32_t host, struct bspz_snapshot_name name)
{
    struct agent *agent = &world->agents[host];
    struct snap *snap = snap_find(world, name, false);
    agent->abandoned = name;
    if (snap)
        erase(world, host, snap);
    for (uint32_t pid = 0; pid < RANKS; pid++)
        for (int i = 0; i < 2; i++)
            if (bspz_snapshot_same(agent->ranks[pid].copy[i], name))
                agent->ranks[pid].copy[i] = (struct bspz_snapshot_name){0};
}
