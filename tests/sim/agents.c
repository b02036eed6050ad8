/* agents.c - what an agent does with Processor Zero's messages, and its processes. */
#include "tests/sim/sim.h"

#include <string.h>

bool sim_rank_on(const struct world *world, uint32_t host, uint32_t pid)
{
    const struct agent *agent = &world->agents[host];
    return pid >= agent->first && pid - agent->first < agent->count;
}

/* Nobody hears an agent that is dead; bsprun has done with one that is over. */
static bool acts(const struct agent *agent)
{
    return !agent->dead && !agent->over && !agent->out;
}

static void start_rank(struct world *world, uint32_t host, uint32_t pid)
{
    world->ranks[pid].alive = true;
    world->ranks[pid].host = host;
}

void sim_agent_start(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    if (!acts(agent) || agent->term > 0)
        return;
    agent->term = 1;
    struct wire_message message = {.kind = WIRE_HOST_READY};
    message.host_ready.host = agent->id;
    message.host_ready.slots = agent->slots;
    sim_send_to_zero(world, host, &message);
    if (host != world->registrar)
        return;
    agent->first = 0;
    agent->count = 1;
    start_rank(world, host, 0);
    message = (struct wire_message){.kind = WIRE_REGISTERED};
    message.registered.host = agent->id;
    message.registered.wanted = world->wanted;
    sim_send_to_zero(world, host, &message);
}

static void kill_ranks(struct world *world, uint32_t host)
{
    for (uint32_t pid = 0; pid < RANKS_MAX; pid++)
        if (world->ranks[pid].host == host)
            world->ranks[pid].alive = false;
}

void sim_agent_elect(struct world *world, uint32_t host, uint32_t term)
{
    struct agent *agent = &world->agents[host];
    if (agent->dead || agent->over || agent->cut_off)
        return;
    /* What goes on belongs to the old term. */
    kill_ranks(world, host);
    agent->count = 0;
    agent->stopping = agent->out = agent->given_up = false;
    agent->term = term;
    struct wire_message message = {.kind = WIRE_HOST_READY};
    message.host_ready.host = agent->id;
    message.host_ready.slots = agent->slots;
    sim_send_to_zero(world, host, &message);
}

/* The agent ends, and with it its processes and the Processor Zero that it runs. */
void sim_agent_gone(struct world *world, uint32_t host)
{
    kill_ranks(world, host);
    world->agents[host].over = true;
    for (uint32_t term = 1; term <= world->term; term++)
        if (world->zeros[term].host == host)
            world->zeros[term].gone = true;
}

/* It does nothing in that term any more; bsprun may have another one for it. */
void sim_agent_dropped(struct world *world, uint32_t host, uint32_t term)
{
    struct agent *agent = &world->agents[host];
    if (agent->term > term)
        return;
    kill_ranks(world, host);
    agent->out = true;
}

void sim_agent_stopped(struct world *world, uint32_t host, uint32_t term)
{
    struct agent *agent = &world->agents[host];
    if (!acts(agent) || agent->term != term)
        return;
    kill_ranks(world, host);
    struct wire_message message = {.kind = WIRE_RANKS_STOPPED};
    message.ranks_stopped.host = agent->id;
    sim_send_to_zero(world, host, &message);
}

/* ---- Processes ---------------------------------------------------------------------------- */

static void compute(struct world *world, uint32_t host, uint32_t pid)
{
    struct action *action =
        sim_plan(world, DO_RANK_ARRIVES, 1 + sim_random(world, sim_chance(world, 5) ? 200 : 10));
    action->host = host;
    action->number = pid;
}

static void plan_exit(struct world *world, uint32_t host, uint32_t pid)
{
    struct action *action = sim_plan(world, DO_RANK_EXITS, 1 + sim_random(world, 30));
    action->host = host;
    action->number = pid;
}

