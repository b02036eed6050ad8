/* checks.c - what must hold in the made-up world, whatever goes wrong. */
#include "tests/sim/recovery/made_up.h"

/* No process is computed in two places. */
void check_alone(struct world *world)
{
    uint64_t running = 0;
    if (cells_any(world)) {
        cells_check_alone(world);
        return;
    }
    for (uint32_t i = 0; i < world->host_count; i++)
        for (uint32_t pid = 0; world->agents[i].up && pid < world->processes; pid++) {
            const struct rank *rank = &world->agents[i].ranks[pid];
            uint64_t bit = (uint64_t)(rank->alive && rank->runs) << pid;
            if (running & bit)
                fail(world, "process %u runs twice", pid);
            running |= bit;
        }
}

/* Nobody leaves the end of superstep s before all have arrived there, and what they bring is of one
 * execution. */
void check_leave(struct world *world, uint32_t term, uint64_t superstep)
{
    struct rank *ranks[RANKS];
    uint32_t found = 0;
    bool left = false;
    for (uint32_t pid = 0; pid < world->processes; pid++)
        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->agents[i].term == term && world->agents[i].mine[pid])
                ranks[found++] = &world->agents[i].ranks[pid];
    uint64_t value = found > 0 ? ranks[0]->value : 0;
    for (uint32_t i = 0; i < found; i++) {
        left = left || ranks[i]->superstep > superstep;
        if (ranks[i]->superstep < superstep ||
            (ranks[i]->superstep == superstep && !ranks[i]->arrived))
            fail(world, "superstep %llu is left too early", (unsigned long long)superstep);
        if (ranks[i]->value != value && ranks[i]->superstep == ranks[0]->superstep)
            fail(world, "processes of two executions meet");
    }
    bool known = found > 0 && ranks[0]->next != 0 && ranks[0]->next >> 56 == (superstep & 0xff);
    if (left || known)
        return;
    uint64_t next = random_below(world, (uint64_t)1 << 56) | superstep << 56 | 1;
    for (uint32_t i = 0; i < found; i++)
        ranks[i]->next = next;
}

/* ---- Snapshots ---------------------------------------------------------------------------- */

