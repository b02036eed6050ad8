/* checks.c - what goes wrong in the made-up world, and what must hold all the same. */
#include "tests/sim/recovery/made_up.h"

#include <string.h>

/* ---- Faults ------------------------------------------------------------------------------- */

static bool pick_rank(struct world *world, uint32_t *host, uint32_t *pid)
{
    uint32_t count = world->processes, start = (uint32_t)random_below(world, count ? count : 1);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < world->host_count; i++) {
            *pid = (start + k) % count;
            *host = i;
            if (world->agents[i].up && !world->agents[i].stopping &&
                world->agents[i].ranks[*pid].alive)
                return true;
        }
    return false;
}

static bool kill_rank(struct world *world, bool by_abort)
{
    uint32_t host, pid;
    struct wire_message message = {.kind = by_abort ? WIRE_ABORT : WIRE_RANK_EXITED};
    if (!pick_rank(world, &host, &pid))
        return false;
    note(world, "process %u %s", pid, by_abort ? "calls bsp_abort" : "is killed");
    if (by_abort) {
        if (!world->agents[host].ranks[pid].runs)
            return false;
        message.abort.pid = (int32_t)pid;
        message.abort.cause = WIRE_CAUSE_ABORT_CALLED;
        message.abort.status = 1;
    } else {
        world->agents[host].ranks[pid].alive = world->agents[host].ranks[pid].runs = false;
        message.rank_exited.pid = pid;
        message.rank_exited.signal = 9;
    }
    send_to_zero(world, host, &message);
    return true;
}

static void tell_loss(struct world *world, uint32_t host, bool unheard, bool usable, uint64_t most)
{
    uint64_t when = world->time.now + 1 + random_below(world, most);
    if (when < world->link_free[host][3])
        when = world->link_free[host][3]; /* behind what the agent had said */
    struct action *action = plan(world, DO_JOB_EVENT, when - world->time.now);
    action->event = (struct job_event){.kind = JOB_EVENT_AGENT_LOST,
                                       .host = world->agents[host].id,
                                       .unheard = unheard,
                                       .usable = usable};
    action->number = world->machine_life;
    for (uint32_t term = 1; term < TERMS; term++) {
        if (!world->zeros[term].shell || world->zeros[term].gone)
            continue;
        struct action *notice = plan(world, DO_NOTICE, 1 + random_below(world, most));
        notice->host = host;
        notice->term = term;
    }
}

static bool lose_agent(struct world *world, enum fault_kind kind)
{
    uint32_t host = (uint32_t)random_below(world, world->host_count);
    struct agent *agent = &world->agents[host];
    if (!agent->up || agent->cut_off || (kind != FAULT_AGENT && world->host_count == 1))
        return false;
    note(world, "host %u: %s", agent->id,
         kind == FAULT_AGENT  ? "its agent is killed"
         : kind == FAULT_HOST ? "it is gone"
                              : "it is cut off");
    drop_link(world, host);
    if (kind != FAULT_AGENT)
        world->disks_lost++;
    if (kind == FAULT_CUT_OFF) {
        tell_loss(world, host, true, false, 100);
        agent->cut_off = true;
        struct action *action = plan(world, DO_ISOLATED, FENCE_MS * 2 / 3);
        action->host = host;
        action->life = agent->life;
        return true;
    }
    agent_ends(world, host);
    agent->gone = kind == FAULT_HOST;
    for (uint32_t i = 0; agent->gone && !world->shared && i < world->snap_count; i++) {
        world->snaps[i].manifests &= ~disk_bit(world, host);
        for (uint32_t pid = 0; pid < RANKS; pid++)
            world->snaps[i].images[pid] &= ~disk_bit(world, host);
    }
    tell_loss(world, host, false, kind == FAULT_AGENT, 30);
    return true;
}

static bool silence_link(struct world *world)
{
    uint32_t host = (uint32_t)random_below(world, world->host_count);
    uint32_t peer = (uint32_t)random_below(world, world->host_count);
    uint64_t until =
        chance(world, 50) ? UINT64_MAX : world->time.now + 50 + random_below(world, 2000);
    uint32_t term = job_machine_term(world->machine);
    bool both = chance(world, 60);
    if (host == peer || !world->agents[host].up || !world->agents[peer].up)
        return false;
    note(world, "host %u does not hear host %u%s until %llu", world->agents[host].id,
         world->agents[peer].id, both ? ", nor the other way," : "", (unsigned long long)until);
    world->silent_until[host][peer] = until;
    if (both)
        world->silent_until[peer][host] = until;
    if (!job_machine_member(world->machine, world->agents[host].id) ||
        !job_machine_member(world->machine, world->agents[peer].id))
        return true;
    plan_complaint(world, host, peer, term);
    if (both)
        plan_complaint(world, peer, host, term);
    return true;
}

