/* hosts.c - agents and processes; see world.h. */
#include <string.h>

#include "tests/sim/survive/world.h"

static struct line *line_of(struct host *host, uint32_t pid, uint64_t superstep)
{
    return &host->lines[pid][superstep & 1];
}

static bool is_here(const struct world *world, uint32_t h, uint32_t pid)
{
    return world->hosts[h].home[pid] == h;
}

static struct action *plan(struct world *world, enum action_kind kind, uint32_t host, uint32_t pid,
                           uint64_t delay)
{
    struct action *action = timeline_plan(&world->time, delay);

    action->kind = kind;
    action->host = host;
    action->pid = pid;
    action->life = world->processes[pid].life;
    return action;
}

static void call_later(struct world *world, uint32_t pid)
{
    plan(world, DO_CALL, world->processes[pid].host, pid, 1 + timeline_random(&world->time, 20));
}

/* ---- Barriers ------------------------------------------------------------------------------- */

static void send_block(struct world *world, uint32_t h, uint64_t superstep)
{
    const struct wire_message message = {.kind = WIRE_MEET, .envelope.superstep = superstep};

    world->hosts[h].block = superstep + 1;
    for (uint32_t to = 0; to < world->host_count; to++) {
        struct action *block = to == h ? NULL : world_send(world, h, to, &message);

        if (!block)
            continue;
        block->block = true;
        for (uint32_t pid = 0; pid < world->pids; pid++)
            block->ends[pid] = line_of(&world->hosts[h], pid, superstep)->ends;
    }
}

static bool all_have(struct world *world, uint32_t h, uint64_t superstep, bool here, bool began)
{
    for (uint32_t pid = 0; pid < world->pids; pid++)
        if ((!here || is_here(world, h, pid)) && (!began || world->processes[pid].began == h) &&
            line_of(&world->hosts[h], pid, superstep)->stamp <= superstep)
            return false;
    return true;
}

static enum wire_barrier barrier_of(struct world *world, uint32_t h, uint64_t superstep)
{
    for (uint32_t pid = 0; pid < world->pids; pid++)
        if (!line_of(&world->hosts[h], pid, superstep)->ends)
            return WIRE_BARRIER_CALL;
    return WIRE_BARRIER_END;
}

/* The agent has heard that the processes here have met all others. */
void hosts_met(struct world *world, uint32_t h)
{
    struct host *host = &world->hosts[h];
    uint64_t superstep = host->superstep;
    struct wire_message message = {.kind = WIRE_ARRIVE, .envelope.superstep = superstep};

    if (host->consulted != superstep + 1 || host->told > superstep)
        return;
    if (!all_have(world, h, superstep, true, false)) {
        survive_summary.held_up++; /* they had met lost ones that have come here */
        return;
    }
    message.arrive = (struct wire_arrive){
        .host = h, .barrier = barrier_of(world, h, superstep), .survived = host->survived};
    host->told = superstep + 1;
    world_tell_zero(world, h, &message);
}

static void scan(struct world *world, uint32_t h)
{
    struct host *host = &world->hosts[h];
    uint64_t superstep = host->superstep;

    if (host->block <= superstep && all_have(world, h, superstep, true, true))
        send_block(world, h, superstep);
    if (host->consulted > superstep || !all_have(world, h, superstep, false, false))
        return;
    host->consulted = superstep + 1;
    plan(world, DO_MEET, h, 0, 1 + timeline_random(&world->time, 10));
}

static void arrive(struct world *world, uint32_t pid, bool ends)
{
    struct process *process = &world->processes[pid];
    struct host *host = &world->hosts[process->host];

    process->at_barrier = true;
    process->ends = ends;
    *line_of(host, pid, process->superstep) = (struct line){process->superstep + 1, ends};
    scan(world, process->host);
}

/* ---- Processes ------------------------------------------------------------------------------ */

void hosts_call(struct world *world, const struct action *action)
{
    struct process *process = &world->processes[action->pid];
    const struct host *host = &world->hosts[process->host];

    if (!process->lives || process->life != action->life || process->at_barrier)
        return;
    if (process->done == process->total) {
        arrive(world, action->pid, true);
        return;
    }
    if (host->consult_from <= process->superstep && process->done >= process->farthest) {
        arrive(world, action->pid, false);
        return;
    }
    process->done++;
    if (process->done > process->farthest)
        process->farthest = process->done;
    call_later(world, action->pid);
}

