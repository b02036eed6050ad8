/* faults.c - what goes wrong in the made-up world. */
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
            if (world->agents[i].up && !job_is_stopping(world->agents[i].job) &&
                world->agents[i].ranks[*pid].alive)
                return true;
        }
    return false;
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
        notice->number = ON_ITS_OWN;
    }
}

void leave_term(struct world *world, uint32_t host)
{
    drop_link(world, host);
    agent_ends(world, host);
    tell_loss(world, host, false, true, 30);
}

static bool kill_rank(struct world *world, bool by_abort)
{
    uint32_t host, pid;
    struct wire_message message = {.kind = by_abort ? WIRE_ABORT : WIRE_RANK_EXITED};
    if (!pick_rank(world, &host, &pid))
        return false;
    note(world, "process %u %s", pid, by_abort ? "calls bsp_abort" : "is killed");
    if (!by_abort && cells_leaves(world, host)) {
        leave_term(world, host);
        return true;
    }
    if (by_abort) {
        if (!world->agents[host].ranks[pid].runs)
            return false;
        message.abort.pid = (int32_t)pid;
        message.abort.cause = WIRE_CAUSE_ABORT_CALLED;
        message.abort.status = 1;
    } else {
        world->agents[host].ranks[pid].alive = world->agents[host].ranks[pid].runs = false;
        world->agents[host].ranks[pid].killed = true;
        message.rank_exited.pid = pid;
        message.rank_exited.signal = 9;
    }
    send_to_zero(world, host, &message);
    world->agents[host].replicated.aborts |= by_abort;
    if (by_abort)
        world->agents[host].replicated.abort = message;
    return true;
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
    /* Only hosts of the same term have links to each other. */
    uint64_t members = world->zeros[term].shell ? world->zeros[term].member_bits : 0;
    if (!(members >> host & 1) || !(members >> peer & 1))
        return true;
    plan_complaint(world, host, peer, term);
    if (both)
        plan_complaint(world, peer, host, term);
    return true;
}

/* What was being recorded is durable, or it is not. */
void kill_bsprun(struct world *world)
{
    note(world, "bsprun is killed");
    for (uint32_t i = 0; i < world->time.count; i++) {
        const struct action *action = timeline_at(&world->time, i);
        if (action->kind != DO_JOB_EVENT || action->number != world->machine_life)
            continue;
        if (action->event.error > 0)
            continue;
        if (action->event.kind == JOB_EVENT_FINISH_RECORDED && apart(world, 2) == 0)
            world->finish_durable = true;
        if (action->event.kind != JOB_EVENT_RECORDED || chance(world, 50))
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
}

void step_is_done(struct world *world, enum step step)
{
    if (world->steps_planned && step == world->step && world->machine && !world->over &&
        --world->step_count == 0)
        world->killed_at_step = true;
}

void plan_steps(struct world *world)
{
    world->steps_planned = true;
    world->step = (enum step)apart(world, STEP_KINDS);
    world->step_count = 1 + (unsigned)apart(world, apart(world, 2) == 0 ? 2 : 10);
}

/* At least two of them, or the only one.  bsprun may run on one. */
static bool lose_power(struct world *world)
{
    uint64_t dark = 0;
    unsigned count = 0;
    bool all = apart(world, 3) == 0;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->agents[i].up && !world->agents[i].cut_off && (all || apart(world, 2) == 0)) {
            dark |= (uint64_t)1 << i;
            count++;
        }
    if (count < 2 && world->host_count > 1)
        return false;
    for (uint32_t i = 0; i < world->host_count; i++) {
        if (!(dark >> i & 1))
            continue;
        note(world, "host %u has no power", world->agents[i].id);
        drop_link(world, i);
        disk_loses_power(world, i);
        kill_ranks(world, i, true);
        world->agents[i].up = false;
        world->agents[i].down_until = world->time.now + 100 + apart(world, 400);
    }
    for (uint32_t term = 1; term < TERMS; term++) {
        struct zero *zero = &world->zeros[term];
        zero->shaken = zero->shaken || (zero->member_bits & dark);
        zero->gone = zero->gone || (zero->shell && (dark >> zero->host & 1));
    }
    if (world->host_count == 1 || apart(world, all ? 2 : 4) == 0) {
        kill_bsprun(world);
        return true;
    }
    for (uint32_t i = 0; i < world->host_count; i++)
        if (dark >> i & 1)
            tell_loss(world, i, true, false, 100);
    return true;
}