/* What was being recorded is durable, or it is not. */
static bool kill_bsprun(struct world *world)
{
    note(world, "bsprun is killed");
    for (uint32_t i = 0; i < world->time.count; i++) {
        const struct action *action = timeline_at(&world->time, i);
        if (action->kind != DO_JOB_EVENT || action->number != world->machine_life ||
            action->event.kind != JOB_EVENT_RECORDED || chance(world, 50))
            continue;
        coord_lineage_add(&world->lineage, action->event.term, action->event.name);
        world->last_term = action->event.term;
    }
    world->machine_life++;
    job_machine_free(world->machine);
    world->machine = NULL;
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action = plan(world, DO_ORPHANED, 1 + random_below(world, 100));
        action->host = i;
        action->life = world->agents[i].life;
    }
    if (chance(world, 80) && world->runs < 4)
        plan(world, DO_RESTART, 500);
    return true;
}

static bool damage(struct world *world)
{
    if (world->snap_count == 0)
        return false;
    world->snaps[world->snap_count - 1].damaged = true;
    return true;
}

static bool wish(struct world *world, enum fault_kind kind)
{
    struct job_event event = {.kind = kind == FAULT_STOP ? JOB_EVENT_STOP : JOB_EVENT_SAVE,
                              .how = WIRE_STOP_SIGNAL,
                              .stop = kind == FAULT_SAVE_STOP,
                              .signal = 15,
                              .grace_ms = 1 + random_below(world, 600)};
    note(world, "the user asks: %s",
         kind == FAULT_STOP        ? "stop"
         : kind == FAULT_SAVE_STOP ? "save and stop"
                                   : "save");
    bsprun_event(world, &event);
    return true;
}

/* An event of a term before this one, in the name of an agent, straight to Processor Zero. */
static bool repeat_old(struct world *world)
{
    uint32_t term = job_machine_term(world->machine);
    if (term < 2 || !world->zeros[term].shell || world->zeros[term].gone)
        return false;
    uint32_t host = world->zeros[term].host;
    uint32_t present = world->agents[host].term;
    if (present != term)
        return false;
    struct wire_message message = {.kind = WIRE_ABORT};
    message.abort.pid = COORD_NOBODY;
    message.abort.cause = WIRE_CAUSE_INTERNAL; /* no job may ever end of this */
    send_to_zero(world, host, &message);
    struct action *action = timeline_last(&world->time);
    message.envelope.term = term - 1;
    action->frame.size = 0;
    if (action->kind != DO_TO_ZERO || wire_encode(&message, &action->frame, NULL, 0) < 0)
        fail(world, "cannot repeat an old message");
    return true;
}

void fault(struct world *world, enum fault_kind kind)
{
    bool took_effect = false;
    if (world->over || !world->machine)
        return;
    switch (kind) {
    case FAULT_RANK:
        took_effect = kill_rank(world, false);
        break;
    case FAULT_ABORT:
        took_effect = kill_rank(world, true);
        break;
    case FAULT_AGENT:
    case FAULT_HOST:
    case FAULT_CUT_OFF:
        took_effect = lose_agent(world, kind);
        break;
    case FAULT_LINK:
        took_effect = silence_link(world);
        break;
    case FAULT_BSPRUN:
        took_effect = kill_bsprun(world);
        break;
    case FAULT_WRITE:
        took_effect = world->fail_write = true;
        break;
    case FAULT_REFUSED:
        took_effect = world->refuse = true;
        break;
    case FAULT_DAMAGE:
        took_effect = damage(world);
        world->data_lost = world->data_lost || took_effect;
        break;
    case FAULT_OLD:
        took_effect = repeat_old(world);
        break;
    case FAULT_SAVE:
    case FAULT_SAVE_STOP:
    case FAULT_STOP:
        took_effect = wish(world, kind);
        break;
    default:
        break;
    }
    world->faults[kind] += took_effect;
}

/* ---- What must hold ----------------------------------------------------------------------- */

/* With two copies of everything, one disk may go. */
static bool data_lost(const struct world *world)
{
    uint32_t enough = world->host_count - world->spares > 1 ? 1 : 0;
    return world->data_lost || (!world->shared && world->disks_lost > enough);
}

