/* barriers.c - barriers of the made-up world, where there are snapshots at calls: what processes do
 * (lib/rt/sync.c) and agents (bsprun/agent/ranks.c).
 *
 * Each process comes to a barrier, and leaves it, at a moment of its own, so that a host has some
 * in one superstep and some in the next.  When, as far as a host knows, all processes of the job
 * have come it asks Processor Zero, if that has not decided before (bsprun/agent/core/gate.h,
 * the real one).
 *
 * Checked: all replicas of a process that live leave each barrier after the same call; at a barrier
 * all are at their ends, or some at calls, wherever one asks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/dataspace/cells/world.h"

static struct {
    uint64_t early, stop_unknown;
} summary;
static uint64_t dropped; /* rare */

/* ---- What a host says ------------------------------------------------------------------------ */

void halts_say(struct world *world, uint32_t host, struct wire_message message)
{
    struct wire_message *copy = malloc(sizeof *copy);
    char error[WIRE_ERROR_SIZE];
    struct action *action;

    if (world->hosts[host].lost ||
        (halting_of(world, host)->waits && message.kind != WIRE_ACCOUNT)) {
        free(copy);
        return;
    }
    message.envelope.term = 1;
    *wire_sender(&message) = host;
    if (!copy || wire_copy(&message, copy, error, sizeof error) != 0)
        fail(world, "host %u says what it must not: %s", host, error);
    note(world, "host %u: %s %llu", host, wire_kind_name(message.kind),
         (unsigned long long)message.envelope.superstep);
    action = losses_plan(world, DO_TO_ZERO, &world->hosts[host].last_quiet);
    action->from = host;
    action->era = halting_of(world, host)->era;
    action->message = copy;
}

void barriers_say(struct world *world, uint32_t host, uint64_t superstep, enum wire_barrier barrier)
{
    halts_say(world, host,
              (struct wire_message){
                  .kind = WIRE_ARRIVE, .envelope.superstep = superstep, .arrive.barrier = barrier});
}

/* ---- Leaving a barrier ----------------------------------------------------------------------- */

/* What hosts have done that are lost, and only they have heard, is decided anew. */
static void check_passed(struct world *world, uint32_t pid, uint32_t host)
{
    const struct replica *replica = replica_on(world, pid, host);
    uint64_t *passed = world->halts.passed[replica->superstep][pid];

    passed[host] = replica->at + 1;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (passed[i] > 0 && passed[i] != passed[host] && !world->hosts[i].lost)
            fail(world, "pid %u leaves barrier %llu on host %u after %u calls, on %u after %llu",
                 pid, (unsigned long long)replica->superstep, host, replica->at, i,
                 (unsigned long long)passed[i] - 1);
}

/* One after the other. */
void barriers_pass(struct world *world, uint32_t host, const struct decided *decided)
{
    struct halting *here = halting_of(world, host);

    if (decided->superstep != here->superstep)
        fail(world, "host %u is to leave barrier %llu, and is at %llu", host,
             (unsigned long long)decided->superstep, (unsigned long long)here->superstep);
    if (decided->end && !gate_end_reported(here->gate))
        fail(world, "host %u is at calls when the end is decided", host);
    here->consult = decided->consult;
    here->left = decided->end;
    if (here->left)
        return;
    if (++here->superstep == BARRIERS)
        fail(world, "too many barriers");
    world->withdrawn_at = world->time.now;
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct replica *replica = replica_on(world, pid, host);
        struct action *action;

        if (!replica->is)
            continue;
        action = timeline_plan(&world->time, 1 + replica->slow * timeline_apart(&world->time, 60));
        action->kind = DO_LEAVE;
        action->pid = pid;
        action->to = host;
    }
}