static bool slow_down(struct world *world)
{
    struct agent *agent = &world->agents[apart(world, world->host_count)];
    agent->slow_until = world->time.now + apart(world, apart(world, 3) == 0 ? 20000 : 1000);
    note(world, "host %u is slow until %llu", agent->id, (unsigned long long)agent->slow_until);
    return agent->up;
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
    world->stop_asked = world->stop_asked || kind == FAULT_STOP;
    world->save_asked = world->save_asked || kind == FAULT_SAVE_STOP;
    note(world, "the user asks: %s",
         kind == FAULT_STOP        ? "stop"
         : kind == FAULT_SAVE_STOP ? "save and stop"
                                   : "save");
    bsprun_event(world, &event);
    return true;
}

static bool change_places(struct world *world)
{
    static const char *const words[] = {"open", "drained", "removed"}; /* enum job_use */
    uint32_t host = (uint32_t)apart(world, world->host_count);
    uint32_t what = (uint32_t)apart(world, cells_any(world) ? 3 : 5); /* replicas do not move */
    struct job_event event = {.kind = JOB_EVENT_USE, .host = world->agents[host].id};
    if (what < 3) {
        event.use = (enum job_use)what;
        /* One that is called already takes the place of a lost host all the same. */
        world->opened[host] |=
            event.use == JOB_USE_OPEN && job_machine_spare(world->machine, event.host);
        note(world, "host %u is to be %s", event.host, words[what]);
    } else if (what == 3) {
        event.kind = JOB_EVENT_PLACE;
        note(world, "processes are to be placed anew");
    } else {
        uint32_t pid = (uint32_t)apart(world, RANKS);
        event.kind = JOB_EVENT_MOVE;
        world->wanted_moves[world->wanted_count++ % WANTED_MOVES] =
            (struct wire_move){pid, event.host};
        note(world, "process %u is to move to host %u", pid, event.host);
    }
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
    if (present != term || world->agents[host].replicated.waits ||
        world->agents[host].replicated.era != world->zeros[term].era)
        return false; /* it says nothing now */
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
    enum move_step step = moves_step(world);
    uint32_t term = job_machine_term(world->machine);
    switch (kind) {
    case FAULT_RANK:
        took_effect = kill_rank(world, false);
        break;
    case FAULT_ABORT:
        took_effect = kill_rank(world, true);
        world->aborted = world->aborted || took_effect;
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
        took_effect = true;
        kill_bsprun(world);
        break;
    case FAULT_WRITE:
        took_effect = world->fail_write = true;
        break;
    case FAULT_REFUSED:
        took_effect = world->refuse = true;
        break;
    case FAULT_DAMAGE:
        took_effect = damage(world);
        break;
    case FAULT_POWER:
        took_effect = lose_power(world);
        break;
    case FAULT_OLD:
        took_effect = repeat_old(world);
        break;
    case FAULT_SAVE:
    case FAULT_SAVE_STOP:
    case FAULT_STOP:
        took_effect = wish(world, kind);
        break;
    case FAULT_SLOW:
        took_effect = slow_down(world);
        break;
    case FAULT_PLACES:
        took_effect = change_places(world);
        break;
    default:
        break;
    }
    world->faults[kind] += took_effect;
    if (took_effect)
        moves_count(world, kind, step, term);
}
