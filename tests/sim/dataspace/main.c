/* main.c - processes of several hosts that put, get and read in a made-up world, driven by one
 * seed: messages take their time, links are full, pieces are small, requests are withdrawn for a
 * while as for a snapshot, processes are lost and restarted alone (lives.c), hosts are lost and
 * others go on with their parts and processes (losses.c).
 *
 *   dataspace [OPTIONS of seeds.h]
 *   dataspace --check         whether the check finds histories that are wrong
 *
 * Checked: every object that is returned was put, whole, under that tag; the operations on each tag
 * have an order that explains them (zones.h); who still waits at the end has nothing to wait for,
 * and then, and only then, Processor Zero has found out (quiet.h); hosts do not complain of each
 * other; a process that is restarted gets what it got before; all go back only if as many hosts are
 * lost as there are copies.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/dataspace/world.h"

static struct {
    uint64_t operations, waited, messages, full, spilled, truncated, stuck, withdrawn, late, ahead,
        not_after_all, chained, without, not_put, given_up;
} summary;

/* ---- Hosts ----------------------------------------------------------------------------------- */

static void on_send(void *context, uint32_t to, const struct wire_message *message)
{
    struct host *host = context;
    struct world *world = host->world;
    uint64_t delay;
    struct wire_message *copy = host_send(host, to, message, &delay);
    struct action *action;

    if (message->kind == WIRE_DATA_AHEAD) {
        summary.ahead += message->data_ahead.size > 0;
        summary.not_after_all += message->data_ahead.size == 0;
    }
    if (message->kind == WIRE_DATA_CHAIN) {
        summary.chained += message->data_chain.owner != host->number;
        summary.given_up += message->data_chain.all;
        summary.not_put += message->data_chain.size == 0 && !message->data_chain.all;
    }
    summary.without += message->kind == WIRE_DATA_COPY && message->data_copy.round > 0;
    summary.messages++;
    action = timeline_plan(&world->time, delay);
    action->kind = DO_DELIVER;
    action->from = host->number;
    action->to = to;
    action->message = copy;
}

static bool on_has_room(void *context, uint32_t to)
{
    bool room = host_has_room(context, to);

    summary.full += !room;
    return room;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    struct host *host = context;
    struct world *world = host->world;
    struct process *process = &world->processes[pid];

    if (process->home != host->number)
        fail(world, "pid %u gets an answer on host %u", pid, host->number);
    summary.late += transfer_answered(&process->transfer, host, pid, size, length);
    lives_plan(world, pid, 1 + pick(world, 10));
}

/* The process posts it again after the snapshot. */
static void on_withdrawn(void *context, uint32_t pid)
{
    struct host *host = context;
    struct world *world = host->world;
    struct process *process = &world->processes[pid];

    if (process->home != host->number)
        fail(world, "a request of pid %u is withdrawn on host %u", pid, host->number);
    transfer_withdrawn(&process->transfer, host, pid);
    note(world, "pid %u has taken its request back", pid);
    summary.withdrawn++;
    lives_plan(world, pid, 1 + pick(world, 100));
}

static void on_part_lost(void *context)
{
    const struct host *host = context;

    losses_part_lost(host->world, host);
}

static void on_past(void *context, uint32_t pid, uint64_t number)
{
    const struct host *host = context;

    losses_past(host->world, host, pid, number);
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .withdrawn = on_withdrawn,
                                             .no_memory = host_no_memory,
                                             .broken = host_broken,
                                             .differs = host_differs,
                                             .part_lost = on_part_lost,
                                             .past = on_past};

void hosts_go_on(struct world *world, struct host *host)
{
    struct action *action;

    if (host->lost || host->goes_on || !dataspace_go_on(host->space))
        return;
    host->goes_on = true;
    action = timeline_plan(&world->time, 5);
    action->kind = DO_GO_ON;
    action->from = host->number;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void post(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];

    transfer_fill(&process->transfer, process->calls[process->at].value);
    dataspace_posted(world->hosts[process->home].space, pid, &process->transfer.request);
    hosts_go_on(world, &world->hosts[process->home]);
}

/* A call that the process has not made yet. */
static void make_call(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    struct call *call = &process->calls[process->made++];

    process->left--;
    calls_make(&world->time, world->histories, TAGS, &world->seen, call);
    transfer_pick_size(&world->time, call);
}