void hosts_start(struct world *world, const struct action *action)
{
    struct process *process = &world->processes[action->pid];

    if (process->life != action->life || world->hosts[process->host].lost)
        return;
    process->lives = true;
    process->done = process->captured[process->from];
    world->asked[process->left] = false;
    call_later(world, action->pid);
}

/* ---- Orders --------------------------------------------------------------------------------- */

/* All have met: who is at the end arrives there again. */
static void go_on(struct world *world, uint32_t h, uint64_t superstep)
{
    world->hosts[h].superstep = superstep + 1;
    world->hosts[h].captures = 0;
    for (uint32_t pid = 0; pid < world->pids; pid++) {
        struct process *process = &world->processes[pid];

        if (!is_here(world, h, pid))
            continue;
        if (!process->at_barrier || process->superstep != superstep)
            timeline_fail(&world->time, "host %u lets process %u past superstep %llu", h, pid,
                          (unsigned long long)superstep);
        process->at_barrier = false;
        process->superstep = superstep + 1;
        if (process->ends)
            arrive(world, pid, true);
        else
            call_later(world, pid);
    }
}

static void capture(struct world *world, uint32_t h, uint64_t superstep)
{
    struct wire_message message = {.kind = WIRE_CAPTURED, .envelope.superstep = superstep};

    if (superstep + 1 >= STEPS_MOST)
        timeline_fail(&world->time, "too many supersteps");
    world->hosts[h].captures = superstep + 1;
    message.captured.host = h;
    world_tell_zero(world, h, &message);
    for (uint32_t pid = 0; pid < world->pids; pid++) {
        if (!is_here(world, h, pid))
            continue;
        world->processes[pid].captured[superstep + 1] = world->processes[pid].done;
        message =
            (struct wire_message){.kind = WIRE_IMAGE_DURABLE, .envelope.superstep = superstep + 1};
        message.image_durable.host = h;
        message.image_durable.pid = pid;
        world_tell_zero(world, h, &message);
    }
}

static void release(struct world *world, uint32_t h, const struct wire_message *message)
{
    uint64_t superstep = message->envelope.superstep;
    struct host *host = &world->hosts[h];

    if (superstep + 1 != host->consulted)
        return;
    host->consult_from = message->release.consult;
    if (message->release.decision == WIRE_DECISION_GO)
        host->next = message->release.consult;
    if (message->release.decision == WIRE_DECISION_SNAPSHOT) {
        capture(world, h, superstep);
    } else if (message->release.decision == WIRE_DECISION_GO) {
        go_on(world, h, superstep);
    } else {
        for (uint32_t pid = 0; pid < world->pids; pid++) {
            struct wire_message exited = {.kind = WIRE_RANK_EXITED};

            if (!is_here(world, h, pid))
                continue;
            world->processes[pid].gone = true;
            exited.rank_exited.host = h;
            exited.rank_exited.pid = pid;
            world_tell_zero(world, h, &exited);
        }
    }
}

static void survive(struct world *world, uint32_t h, const struct action *action)
{
    const struct wire_survived *order = &action->message.survived;
    struct host *host = &world->hosts[h];
    uint64_t superstep = action->message.envelope.superstep;

    if (order->number != host->survived + 1)
        timeline_fail(&world->time, "host %u hears of loss %u after %u", h, order->number,
                      host->survived);
    host->survived = order->number;
    host->deaf_to[order->lost] = true;
    for (uint32_t i = 0; i < order->moves.count; i++) {
        uint32_t pid = action->moves[i].pid;
        struct line *line = line_of(host, pid, superstep);
        struct process *process = &world->processes[pid];

        host->home[pid] = action->moves[i].host;
        host->moved[pid] = host->home[pid] == h;
        if (host->met_by[pid] < host->survived && line->stamp == superstep + 1) {
            line->stamp = 0;
            survive_summary.taken_back++;
        }
        if (!host->moved[pid])
            continue;
        host->met[pid] = superstep;
        process->host = h;
        process->left = order->lost;
        process->from = order->name.superstep;
        process->life++;
        process->superstep = superstep;
        process->at_barrier = process->lives = false;
        plan(world, DO_START, h, pid, 1 + timeline_random(&world->time, 60));
    }
    plan(world, DO_LOOK, h, 0, 1 + timeline_random(&world->time, 10));
}