static unsigned count_bits(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

/* The hosts of the term that live, as far as Processor Zero knows: one that is lost does not end the
 * term where processes have replicas, nor when the end of the job is decided. */
static uint32_t count_living(const struct world *world, uint32_t term)
{
    const struct coord *state = coord_shell_state(world->zeros[term].shell);
    uint32_t living = 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        living += coord_host_alive(state, world->agents[i].id);
    return living;
}

/* The manifest is not written before all images are durable, on two hosts if there are two that
 * share nothing, and all processes captured. */
void check_images(struct world *world, struct bspz_snapshot_name name)
{
    const struct snap *snap = snap_find(world, name, false);
    if (!snap)
        fail(world, "a manifest for no snapshot");
    unsigned enough = !world->shared && count_living(world, name.term) > 1 ? 2 : 1;
    for (uint32_t pid = 0; pid < snap->processes; pid++) {
        if (count_bits(snap->images[pid] & ~snap->unsynced_images[pid]) < enough)
            fail(world, "a manifest before process %u has its image", pid);
        if (snap->value[pid] != snap->value[0])
            fail(world, "a manifest of images of two executions");
    }
}

static uint64_t disks_of(const struct world *world, const struct zero *zero)
{
    return world->shared ? 1 : zero->member_bits;
}

/* Whoever is left of the term's hosts has the manifest. */
void check_committed(struct world *world, const struct zero *zero, struct bspz_snapshot_name name)
{
    const struct coord *state = coord_shell_state(zero->shell);
    const struct snap *snap = snap_find(world, name, false);
    uint64_t durable = snap ? snap->manifests & ~snap->unsynced_manifests : 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (durable == 0 || (coord_is_addressed(state, world->agents[i].id, WIRE_PERSIST) &&
                             !(durable & disk_bit(world, i))))
            fail(world, "a snapshot without manifest is said to be committed");
    check_images(world, name);
}

bool is_usable(const struct world *world, const struct snap *snap, uint64_t disks)
{
    return snap_complete(snap, disks) && coord_lineage_allows(&world->lineage, snap->name);
}

bool any_complete(const struct world *world, uint64_t disks)
{
    for (uint32_t i = 0; i < world->snap_count; i++)
        if (is_usable(world, &world->snaps[i], disks))
            return true;
    return false;
}

/* The newest that anybody was told of, or one that was committed unheard; never one that was taken
 * back. */
void check_chosen(struct world *world, const struct zero *zero, struct bspz_snapshot_name name)
{
    const struct snap *snap = snap_find(world, name, false);
    const struct snap *announced = snap_find(world, world->announced, false);
    uint64_t disks = disks_of(world, zero);
    if (!snap || (!snap_complete(snap, disks) && !zero->shaken))
        fail(world, "snapshot %llu.%u is chosen, which is not complete",
             (unsigned long long)name.superstep, name.term);
    if (!coord_lineage_allows(&world->lineage, name))
        fail(world, "snapshot %llu.%u is chosen, which was taken back",
             (unsigned long long)name.superstep, name.term);
    bool newer = bspz_snapshot_newer(name, world->announced);
    bool named = zero->wanted != COORD_NEVER;
    if (named && name.superstep != zero->wanted)
        fail(world, "snapshot %llu.%u is chosen, but superstep %llu was named",
             (unsigned long long)name.superstep, name.term, (unsigned long long)zero->wanted);
    if (!named && bspz_snapshot_newer(world->announced, name) && snap_complete(announced, disks) &&
        !announced->damaged)
        fail(world, "snapshot %llu.%u is chosen, but %llu.%u was committed",
             (unsigned long long)name.superstep, name.term,
             (unsigned long long)world->announced.superstep, world->announced.term);
    /* One that was committed unheard may not be in two places, or not yet be durable. */
    if (!newer || (world->shared && snap_synced(snap)))
        world->announced = snap_synced(snap) ? name : (struct bspz_snapshot_name){0};
}

/* Of the term's hosts those that live.  One that has lost its power may have again what it had
 * removed, and said that it does not have. */
static uint64_t living_disks_of(const struct world *world, const struct zero *zero)
{
    uint64_t disks = disks_of(world, zero);
    for (uint32_t i = 0; !world->shared && i < world->host_count; i++)
        if (!world->agents[i].up || world->agents[i].term != zero->term)
            disks &= ~disk_bit(world, i);
    return disks;
}

/* One that is damaged has been tried, or is not looked at before. */
void check_nothing_saved(struct world *world, const struct zero *zero)
{
    uint64_t disks = living_disks_of(world, zero);
    for (uint32_t i = 0; i < world->snap_count; i++) {
        const struct snap *snap = &world->snaps[i];
        bool wanted = zero->wanted == COORD_NEVER || zero->wanted == snap->name.superstep;
        if (wanted && snap->name.term < zero->term && !snap->damaged &&
            is_usable(world, snap, disks))
            fail(world, "nothing is found to go on from, but there is snapshot %llu.%u",
                 (unsigned long long)snap->name.superstep, snap->name.term);
    }
    world->nothing_saved = true;
}

/* ---- The end ------------------------------------------------------------------------------ */

/* All hosts are lost, and bsprun knows it. */
static bool nobody_left(const struct world *world)
{
    for (uint32_t i = 0; i < world->host_count; i++)
        if (!world->agents[i].given_up && !world->agents[i].dismissed)
            return false;
    return true;
}

static bool may_end_for(const struct world *world, enum wire_cause cause);

/* Whether a fault may end the job.  What is closed because Processor Zero cuts the job short is not
 * rolled back: it had a reason, and that must be one. */
static bool beyond_help(const struct world *world)
{
    if (cells_any(world) && world->faults[FAULT_PLACES] > 0)
        return true; /* those that are left may be hosts that the user has removed */
    if (world->cut_short)
        return may_end_for(world, world->cut_short_for);
    return world->announced.term == 0 || world->nothing_saved ||
           world->restarts_in_a_row >= world->max_restarts || nobody_left(world) || world->closing;
}

static bool may_end_for(const struct world *world, enum wire_cause cause)
{
    /* Without snapshot 0 there are no processes on other hosts. */
    bool needed = world->announced.term == 0 && world->host_count > 1;
    switch (cause) {
    case WIRE_CAUSE_SAVED:
        return world->save_asked && any_complete(world, UINT64_MAX);
    case WIRE_CAUSE_STOPPED:
        return world->stop_asked || world->save_asked;
    case WIRE_CAUSE_ABORT_CALLED:
        return world->aborted;
    case WIRE_CAUSE_REFUSED:
        return (world->stop_on_failure || needed) && world->was_refused;
    case WIRE_CAUSE_NOT_WRITTEN:
        return world->not_recorded || ((world->stop_on_failure || needed) && world->write_failed);
    case WIRE_CAUSE_KILLED_AFTER_END:
    case WIRE_CAUSE_EXITED_AFTER_END:
        return world->closing;
    case WIRE_CAUSE_NOTHING_SAVED:
        return world->nothing_saved;
    case WIRE_CAUSE_NO_MEMORY:
        return world->no_memory;
    case WIRE_CAUSE_PLACEMENT: /* some hosts are drained before it begins */
        return cells_any(world) && world->faults[FAULT_PLACES] > 0;
    case WIRE_CAUSE_RANK_SIGNALLED:
    case WIRE_CAUSE_HOST_LOST:
    case WIRE_CAUSE_NOT_RESTORED:
        return world->cut_short ? world->announced.term == 0 || world->closing : beyond_help(world);
    default:
        return false;
    }
}

void check_outcome(struct world *world)
{
    enum wire_cause cause = world->outcome.cause;
    bool fine = may_end_for(world, cause);
    if (cause == WIRE_CAUSE_NONE)
        fine = world->exit_status == world->status;
    else if (world->cut_short && cause != world->cut_short_for)
        fine = fine || beyond_help(world);
    if (cause == WIRE_CAUSE_SAVED && world->exit_status != JOB_STATUS_SAVED)
        fine = false;
    if (!fine)
        fail(world, "the job ends with status %d: %s", world->exit_status, wire_cause_text(cause));
}

/* What was committed is there, or something newer, on disks that were lost at worst. */
static bool is_remembered(const struct world *world)
{
    for (uint32_t i = 0; i < world->snap_count; i++)
        if (!bspz_snapshot_newer(world->announced, world->snaps[i].name) &&
            is_usable(world, &world->snaps[i], UINT64_MAX))
            return true;
    return false;
}

/* When nothing more can happen: the job is over and nothing of it is left but its snapshots. */
void check_end(struct world *world)
{
    if (world->machine && !world->over)
        fail(world, "the job does not end: bsprun is in state %s, term %u",
             job_machine_state_name(job_machine_state(world->machine)),
             job_machine_term(world->machine));
    for (uint32_t i = 0; i < world->host_count; i++)
        for (uint32_t pid = 0; pid < RANKS; pid++)
            if (world->agents[i].ranks[pid].alive)
                fail(world, "process %u is left behind", pid);
    if (world->announced.term > 0 && !is_remembered(world))
        fail(world, "nothing is left of what was committed");
}