/* No process is computed in two places. */
void check_alone(struct world *world)
{
    for (uint32_t pid = 0; pid < world->processes; pid++) {
        uint32_t running = 0;
        for (uint32_t i = 0; i < world->host_count; i++)
            running += world->agents[i].ranks[pid].alive && world->agents[i].ranks[pid].runs;
        if (running > 1)
            fail(world, "process %u runs %u times", pid, running);
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

/* The manifest is not written before all of its images are durable, and all processes captured. */
void check_commit(struct world *world, struct coord_name name)
{
    const struct snap *snap = snap_find(world, name, false);
    if (!snap)
        fail(world, "a manifest for no snapshot");
    uint64_t first = snap->value[0];
    for (uint32_t pid = 0; pid < snap->processes; pid++) {
        uint64_t disks = snap->images[pid];
        if (disks == 0 || (!world->shared && (disks & (disks - 1)) == 0 &&
                           world->zeros[name.term].members > 1 && world->disks_lost == 0))
            fail(world, "a manifest before process %u has its image", pid);
        if (snap->value[pid] != first)
            fail(world, "a manifest of images of two executions");
    }
}

/* The newest that anybody was told of, or one that was committed unheard; never one that was taken
 * back. */
void check_chosen(struct world *world, struct coord_name name)
{
    const struct snap *snap = snap_find(world, name, false);
    /* A disk may be gone whose host had just said what it holds. */
    bool complete = snap && (snap_complete(snap) || (!world->shared && world->disks_lost > 0));
    if (!complete)
        fail(world, "snapshot %llu.%u is chosen, which is not complete",
             (unsigned long long)name.superstep, name.term);
    if (!coord_lineage_allows(&world->lineage, name))
        fail(world, "snapshot %llu.%u is chosen, which was taken back",
             (unsigned long long)name.superstep, name.term);
    if (coord_name_newer(world->announced, name) && !data_lost(world))
        fail(world, "snapshot %llu.%u is chosen, but %llu.%u was committed",
             (unsigned long long)name.superstep, name.term,
             (unsigned long long)world->announced.superstep, world->announced.term);
    /* One that was committed unheard may not be in two places; nobody has made it so yet. */
    if (world->shared || !coord_name_newer(name, world->announced))
        world->announced = name;
}

bool any_complete(const struct world *world)
{
    for (uint32_t i = 0; i < world->snap_count; i++)
        if (snap_complete(&world->snaps[i]) &&
            coord_lineage_allows(&world->lineage, world->snaps[i].name))
            return true;
    return false;
}

static uint32_t hosts_left(const struct world *world)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        left += !world->agents[i].gone && !world->agents[i].cut_off && !world->agents[i].dismissed;
    return left;
}

/* Whether the job may have ended of a fault. */
static bool beyond_help(const struct world *world)
{
    const unsigned *faults = world->faults;
    if (world->cut_short && (faults[FAULT_ABORT] || faults[FAULT_STOP] || faults[FAULT_SAVE_STOP] ||
                             faults[FAULT_WRITE] || faults[FAULT_REFUSED]))
        return true;
    return world->announced.term == 0 || world->restarts_in_a_row >= world->max_restarts ||
           hosts_left(world) == 0 || data_lost(world) || world->closing || world->past_end;
}

static void check_outcome(struct world *world)
{
    const unsigned *faults = world->faults;
    /* Without snapshot 0 there are no processes on other hosts. */
    bool needed = world->announced.term == 0 && world->host_count > 1;
    bool failing =
        (world->stop_on_failure || needed) && (faults[FAULT_WRITE] || faults[FAULT_REFUSED]);
    bool fine = false;
    switch (world->outcome.cause) {
    case WIRE_CAUSE_NONE:
        fine = world->exit_status == world->status;
        break;
    case WIRE_CAUSE_SAVED:
        fine = faults[FAULT_SAVE_STOP] && world->exit_status == JOB_STATUS_SAVED &&
               (any_complete(world) || data_lost(world) ||
                (!world->shared && world->announced.term == 0)); /* committed unheard, see above */
        break;
    case WIRE_CAUSE_STOPPED:
        fine = faults[FAULT_STOP] || faults[FAULT_SAVE_STOP];
        break;
    case WIRE_CAUSE_ABORT_CALLED:
        fine = faults[FAULT_ABORT];
        break;
    case WIRE_CAUSE_REFUSED:
    case WIRE_CAUSE_NOT_WRITTEN:
        fine = failing;
        break;
    case WIRE_CAUSE_KILLED_AFTER_END:
        fine = world->past_end || world->closing;
        break;
    case WIRE_CAUSE_NOTHING_SAVED:
        fine = world->announced.term == 0 || data_lost(world);
        break;
    case WIRE_CAUSE_RANK_SIGNALLED:
    case WIRE_CAUSE_HOST_LOST:
    case WIRE_CAUSE_NOT_RESTORED:
        fine = beyond_help(world);
        break;
    default:
        break;
    }
    if (!fine)
        fail(world, "the job ends with status %d: %s", world->exit_status,
             wire_cause_text(world->outcome.cause));
}

/* When nothing more can happen: the job is over and nothing of it is left but its snapshots. */
void check_end(struct world *world)
{
    if (world->machine && !world->over && hosts_left(world) > 0)
        fail(world, "the job does not end: bsprun is in state %s, term %u",
             job_machine_state_name(job_machine_state(world->machine)),
             job_machine_term(world->machine));
    for (uint32_t i = 0; i < world->host_count; i++)
        for (uint32_t pid = 0; pid < RANKS; pid++)
            if (world->agents[i].ranks[pid].alive)
                fail(world, "process %u is left behind", pid);
    if (world->announced.term > 0 && !data_lost(world) && !any_complete(world))
        fail(world, "nothing is left of what was committed");
    if (world->over)
        check_outcome(world);
}