/* All processes of the host leave the barrier that ends this superstep. */
static void leave(struct world *world, uint32_t host, uint64_t superstep)
{
    struct agent *agent = &world->agents[host];
    sim_check_leave(world, host, superstep);
    agent->waiting = false;
    for (uint32_t i = 0; i < agent->count; i++) {
        struct rank *rank = &world->ranks[agent->first + i];
        if (!rank->alive)
            continue;
        rank->at_barrier = false;
        rank->superstep = superstep + 1;
        compute(world, host, agent->first + i);
    }
}

static void leave_the_end(struct world *world, uint32_t host, uint64_t superstep)
{
    struct agent *agent = &world->agents[host];
    sim_check_leave(world, host, superstep);
    agent->waiting = false;
    for (uint32_t i = 0; i < agent->count; i++) {
        struct rank *rank = &world->ranks[agent->first + i];
        if (!rank->alive)
            continue;
        rank->past_end = true;
        plan_exit(world, host, agent->first + i);
    }
}

static uint64_t last_superstep(const struct world *world, uint32_t pid)
{
    bool early = pid == world->early && world->supersteps > 0;
    return early ? world->supersteps - 1 : world->supersteps;
}

static void tell_mismatch(struct world *world, uint32_t host)
{
    world->possible |= 1u << WIRE_CAUSE_MISMATCH;
    struct wire_message message = {.kind = WIRE_ABORT};
    message.abort.host = world->agents[host].id;
    message.abort.pid = COORD_NOBODY;
    message.abort.cause = WIRE_CAUSE_MISMATCH;
    message.abort.status = 1;
    message.abort.text = "some processes are in bsp_sync, some in bsp_end";
    sim_send_to_zero(world, host, &message);
}

static void all_arrived(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    uint64_t superstep = world->ranks[agent->first].superstep;
    uint32_t ends = 0;
    for (uint32_t i = 0; i < agent->count; i++)
        ends += last_superstep(world, agent->first + i) == superstep;
    agent->waiting = true;
    agent->barrier = superstep;
    if (ends > 0 && ends < agent->count) {
        tell_mismatch(world, host);
        return;
    }
    bool alone = agent->count == world->processes && world->host_count == 1;
    if (alone && ends == 0 && agent->consult != superstep) {
        leave(world, host, superstep);
        return;
    }
    struct wire_message message = {.kind = WIRE_ARRIVE, .envelope = {.superstep = superstep}};
    message.arrive.host = agent->id;
    message.arrive.barrier = ends > 0 ? WIRE_BARRIER_END : WIRE_BARRIER_SYNC;
    sim_send_to_zero(world, host, &message);
    if (ends > 0 && alone)
        leave_the_end(world, host, superstep);
}

void sim_rank_arrives(struct world *world, uint32_t host, uint32_t pid)
{
    struct agent *agent = &world->agents[host];
    struct rank *rank = &world->ranks[pid];
    if (!acts(agent) || !rank->alive || agent->stopping)
        return;
    rank->at_barrier = true;
    for (uint32_t i = 0; i < agent->count; i++) {
        const struct rank *other = &world->ranks[agent->first + i];
        if (!other->alive || !other->at_barrier || other->superstep != rank->superstep)
            return;
    }
    all_arrived(world, host);
}

/* Before it was let out of bsp_end: without snapshots that is the job's end, whatever else
 * Processor Zero knows by now. */
static void tell_early_end(struct world *world, uint32_t host, uint32_t pid, uint32_t status,
                           uint32_t signal)
{
    struct wire_message message = {.kind = WIRE_ABORT};
    if (world->agents[host].stopping)
        return; /* nobody asks what ends while all is ended */
    message.abort.host = world->agents[host].id;
    message.abort.pid = (int32_t)pid;
    message.abort.cause = signal > 0 ? WIRE_CAUSE_RANK_SIGNALLED : WIRE_CAUSE_RANK_EXITED;
    message.abort.status = signal > 0 ? 128 + (int32_t)signal : status > 0 ? (int32_t)status : 1;
    message.abort.text = "it ended before bsp_end";
    world->possible |= 1u << message.abort.cause;
    sim_send_to_zero(world, host, &message);
}

