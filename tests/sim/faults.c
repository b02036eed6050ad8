/* faults.c - what goes wrong in the made-up world. */
#include "tests/sim/sim.h"

#include "tests/unit/wire_sample.h"

/* A living process, or NOBODY. */
static uint32_t pick_rank(struct world *world, uint32_t *host)
{
    uint32_t pid = (uint32_t)sim_random(world, world->processes ? world->processes : 1);
    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct agent *agent = &world->agents[i];
        if (agent->dead || agent->over || agent->stopping || !sim_rank_on(world, i, pid) ||
            !world->ranks[pid].alive)
            continue;
        *host = i;
        return pid;
    }
    return NOBODY;
}

static bool kill_rank(struct world *world, bool by_signal)
{
    uint32_t host, pid = pick_rank(world, &host);
    if (pid == NOBODY)
        return false;
    if (by_signal)
        world->possible |= 1u << WIRE_CAUSE_RANK_SIGNALLED | 1u << WIRE_CAUSE_KILLED_AFTER_END;
    else
        world->possible |= 1u << WIRE_CAUSE_RANK_EXITED | 1u << WIRE_CAUSE_EXITED_AFTER_END;
    sim_log(world, "process %u on host %u ends", pid, world->agents[host].id);
    sim_rank_exits(world, host, pid, by_signal ? 0 : (uint32_t)sim_random(world, 4),
                   by_signal ? 9 : 0);
    return true;
}

static bool abort_rank(struct world *world)
{
    uint32_t host, pid = pick_rank(world, &host);
    if (pid == NOBODY)
        return false;
    world->possible |= 1u << WIRE_CAUSE_ABORT_CALLED;
    struct wire_message message = {.kind = WIRE_ABORT};
    message.abort.host = world->agents[host].id;
    message.abort.pid = (int32_t)pid;
    message.abort.cause = WIRE_CAUSE_ABORT_CALLED;
    message.abort.status = 1;
    message.abort.text = "ABORT";
    sim_send_to_zero(world, host, &message);
    return true;
}

/* The host is gone.  Processor Zero hears of it, or bsprun if it was its own host. */
void sim_lose_host(struct world *world, uint32_t host, uint64_t notice)
{
    sim_log(world, "host %u is gone", world->agents[host].id);
    sim_agent_gone(world, host);
    world->agents[host].dead = true;
    struct zero *zero = &world->zeros[world->term];
    if (zero->host == host) {
        zero->gone = true;
        sim_plan(world, DO_OPEN_TERM, notice);
    } else {
        sim_plan(world, DO_NOTICE_LOSS, notice)->host = host;
    }
}

static bool lose_agent(struct world *world, bool frozen)
{
    uint32_t host = (uint32_t)sim_random(world, world->host_count);
    if (world->agents[host].dead || world->agents[host].over || world->agents[host].cut_off)
        return false;
    if (!frozen)
        sim_drop_in_flight(world, host, 50);
    sim_lose_host(world, host, frozen ? 20 + sim_random(world, 200) : 1 + sim_random(world, 10));
    return true;
}

/* Processor Zero loses everybody and everybody loses it; it acts on in its old term. */
static bool cut_off(struct world *world)
{
    struct zero *zero = &world->zeros[world->term];
    if (world->host_count == 1 || zero->gone || world->agents[zero->host].cut_off ||
        world->agents[zero->host].over || world->term == TERMS)
        return false;
    sim_log(world, "host %u is cut off", world->agents[zero->host].id);
    world->agents[zero->host].cut_off = true;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (i != zero->host)
            sim_plan(world, DO_NOTICE_LOSS, 1 + sim_random(world, 60))->host = i;
    sim_plan(world, DO_OPEN_TERM, 1 + sim_random(world, 60));
    /* Left alone, the host stops its processes before others may replace them. */
    sim_plan(world, DO_CUT_AGENT, 100 + sim_random(world, 50))->host = zero->host;
    return true;
}