void barriers_leave(struct world *world, uint32_t pid, uint32_t host)
{
    struct halting *here = halting_of(world, host);
    struct replica *replica = replica_on(world, pid, host);

    if (world->hosts[host].lost)
        return;
    check_passed(world, pid, host);
    replica->superstep++;
    replica->stays = here->captures == replica->superstep ? STAYS_CAPTURED : STAYS_NOT;
    if (replica->stays == STAYS_NOT)
        acts_plan(world, pid, host, 1);
}

/* ---- Coming to a barrier --------------------------------------------------------------------- */

static bool is_over(const struct world *world, uint32_t pid, uint32_t host)
{
    return acts_are_over(&world->processes[pid], &world->processes[pid].replicas[host]);
}

bool barriers_stay(const struct world *world, uint32_t host, enum stays how)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct replica *replica = &world->processes[pid].replicas[host];

        if (replica->is &&
            (replica->stays != how || replica->superstep != world->halts.hosts[host].superstep))
            return false;
    }
    return has_replicas(world, host);
}

/* Whether all processes of the job have come there, as far as the host knows. */
static bool all_met(const struct world *world, uint32_t host, uint64_t superstep, bool *calls)
{
    *calls = false;
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        uint32_t lead = world->processes[pid].lead;

        if (world->halts.hosts[host].met[superstep][lead] == MET_NOT)
            return false;
        *calls |= world->halts.hosts[host].met[superstep][lead] == MET_AT_CALL;
    }
    return true;
}

bool barriers_await(const struct world *world, uint32_t host)
{
    const struct halting *here = &world->halts.hosts[host];

    return gate_consulted(here->gate) > here->superstep && !here->left;
}

void barriers_ask(struct world *world, uint32_t host)
{
    struct halting *here = halting_of(world, host);
    uint64_t superstep = here->superstep;
    bool calls;

    if (barriers_await(world, host) || here->left ||
        !barriers_stay(world, host, STAYS_AT_BARRIER) || !all_met(world, host, superstep, &calls))
        return;
    gate_consult(here->gate, superstep + 1, calls ? WIRE_BARRIER_CALL : WIRE_BARRIER_END);
    if (gate_take(here->gate, superstep)) {
        summary.early++;
        return;
    }
    if (gate_holds(here->gate, superstep) || gate_unasked(here->gate, superstep))
        return;
    barriers_say(world, host, superstep, calls ? WIRE_BARRIER_CALL : WIRE_BARRIER_END);
}

static void meet(struct world *world, uint32_t from, uint32_t to, uint64_t superstep, int how)
{
    struct halting *here = halting_of(world, to);
    uint32_t lead = world->leads[from];

    if (here->met[superstep][lead] != MET_NOT && (int)here->met[superstep][lead] != how)
        fail(world, "replicas on host %u are not where others are at barrier %llu", from,
             (unsigned long long)superstep);
    here->met[superstep][lead] = how;
    barriers_ask(world, to);
}

static bool knows_stop(const struct halting *here, uint64_t superstep, uint64_t round)
{
    return here->superstep > superstep || here->stops_known > superstep + 1 ||
           (here->stops_known == superstep + 1 && here->stops_round >= round);
}

/* As bsprun/link/replica_early.c: what is made where processes were told to stop counts once that
 * is known. */
void barriers_meet(struct world *world, const struct action *action)
{
    struct halting *here = halting_of(world, action->to);

    if (!host_hears(&world->hosts[action->to], &world->hosts[action->from]))
        return;
    if (action->calls && !knows_stop(here, action->number, action->round)) {
        summary.stop_unknown++;
        here->met_early[action->number][action->from] = action->round + 1;
        return;
    }
    meet(world, action->from, action->to, action->number, action->calls ? MET_AT_CALL : MET_AT_END);
}

static void meet_early(struct world *world, uint32_t from, uint32_t to, uint64_t superstep)
{
    struct halting *here = halting_of(world, to);
    uint64_t *early = &here->met_early[superstep][from];

    if (*early == 0 || !knows_stop(here, superstep, *early - 1))
        return;
    *early = 0;
    if (host_hears(&world->hosts[to], &world->hosts[from]))
        meet(world, from, to, superstep, MET_AT_CALL);
    else
        dropped++;
}