static void meet(struct world *world, uint32_t h, const struct action *action)
{
    const struct wire_meet *said = &action->message.meet;
    uint64_t superstep = action->message.envelope.superstep;
    struct host *host = &world->hosts[h];

    for (uint32_t pid = 0; action->block && pid < world->pids; pid++)
        if (world->processes[pid].began == action->from)
            *line_of(host, pid, superstep) = (struct line){superstep + 1, action->ends[pid]};
    if (!action->block && !is_here(world, h, said->pid)) {
        host->met_by[said->pid] = said->survived;
        *line_of(host, said->pid, superstep) = (struct line){superstep + 1, said->flags};
    }
    scan(world, h);
}

/* ---- Another Processor Zero ----------------------------------------------------------------- */

static bool has_arrived(const struct host *host)
{
    return host->told == host->superstep + 1 && host->captures == 0;
}

void hosts_take_over(struct world *world, const struct action *action)
{
    uint32_t h = action->host;
    struct host *host = &world->hosts[h];
    struct wire_message message = {.kind = WIRE_ACCOUNT};

    host->zero = action->from;
    host->waits = true;
    for (uint32_t lost = 0; lost < world->host_count; lost++)
        host->deaf_to[lost] = host->deaf_to[lost] || action->ends[lost];
    if (host->zero == h)
        world_succeed(world, h);
    message.account = (struct wire_account){.host = h,
                                            .decided = host->superstep,
                                            .consult = host->next,
                                            .captures = host->captures,
                                            .committed = host->committed,
                                            .shared = true,
                                            .ready = true,
                                            .runs = true,
                                            .survived = host->survived,
                                            .arrived = has_arrived(host),
                                            .asked = host->consult_from < host->next};
    world_tell_zero(world, h, &message);
}

static void taken_over(struct world *world, uint32_t h)
{
    struct host *host = &world->hosts[h];
    struct wire_message message = {.kind = WIRE_ARRIVE, .envelope.superstep = host->superstep};

    message.arrive = (struct wire_arrive){
        .host = h, .barrier = barrier_of(world, h, host->superstep), .survived = host->survived};
    if (has_arrived(host))
        world_tell_zero(world, h, &message);
    message = (struct wire_message){.kind = WIRE_BEARS};
    message.bears.host = h;
    message.bears.bears = host->bears;
    world_tell_zero(world, h, &message);
}

void hosts_hear(struct world *world, uint32_t h, const struct action *action)
{
    const struct wire_message *message = &action->message;
    struct wire_message answer = {.envelope.superstep = message->envelope.superstep};

    if (world->hosts[h].deaf_to[action->from] ||
        (message->kind != WIRE_MEET && action->from != world->hosts[h].zero))
        return;
    if (message->kind != WIRE_MEET)
        world->hosts[h].waits = false;
    switch (message->kind) {
    case WIRE_MEET:
        meet(world, h, action);
        break;
    case WIRE_SURVIVED:
        survive(world, h, action);
        break;
    case WIRE_CONSULT:
        world->hosts[h].consult_from = 0;
        break;
    case WIRE_RELEASE:
        release(world, h, message);
        break;
    case WIRE_RESUME:
        world->hosts[h].consult_from = world->hosts[h].next = message->resume.consult;
        go_on(world, h, message->envelope.superstep);
        break;
    case WIRE_PERSIST:
        answer.kind = WIRE_PERSISTED;
        answer.persisted.host = h;
        world_tell_zero(world, h, &answer);
        break;
    case WIRE_TAKEN_OVER:
        taken_over(world, h);
        break;
    case WIRE_COMMITTED:
        world->hosts[h].committed.superstep = message->envelope.superstep;
        answer.kind = WIRE_KNOWN;
        answer.known.host = h;
        world_tell_zero(world, h, &answer);
        break;
    default:
        break;
    }
}

/* The timer of the agent. */
void hosts_look(struct world *world, uint32_t h)
{
    struct host *host = &world->hosts[h];

    for (uint32_t pid = 0; pid < world->pids; pid++) {
        const struct process *process = &world->processes[pid];
        struct wire_message message = {.kind = WIRE_MEET, .envelope.superstep = process->superstep};

        if (!host->moved[pid] || !is_here(world, h, pid) || host->met[pid] > process->superstep ||
            !process->at_barrier)
            continue;
        host->met[pid] = process->superstep + 1;
        message.meet =
            (struct wire_meet){.pid = pid, .flags = process->ends, .survived = host->survived};
        for (uint32_t to = 0; to < world->host_count; to++)
            if (to != h)
                world_send(world, h, to, &message);
    }
    scan(world, h);
    hosts_met(world, h);
    plan(world, DO_LOOK, h, 0, 5 + timeline_random(&world->time, 10));
}