/* Any message for Processor Zero, filled with anything, from a host that has gone mad. */
static bool lie(struct world *world)
{
    uint32_t host = (uint32_t)sim_random(world, world->host_count);
    struct agent *agent = &world->agents[host];
    if (agent->dead || agent->over || agent->term == 0)
        return false;
    agent->bad = true;
    world->possible = ~0u; /* a lie may be believed */
    struct wire_message message;
    enum wire_kind kind = WIRE_HOST_READY + (enum wire_kind)sim_random(world, 7);
    wire_sample(kind, 1 + (unsigned)sim_random(world, 50), &message);
    *wire_sender(&message) = agent->id;
    if (sim_chance(world, 50))
        message.envelope.superstep = sim_random(world, 12);
    sim_log(world, "host %u lies: %s", agent->id, wire_kind_name(kind));
    sim_send_to_zero(world, host, &message);
    return true;
}

/* An event of a term before this one, straight to Processor Zero. */
static bool repeat_old(struct world *world)
{
    struct zero *zero = &world->zeros[world->term];
    if (zero->gone)
        return false;
    uint32_t host = (uint32_t)sim_random(world, world->host_count);
    struct agent *agent = &world->agents[host];
    if (agent->dead || agent->over || agent->cut_off || world->agents[zero->host].cut_off ||
        agent->term != world->term)
        return false;
    struct wire_message message = {.kind = WIRE_ABORT};
    message.abort.host = agent->id;
    message.abort.pid = COORD_NOBODY;
    message.abort.cause = WIRE_CAUSE_INTERNAL; /* never in `possible`: it must be dropped */
    sim_send_to_zero(world, host, &message);
    /* What was just put on the link gets an older term. */
    struct action *action = timeline_last(&world->time);
    message.envelope.term = world->term - 1;
    action->frame.size = 0;
    if (action->kind != DO_DELIVER_TO_ZERO || wire_encode(&message, &action->frame, NULL, 0) < 0)
        sim_fail(world, "cannot repeat an old message");
    return true;
}

static bool ask_to_stop(struct world *world, enum wire_stop_how how)
{
    struct zero *zero = &world->zeros[world->term];
    if (zero->gone || zero->finished || world->agents[zero->host].cut_off)
        return false;
    enum coord_phase before = coord_phase(coord_shell_state(zero->shell));
    world->stop_asked = true;
    world->possible |=
        how == WIRE_STOP_TIMEOUT ? 1u << WIRE_CAUSE_TIMEOUT : 1u << WIRE_CAUSE_STOPPED;
    coord_shell_order(zero->shell,
                      &(struct wire_message){.kind = WIRE_STOP, .stop = {how, 2, "asked to"}});
    sim_check_step(world, zero, before);
    return true;
}

void sim_fault(struct world *world, enum fault_kind kind)
{
    bool took_effect = false;
    if (world->job_over)
        return;
    switch (kind) {
    case FAULT_RANK_KILLED:
        took_effect = kill_rank(world, true);
        break;
    case FAULT_RANK_EXITS:
        took_effect = kill_rank(world, false);
        break;
    case FAULT_RANK_ABORTS:
        took_effect = abort_rank(world);
        break;
    case FAULT_AGENT_DIES:
        took_effect = lose_agent(world, false);
        break;
    case FAULT_AGENT_FREEZES:
        took_effect = lose_agent(world, true);
        break;
    case FAULT_CUT_OFF:
        took_effect = cut_off(world);
        break;
    case FAULT_BAD_AGENT:
        took_effect = lie(world);
        break;
    case FAULT_OLD_MESSAGE:
        took_effect = repeat_old(world);
        break;
    case FAULT_STOP:
        took_effect = ask_to_stop(world, WIRE_STOP_SIGNAL);
        break;
    case FAULT_TIMEOUT:
        took_effect = ask_to_stop(world, WIRE_STOP_TIMEOUT);
        break;
    case FAULT_KINDS:
        break;
    }
    world->faults[kind] += took_effect;
}