void barriers_know_stop(struct world *world, uint32_t host, uint64_t superstep, uint64_t round)
{
    struct halting *here = halting_of(world, host);

    if (superstep + 1 < here->stops_known ||
        (superstep + 1 == here->stops_known && round <= here->stops_round))
        return;
    here->stops_known = superstep + 1;
    here->stops_round = round;
    for (uint64_t number = 0; number <= superstep; number++)
        for (uint32_t from = 0; from < world->host_count; from++)
            meet_early(world, from, host, number);
}

void barriers_arrive(struct world *world, uint32_t pid, uint32_t host)
{
    struct halting *here = halting_of(world, host);
    bool calls = false;

    replica_on(world, pid, host)->stays = STAYS_AT_BARRIER;
    if (!barriers_stay(world, host, STAYS_AT_BARRIER))
        return;
    for (uint32_t other = 0; other < world->process_count; other++)
        calls |= replica_on(world, other, host)->is && !is_over(world, other, host);
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action = timeline_plan(
            &world->time,
            i == host ? 0 : 1 + timeline_apart(&world->time, pick(world, 8) == 0 ? 400 : 20));

        action->kind = DO_MEET;
        action->from = host;
        action->to = i;
        action->number = here->superstep;
        action->calls = calls;
        action->round = here->stops_round;
    }
}

bool barriers_hold(const struct world *world, uint32_t pid, uint32_t host)
{
    const struct halting *here = &world->halts.hosts[host];
    const struct replica *replica = &world->processes[pid].replicas[host];

    return here->consult <= replica->superstep && here->stop_in == replica->superstep + 1 &&
           replica->at >= here->after[pid];
}

/* ---- What is decided ------------------------------------------------------------------------- */

static void on_answer(void *context, const struct decided *decided)
{
    struct host *host = context;

    barriers_pass(host->world, host->number, decided);
}

static void on_consult(void *context, uint64_t from)
{
    struct host *host = context;

    halting_of(host->world, host->number)->consult = from;
}

static uint64_t on_consults(void *context)
{
    struct host *host = context;

    return halting_of(host->world, host->number)->consult;
}

void barriers_open_host(struct world *world, struct host *host)
{
    static const struct gate_calls calls = {
        .answer = on_answer, .consult = on_consult, .consults = on_consults};

    halting_of(world, host->number)->gate = gate_open(&calls, host);
    if (!halting_of(world, host->number)->gate)
        fail(world, "no memory");
}

/* ---- Whether all wait ------------------------------------------------------------------------ */

bool barriers_wait(const struct world *world, uint32_t pid, uint32_t host)
{
    const struct replica *replica = &world->processes[pid].replicas[host];
    bool calls;

    return replica->stays == STAYS_AT_BARRIER && !world->halts.hosts[host].left &&
           !all_met(world, host, replica->superstep, &calls);
}

void barriers_quiet(const struct world *world, uint32_t host, struct wire_quiet *quiet)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct replica *replica = &world->processes[pid].replicas[host];
        bool at_barrier = replica->stays == STAYS_AT_BARRIER;

        if (!replica->is)
            continue;
        if (replica->superstep + at_barrier < quiet->arrived)
            quiet->arrived = replica->superstep + at_barrier;
        if (at_barrier && replica->superstep < quiet->held)
            quiet->held = replica->superstep;
    }
}

int barriers_report(void)
{
    printf("%llu hosts came to barriers later; of %llu it was heard that they stop before it was "
           "known, of which %llu were lost then\n",
           (unsigned long long)summary.early, (unsigned long long)summary.stop_unknown,
           (unsigned long long)dropped);
    return seeds_missing(&summary, sizeof summary);
}