/* Makes the present call, perhaps again. */
static void call(struct world *world, uint32_t pid)
{
    static const char *const names[] = {"put", "get", "read"};
    struct process *process = &world->processes[pid];
    const struct call *call = &process->calls[process->at];

    transfer_begin(&process->transfer, call, process->at + 1, call->tag);
    process->transfer.request.plain = world->plain;
    note(world, "pid %u calls %s of \"%s\" (%u)", pid, names[call->kind], calls_tags[call->tag],
         call->value);
    post(world, pid);
}

/* Returns the number of the object that the process has got. */
static uint32_t check_data(struct world *world, uint32_t pid)
{
    const struct transfer *transfer = &world->processes[pid].transfer;

    summary.truncated += transfer_check(transfer, &world->time, pid);
    return transfer_value(transfer, &world->time, pid);
}

/* The present call returns, to this life of the process. */
static void finish_call(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    const struct call *call = &process->calls[process->at];
    uint32_t value = call->kind == LINEAR_PUT ? call->value : check_data(world, pid);

    summary.operations +=
        calls_return(&world->time, world->histories, &world->seen, call, pid, value);
    process->transfer.busy = false;
    process->at++;
    note(world, "pid %u returns (%u)", pid, value);
    lives_plan(world, pid, pick(world, 60));
}

/* An operation, or a barrier; the last one when there is nothing left to do. */
static void begin_next(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    bool last = process->passed + 1 >= world->barriers;

    if (process->at < process->made) {
        call(world, pid);
        return;
    }
    if (waits_is_over(world, pid))
        return;
    if (process->left == 0 || (!last && pick(world, 4) == 0)) {
        waits_at_barrier(world, pid);
        return;
    }
    make_call(world, pid);
    call(world, pid);
}

static void act(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];

    if (!process->transfer.busy)
        begin_next(world, pid);
    else if (process->transfer.done < process->transfer.request.size)
        post(world, pid);
    else
        finish_call(world, pid);
}

/* ---- The world ------------------------------------------------------------------------------- */

static void make_world(struct world *world, const struct seeds_job *job)
{
    uint32_t homes[PROCESSES];

    memset(world, 0, sizeof *world);
    timeline_begin(&world->time, sizeof(struct action), job);
    world->host_count = 1 + (uint32_t)pick(world, HOSTS);
    if (world->host_count > job->hosts)
        world->host_count = (uint32_t)job->hosts;
    world->process_count = 1 + (uint32_t)pick(world, PROCESSES);
    for (uint32_t i = 0; i < world->process_count; i++) {
        homes[i] = (uint32_t)pick(world, world->host_count);
        world->processes[i].home = homes[i];
        world->processes[i].left = (uint32_t)pick(world, OPERATIONS + 1);
        lives_plan(world, i, pick(world, 50));
    }
    for (uint64_t i = pick(world, SNAPSHOTS + 1); i > 0; i--) {
        uint64_t when = pick(world, SNAPSHOTS_WITHIN);

        for (uint32_t pid = 0; pid < world->process_count; pid++) {
            struct action *action = timeline_plan(&world->time, when + pick(world, 100));
            action->kind = DO_WITHDRAW;
            action->from = pid;
        }
    }
    world->barriers = 1 + pick(world, BARRIERS);
    timeline_take_course(&world->time);
    world->copies = 1 + (uint32_t)timeline_apart(&world->time, COPIES);
    world->plain = timeline_apart(&world->time, 10) == 0;
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct dataspace_setup setup = {.host = i,
                                        .nprocs = world->process_count,
                                        .homes = homes,
                                        .hosts = world->host_count,
                                        .copies = world->copies,
                                        .log = UINT64_MAX,
                                        .passed = CHAINED};

        host_open(&world->hosts[i], world, &world->time, setup, &calls, &summary.spilled);
    }
    losses_begin(world);
    waits_begin(world);
    lives_begin(world);
}

/* The process is to stop at a safe point. */
static void withdraw(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    struct host *host = &world->hosts[process->home % HOSTS];

    if (world->stuck || process->home == NOWHERE || !dataspace_waits_for(host->space, pid))
        return;
    world->withdrawn_at = world->time.now;
    process->transfer.taken_back = true;
    dataspace_withdraw(host->space, pid);
}

