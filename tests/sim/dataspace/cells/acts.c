/* acts.c - what the replicas of the made-up world do: each makes the calls of its process, at a
 * speed of its own; the first one to come to a call decides what it is.
 */
#include <stdio.h>

#include "tests/sim/dataspace/cells/world.h"

static struct {
    uint64_t operations, repeated, waited, withdrawn, late, truncated, differed, stuck;
} summary;

void acts_plan(struct world *world, uint32_t pid, uint32_t host, uint64_t delay)
{
    struct action *action =
        timeline_plan(&world->time, delay * world->processes[pid].replicas[host].slow);

    action->kind = DO_ACT;
    action->pid = pid;
    action->from = host;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Whether the replica makes the call that it makes otherwise than the others. */
static bool is_faulty(const struct world *world, uint32_t pid, uint32_t host, uint32_t at)
{
    const struct fault *fault = &world->fault;

    return fault->planned && fault->pid == pid && fault->host == host && fault->at == at;
}

static void post(struct world *world, uint32_t pid, uint32_t host)
{
    struct process *process = &world->processes[pid];
    struct replica *replica = &process->replicas[host];

    transfer_fill(&replica->transfer, process->calls[replica->at].value);
    if (replica->transfer.request.kind == DATASPACE_PUT &&
        is_faulty(world, pid, host, replica->at) && !world->fault.tag)
        replica->transfer.window[replica->transfer.request.length - 1] ^= 1;
    if (world->halts.on && !halts_posted(world, pid, host)) {
        replica->transfer.posted = false;
        return;
    }
    dataspace_posted(world->hosts[host].space, pid, &replica->transfer.request);
    hosts_go_on(world, &world->hosts[host]);
    saved_look(world, &world->hosts[host]);
}

static void make_call(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    struct call *call = &process->calls[process->made++];

    calls_make(&world->time, world->histories, TAGS, &world->seen, call);
    transfer_pick_size(&world->time, call);
}

static void call(struct world *world, uint32_t pid, uint32_t host)
{
    static const char *const names[] = {"put", "get", "read"};
    struct process *process = &world->processes[pid];
    struct replica *replica = &process->replicas[host];
    const struct call *call = &process->calls[replica->at];
    uint32_t tag = call->tag;

    if (is_faulty(world, pid, host, replica->at)) {
        if (world->fault.tag)
            tag = CALLS_TAGS;
        world->fault.done = world->fault.tag || call->kind == LINEAR_PUT;
        summary.differed += world->fault.done;
    }
    transfer_begin(&replica->transfer, call, replica->at + 1, tag);
    note(world, "pid %u on host %u calls %s of \"%s\" (%u), its call %u", pid, host,
         names[call->kind], calls_tags[tag], call->value, replica->at);
    post(world, pid, host);
}

/* Returns the number of the object that the replica has got. */
static uint32_t check_data(struct world *world, uint32_t pid, const struct replica *replica)
{
    if (!world->fault.done)
        summary.truncated += transfer_check(&replica->transfer, &world->time, pid);
    return transfer_value(&replica->transfer, &world->time, pid);
}

static void finish_call(struct world *world, uint32_t pid, uint32_t host)
{
    struct process *process = &world->processes[pid];
    struct replica *replica = &process->replicas[host];
    const struct call *call = &process->calls[replica->at];
    uint32_t value = call->kind == LINEAR_PUT ? call->value : check_data(world, pid, replica);

    if (!world->fault.done) {
        if (calls_return(&world->time, world->histories, &world->seen, call, pid, value))
            summary.operations++;
        else
            summary.repeated++;
    }
    replica->transfer.busy = false;
    replica->at++;
    note(world, "pid %u on host %u returns (%u)", pid, host, value);
    acts_plan(world, pid, host, pick(world, 60));
}

bool acts_are_over(const struct process *process, const struct replica *replica)
{
    return replica->at == process->count;
}

static void act(struct world *world, uint32_t pid, uint32_t host)
{
    struct process *process = &world->processes[pid];
    struct replica *replica = &process->replicas[host];

    if (world->hosts[host].lost || replica->transfer.posted || replica->stays != STAYS_NOT ||
        replica->on_board)
        return;
    if (transfer_is_held(&replica->transfer) && saved_holds(world, pid, host)) {
        saved_arrive(world, pid, host);
    } else if (replica->transfer.busy && replica->transfer.done < replica->transfer.request.size) {
        post(world, pid, host);
    } else if (replica->transfer.busy) {
        finish_call(world, pid, host);
    } else if (saved_holds(world, pid, host)) {
        saved_arrive(world, pid, host);
    } else if (!acts_are_over(process, replica)) {
        if (replica->at == process->made)
            make_call(world, pid);
        call(world, pid, host);
    } else if (world->halts.on) {
        barriers_arrive(world, pid, host);
    }
}

/* ---- What the service says ------------------------------------------------------------------- */

void acts_answered(struct world *world, uint32_t host, uint32_t pid, uint64_t size, uint32_t length)
{
    struct replica *replica = &world->processes[pid].replicas[host];

    if (saved_answered(world, length))
        return;
    if (!replica->is)
        fail(world, "pid %u gets an answer on host %u", pid, host);
    summary.late += transfer_answered(&replica->transfer, &world->hosts[host], pid, size, length);
    acts_plan(world, pid, host, 1 + pick(world, 10));
}

/* The replica posts it again after the snapshot. */
void acts_withdrawn(struct world *world, uint32_t host, uint32_t pid)
{
    struct replica *replica = &world->processes[pid].replicas[host];

    if (!replica->is)
        fail(world, "a request of pid %u is withdrawn on host %u", pid, host);
    if (world->halts.on)
        transfer_held(&replica->transfer, &world->hosts[host], pid);
    else
        transfer_withdrawn(&replica->transfer, &world->hosts[host], pid);
    note(world, "pid %u on host %u has taken its request back", pid, host);
    summary.withdrawn++;
    acts_plan(world, pid, host, 1 + pick(world, 100));
}

/* ---- The world ------------------------------------------------------------------------------- */

static void withdraw(struct world *world, uint32_t pid, uint32_t host)
{
    struct replica *replica = &world->processes[pid].replicas[host];
    const struct host *on = &world->hosts[host];

    if (world->stuck || on->lost || !replica->is || !dataspace_waits_for(on->space, pid))
        return;
    world->withdrawn_at = world->time.now;
    replica->transfer.taken_back = true;
    dataspace_withdraw(on->space, pid);
}

void acts_carry_out(struct world *world, const struct action *action)
{
    if (action->kind == DO_ACT)
        act(world, action->pid, action->from);
    else
        withdraw(world, action->pid, action->from);
}

static void plan_fault(struct world *world)
{
    struct fault *fault = &world->fault;

    fault->planned = pick(world, 8) == 0 && !world->halts.on;
    fault->pid = (uint32_t)pick(world, world->process_count);
    fault->host = (uint32_t)pick(world, world->host_count);
    while (!world->processes[fault->pid].replicas[fault->host].is)
        fault->host = (fault->host + 1) % world->host_count;
    fault->at = (uint32_t)pick(world, OPERATIONS) / 2;
    fault->tag = pick(world, 2) == 0;
}

void acts_begin(struct world *world)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        struct process *process = &world->processes[pid];

        process->count = (uint32_t)pick(world, OPERATIONS + 1);
        for (uint32_t host = 0; host < world->host_count; host++) {
            if (world->leads[host] != process->lead)
                continue;
            process->replicas[host].is = true;
            process->replicas[host].slow =
                pick(world, 4) == 0 ? 1 + (uint32_t)pick(world, SLOW) : 1;
            acts_plan(world, pid, host, pick(world, 50));
        }
    }
    for (uint64_t i = pick(world, WITHDRAWALS + 1); i > 0; i--) {
        struct action *action = timeline_plan(&world->time, pick(world, LOSSES_WITHIN));

        action->kind = DO_WITHDRAW;
        action->pid = (uint32_t)pick(world, world->process_count);
        action->from = (uint32_t)pick(world, world->host_count);
    }
    plan_fault(world);
}