void sim_rank_exits(struct world *world, uint32_t host, uint32_t pid, uint32_t status,
                    uint32_t signal)
{
    struct agent *agent = &world->agents[host];
    struct rank *rank = &world->ranks[pid];
    if (!acts(agent) || !rank->alive)
        return;
    rank->alive = false;
    if (!rank->past_end) {
        tell_early_end(world, host, pid, status, signal);
        return;
    }
    if (pid == 0)
        world->status = status;
    struct wire_message message = {.kind = WIRE_RANK_EXITED};
    message.rank_exited.host = agent->id;
    message.rank_exited.pid = pid;
    message.rank_exited.status = status;
    message.rank_exited.signal = signal;
    sim_send_to_zero(world, host, &message);
}

/* ---- Messages of Processor Zero ------------------------------------------------------------ */

static void place(struct world *world, uint32_t host, const struct wire_place *place)
{
    struct agent *agent = &world->agents[host];
    agent->count = 0;
    for (uint32_t pid = 0; pid < place->processes; pid++) {
        if (place->host_of.items[pid] != agent->id)
            continue;
        if (agent->count++ == 0)
            agent->first = pid;
    }
    world->processes = place->processes;
    struct action *action = sim_plan(world, DO_REPORT_READY, 1 + sim_random(world, 30));
    action->host = host;
}

/* The processes exist, unless process 0 has died meanwhile, which was reported. */
void sim_agent_ready(struct world *world, uint32_t host)
{
    struct agent *agent = &world->agents[host];
    if (!acts(agent) || agent->stopping || agent->term > 1)
        return;
    for (uint32_t i = 0; i < agent->count; i++)
        if (agent->first + i > 0)
            start_rank(world, host, agent->first + i);
    struct wire_message message = {.kind = WIRE_RANKS_READY};
    message.ranks_ready.host = agent->id;
    message.ranks_ready.count = agent->count;
    sim_send_to_zero(world, host, &message);
}

static void release(struct world *world, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = &world->agents[host];
    agent->consult = message->release.consult;
    if (agent->count == 0 || !agent->waiting || agent->barrier != message->envelope.superstep)
        return; /* idle, or the barrier of bsp_end on one host, or what nobody has asked */
    switch (message->release.decision) {
    case WIRE_DECISION_GO:
        leave(world, host, message->envelope.superstep);
        break;
    case WIRE_DECISION_END:
        leave_the_end(world, host, message->envelope.superstep);
        break;
    default:
        break; /* STOP_RANKS follows */
    }
}

static void plan_stopped(struct world *world, uint32_t host)
{
    struct action *action = sim_plan(world, DO_RANKS_STOPPED, 1 + sim_random(world, 40));
    action->host = host;
    action->term = world->agents[host].term;
}

void sim_agent_message(struct world *world, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = &world->agents[host];
    if (!acts(agent))
        return;
    if (message->envelope.term < agent->term) {
        sim_log(world, "host %u ignores %s of term %u", agent->id, wire_kind_name(message->kind),
                message->envelope.term);
        return;
    }
    if (message->envelope.term > agent->term)
        sim_fail(world, "host %u hears of a term it was not told of", agent->id);
    if (agent->stopping && message->kind != WIRE_END)
        sim_fail(world, "%s comes after STOP_RANKS", wire_kind_name(message->kind));
    switch (message->kind) {
    case WIRE_PLACE:
        place(world, host, &message->place);
        break;
    case WIRE_RUN:
        agent->consult = message->run.consult;
        for (uint32_t i = 0; i < agent->count; i++)
            compute(world, host, agent->first + i);
        break;
    case WIRE_RELEASE:
        release(world, host, message);
        break;
    case WIRE_STOP_RANKS:
        agent->stopping = true;
        plan_stopped(world, host);
        break;
    case WIRE_END:
        agent->over = true;
        break;
    default:
        sim_fail(world, "Processor Zero sends %s to an agent", wire_kind_name(message->kind));
    }
}