static void carry_out(struct world *world, const struct action *action)
{
    struct host *to = &world->hosts[action->to];

    if (action->kind < DO_LOOK)
        world->looks = 0;
    switch (action->kind) {
    case DO_ACT:
        if (action->life == world->processes[action->from].life)
            act(world, action->from);
        break;
    case DO_DELIVER:
        world->hosts[action->from].queued[action->to]--;
        if (losses_let_pass(world, action)) {
            dataspace_message(to->space, action->from, action->message);
            hosts_go_on(world, to);
        }
        host_drop(action->message);
        break;
    case DO_GO_ON:
        world->hosts[action->from].goes_on = false;
        hosts_go_on(world, &world->hosts[action->from]);
        break;
    case DO_WITHDRAW:
        withdraw(world, action->from);
        break;
    case DO_LOSE:
    case DO_IMAGE:
    case DO_DURABLE:
        lives_carry_out(world, action);
        break;
    case DO_LOSE_HOST:
    case DO_DECIDE:
    case DO_TOLD:
        losses_carry_out(world, action);
        break;
    default:
        waits_carry_out(world, action);
        break;
    }
}

static void check_end(struct world *world)
{
    uint32_t over = 0;

    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct process *process = &world->processes[pid];

        if (process->home == NOWHERE)
            fail(world, "pid %u is never restarted", pid);
        if (process->transfer.busy && process->transfer.request.kind == DATASPACE_PUT)
            fail(world, "the put of pid %u never returns", pid);
        if (process->transfer.busy != !!dataspace_waits_for(world->hosts[process->home].space, pid))
            fail(world, "pid %u %s", pid, process->transfer.busy ? "hangs" : "is waited for");
        summary.waited += process->transfer.busy;
        over += waits_is_over(world, pid);
    }
    if (world->stuck != (over < world->process_count))
        fail(world, "%u of %u processes are over, and Processor Zero says that %s", over,
             world->process_count, world->stuck ? "none can go on" : "nothing is wrong");
    summary.stuck += world->stuck;
    hosts_check_traffic(world->hosts, world->host_count, "at the end");
}

static void run(const struct seeds_job *job)
{
    struct world world;
    struct action action;

    make_world(&world, job);
    while (!world.over && timeline_next(&world.time, &action))
        carry_out(&world, &action);
    calls_check(&world.time, world.histories, TAGS, world.over);
    if (!world.over)
        check_end(&world);
    while (timeline_next(&world.time, &action)) /* what all that went back had on its way */
        if (action.kind == DO_DELIVER || action.kind == DO_HEAR_QUIET)
            host_drop(action.message);
    for (uint32_t i = 0; i < world.host_count; i++)
        host_close(&world.hosts[i]);
    waits_end(&world);
    timeline_end(&world.time);
}

static int report(uint64_t count)
{
    int missing = 0;

    printf(
        "%llu jobs: %llu operations, %llu messages, %llu times no room, %llu objects in files, "
        "%llu cut short, %llu withdrawn, %llu too late for that, "
        "%llu processes that wait at the end of %llu jobs, %llu pieces went ahead, of %llu objects "
        "in vain; %llu pieces were passed on, for %llu changes, and for %llu objects in vain, and "
        "%llu times chains were given up\n",
        (unsigned long long)count, (unsigned long long)summary.operations,
        (unsigned long long)summary.messages, (unsigned long long)summary.full,
        (unsigned long long)summary.spilled, (unsigned long long)summary.truncated,
        (unsigned long long)summary.withdrawn, (unsigned long long)summary.late,
        (unsigned long long)summary.waited, (unsigned long long)summary.stuck,
        (unsigned long long)summary.ahead, (unsigned long long)summary.not_after_all,
        (unsigned long long)summary.chained, (unsigned long long)summary.without,
        (unsigned long long)summary.not_put, (unsigned long long)summary.given_up);
    missing += !summary.operations + !summary.messages + !summary.full + !summary.spilled +
               !summary.truncated + !summary.withdrawn + !summary.late + !summary.waited +
               !summary.stuck + !summary.ahead + !summary.not_after_all + !summary.chained +
               !summary.without + !summary.not_put + !summary.given_up + (summary.stuck == count) +
               lives_report() + losses_report();
    return seeds_verdict("dataspace", missing);
}

int main(int argc, char **argv)
{
    static const struct seeds_program program = {
        .name = "dataspace", .count = 1000, .run = run, .report = report};

    return seeds_main(&program, argc, argv);
}