/* All that live are at the same call, and wait there or are over. */
static uint32_t check_process(struct world *world, uint32_t pid)
{
    const struct process *process = &world->processes[pid];
    uint32_t waits = 0, at = UINT32_MAX;

    for (uint32_t host = 0; host < world->host_count; host++) {
        const struct replica *replica = &process->replicas[host];

        if (!replica->is || world->hosts[host].lost)
            continue;
        if (at != UINT32_MAX && at != replica->at)
            fail(world, "replicas of pid %u end before calls %u and %u", pid, at, replica->at);
        at = replica->at;
        if (replica->transfer.busy && replica->transfer.request.kind == DATASPACE_PUT)
            fail(world, "the put of pid %u on host %u never returns", pid, host);
        if (world->halts.on && world->stuck && replica->transfer.done == 0)
            ; /* asked to stop when all waited already */
        else if (replica->transfer.busy != !!dataspace_waits_for(world->hosts[host].space, pid))
            fail(world, "pid %u %s on host %u", pid,
                 replica->transfer.busy ? "hangs" : "is waited for", host);
        if (!replica->transfer.busy && !acts_are_over(process, replica))
            fail(world, "pid %u does not go on on host %u", pid, host);
        waits += replica->transfer.busy;
    }
    return waits;
}

/* The replica has made a put with other data than the others: that is told when another has made
 * it, too. */
static void check_fault(struct world *world)
{
    const struct process *process = &world->processes[world->fault.pid];

    for (uint32_t host = 0; host < world->host_count; host++)
        if (!world->fault.tag && host != world->fault.host && process->replicas[host].is &&
            process->replicas[host].at > world->fault.at &&
            process->replicas[world->fault.host].at > world->fault.at)
            fail(world, "nobody has seen that pid %u differs on host %u", world->fault.pid,
                 world->fault.host);
}

void acts_check_end(struct world *world)
{
    uint32_t waits = 0;

    if (world->over && world->fault.done)
        return;
    if (world->fault.done)
        check_fault(world);
    if (world->fault.done)
        return;
    calls_check(&world->time, world->histories, TAGS, world->over);
    if (world->over)
        return;
    if (world->halts.on)
        zero_check_end(world);
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        waits += check_process(world, pid);
    if (world->stuck != (waits > 0))
        fail(world, "%u replicas wait, and Processor Zero says that %s", waits,
             world->stuck ? "none can go on" : "nothing is wrong");
    summary.waited += waits;
    summary.stuck += world->stuck;
}

int acts_report(void)
{
    printf("%llu operations, %llu of them by other replicas too; %llu cut short, %llu withdrawn, "
           "%llu too late for that, %llu replicas that differ, %llu that wait at the end of %llu "
           "jobs\n",
           (unsigned long long)summary.operations, (unsigned long long)summary.repeated,
           (unsigned long long)summary.truncated, (unsigned long long)summary.withdrawn,
           (unsigned long long)summary.late, (unsigned long long)summary.differed,
           (unsigned long long)summary.waited, (unsigned long long)summary.stuck);
    return seeds_missing(&summary, sizeof summary);
}
