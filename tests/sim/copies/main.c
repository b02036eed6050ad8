/* main.c - hosts that hold parts of the dataspace for each other (copies.h) in a made-up world,
 * driven by one seed: messages take their time, hosts are lost in the midst of what they send, the
 * others learn of it one after the other, from Processor Zero or from each other; processes are
 * lost alone, or with their host, and restarted on others from images; requests are withdrawn for a
 * while, as for a snapshot of all.
 *
 *   copies [OPTIONS of seeds.h]
 *
 * Checked: every object that is returned was put, whole, under that tag; the operations on each tag
 * have an order that explains them (zones.h); a process that is restarted gets what it got before;
 * who still waits at the end has nothing to wait for; a part is lost only if as many hosts are lost
 * as there are copies; hosts do not complain of each other, and never get a message that they lack
 * the news for; where few answers can be kept, images are wanted before any are given up.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/copies/world.h"

struct summary summary;

/* ---- Contents -------------------------------------------------------------------------------- */

static uint32_t value_of(struct world *world, uint32_t pid, const unsigned char *data,
                         uint64_t size)
{
    uint32_t value;

    if (size < CALLS_SIZE_LEAST)
        fail(world, "pid %u gets an object of %llu bytes", pid, (unsigned long long)size);
    memcpy(&value, data, CALLS_SIZE_LEAST);
    if (size != calls_size(value, SIZE_MOST))
        fail(world, "pid %u gets %llu bytes of object %u", pid, (unsigned long long)size, value);
    for (uint64_t i = 0; i < size; i++)
        if (data[i] != calls_byte(value, i))
            fail(world, "pid %u: byte %llu of object %u is wrong", pid, (unsigned long long)i,
                 value);
    return value;
}

/* ---- Processes ------------------------------------------------------------------------------- */

void processes_plan(struct world *world, uint32_t pid, uint64_t delay)
{
    struct action *action = timeline_plan(&world->time, delay);

    action->kind = DO_ACT;
    action->from = pid;
    action->life = world->processes[pid].life;
}

/* Makes the present call, perhaps again, or a new one. */
static void act(struct world *world, uint32_t pid)
{
    static const char *const names[] = {"put", "get", "read"};
    struct process *process = &world->processes[pid];
    const struct call *call = &process->calls[process->at];

    if (process->at == process->made) {
        if (process->left == 0)
            return;
        process->left--;
        calls_make(&world->time, world->histories, world->tags, &world->seen,
                   &process->calls[process->made++]);
    }
    process->busy = true;
    note(world, "pid %u calls %s of \"%s\" (%u)", pid, names[call->kind], calls_tags[call->tag],
         call->value);
    hosts_ask(world, pid);
}

void processes_answered(struct world *world, uint32_t pid, const void *data, uint64_t size)
{
    struct process *process = &world->processes[pid];
    const struct call *call = &process->calls[process->at];
    uint32_t value = call->kind == LINEAR_PUT ? call->value : value_of(world, pid, data, size);

    summary.operations +=
        calls_return(&world->time, world->histories, &world->seen, call, pid, value);
    process->busy = process->taken_back = false;
    process->at++;
    note(world, "pid %u returns (%u)", pid, value);
    processes_plan(world, pid, pick(world, 60));
}

/* ---- What is lost and saved ------------------------------------------------------------------ */

static void next_life(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];

    if (process->behind < process->at + 1)
        process->behind = process->at + 1;
    process->life++;
    process->busy = process->taken_back = process->asks_past = false;
    memset(process->awaited, 0, sizeof process->awaited);
    process->at = process->image;
}

static void lose_process(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];

    if (process->home == NOWHERE || process->asks_past)
        return;
    summary.processes_lost++;
    note(world, "pid %u is lost", pid);
    next_life(world, pid);
    processes_plan(world, pid, 1 + pick(world, 100));
}

static void lose_host(struct world *world, uint32_t number)
{
    struct host *host = &world->hosts[number];

    if (host->lost || world->lost + 1 == world->host_count)
        return;
    note(world, "host %u is lost", number);
    host->lost = true;
    world->lost++;
    summary.hosts_lost++;
    summary.two_lost += world->lost == 2;
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action;

        host->heard_until[i] = world->time.now + pick(world, 60);
        if (world->hosts[i].lost)
            continue;
        action = timeline_plan(&world->time, 1 + pick(world, 300));
        action->kind = DO_LEARN;
        action->from = i;
        action->to = number;
    }
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        struct action *action;

        if (world->processes[pid].home != number)
            continue;
        next_life(world, pid);
        world->processes[pid].home = NOWHERE;
        action = timeline_plan(&world->time, 1 + pick(world, 400));
        action->kind = DO_ADOPT;
        action->from = pid;
    }
}

/* Who restarts a process is told why, and which hosts are lost. */
static void adopt(struct world *world, uint32_t pid)
{
    uint32_t host = (uint32_t)pick(world, world->host_count);

    while (world->hosts[host].lost)
        host = (host + 1) % world->host_count;
    for (uint32_t i = 0; i < world->host_count && !world->over; i++)
        if (world->hosts[i].lost && !copies_is_lost(world->hosts[host].copies, i))
            hosts_learn(world, host, i);
    if (world->over)
        return;
    note(world, "pid %u is restarted on host %u before call %u", pid, host,
         world->processes[pid].at);
    summary.adopted++;
    world->processes[pid].home = host;
    hosts_ask_past(world, pid);
}

static void save(struct world *world, uint32_t pid)
{
    const struct process *process = &world->processes[pid];
    struct action *action;

    if (process->home == NOWHERE || process->busy || process->asks_past)
        return;
    action = timeline_plan(&world->time, 1 + pick(world, 150));
    action->kind = DO_DURABLE;
    action->from = pid;
    action->life = process->life;
    action->number = process->at;
}

static void withdraw(struct world *world, uint32_t pid)
{
    const struct process *process = &world->processes[pid];

    if (process->busy && !process->taken_back && process->calls[process->at].kind != LINEAR_PUT)
        hosts_withdraw(world, pid);
}

static void durable(struct world *world, const struct action *action)
{
    struct process *process = &world->processes[action->from];

    if (process->life != action->life || action->number <= process->image)
        return;
    note(world, "the image of pid %u before call %u counts", action->from,
         (unsigned)action->number);
    summary.cut += action->number - process->image;
    process->image = (uint32_t)action->number;
    hosts_cut(world, action->from, action->number + 1);
}

/* ---- The world ------------------------------------------------------------------------------- */

static void plan(struct world *world, enum action_kind kind, uint64_t most, uint32_t below,
                 unsigned *fault)
{
    uint64_t when = pick(world, LOSSES_WITHIN);

    for (uint64_t i = pick(world, most + 1); i > 0; i--) {
        uint32_t which = (uint32_t)pick(world, below);
        struct action *action;

        /* Often one soon after another, while the parts of the first are being taken over. */
        when = pick(world, 2) == 0 ? when + pick(world, SOON) : pick(world, LOSSES_WITHIN);
        if (kind != DO_IMAGE && kind != DO_WITHDRAW &&
            !seeds_keeps_fault(&world->time.job, (*fault)++))
            continue;
        action = timeline_plan(&world->time, when);
        action->kind = kind;
        action->from = which;
    }
}

/* Some worlds can keep few answers, and have nearly all in one part. */
static void make_log(struct world *world)
{
    world->log = UINT64_MAX;
    world->tags = TAGS;
    if (timeline_apart(&world->time, 4) > 0)
        return;
    world->log = LOG_FEW;
    world->tags = 1;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        world->processes[pid].left = OPERATIONS;
}

static void make_world(struct world *world, const struct seeds_job *job)
{
    unsigned fault = 0;

    memset(world, 0, sizeof *world);
    timeline_begin(&world->time, sizeof(struct action), job);
    world->host_count = 1 + (uint32_t)pick(world, HOSTS);
    if (world->host_count > job->hosts)
        world->host_count = (uint32_t)job->hosts;
    world->copies = 1 + (uint32_t)pick(world, COPIES);
    world->process_count = 1 + (uint32_t)pick(world, PROCESSES);
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        world->processes[pid].home = (uint32_t)pick(world, world->host_count);
        world->processes[pid].left = (uint32_t)pick(world, OPERATIONS + 1);
        processes_plan(world, pid, pick(world, 50));
    }
    plan(world, DO_LOSE_HOST, pick(world, 3) == 0 ? 0 : LOSSES - 1, world->host_count, &fault);
    plan(world, DO_LOSE_PROCESS, LOSSES, world->process_count, &fault);
    plan(world, DO_IMAGE, IMAGES, world->process_count, &fault);
    plan(world, DO_WITHDRAW, WITHDRAWALS, world->process_count, &fault);
    timeline_take_course(&world->time);
    make_log(world);
    for (uint32_t i = 0; i < world->host_count; i++)
        hosts_open(world, i);
}

static void carry_out(struct world *world, const struct action *action)
{
    switch (action->kind) {
    case DO_ACT:
        if (action->life == world->processes[action->from].life)
            act(world, action->from);
        break;
    case DO_DELIVER:
        hosts_deliver(world, action);
        break;
    case DO_LOSE_HOST:
        lose_host(world, action->from);
        break;
    case DO_LEARN:
        if (!world->hosts[action->from].lost)
            hosts_learn(world, action->from, action->to);
        break;
    case DO_ADOPT:
        adopt(world, action->from);
        break;
    case DO_LOSE_PROCESS:
        lose_process(world, action->from);
        break;
    case DO_WITHDRAW:
        withdraw(world, action->from);
        break;
    case DO_IMAGE:
        save(world, action->from);
        break;
    case DO_DURABLE:
        durable(world, action);
        break;
    }
}

/* At the moment at which answers are given up it is too late to ask for images. */
static void check_log(struct world *world, struct host *host)
{
    bool wanted = host->burdened, gave_up = host->gave_up;
    uint32_t pid;

    host->burdened = copies_burdened(host->copies, world->copies * world->log, &pid);
    host->gave_up = copies_gave_up(host->copies);
    summary.burdened += host->burdened && !wanted;
    if (!host->gave_up || gave_up)
        return;
    summary.gave_up++;
    world->gave_up = true;
    if (!wanted)
        fail(world, "host %u gives answers up, and has asked for no image", host->number);
}

static void check_end(struct world *world)
{
    uint64_t busy = 0, waiting = 0;

    calls_check(&world->time, world->histories, TAGS, world->over);
    summary.back += world->over;
    if (world->over)
        return;
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct process *process = &world->processes[pid];

        if (process->home == NOWHERE || process->asks_past)
            fail(world, "pid %u is never restarted", pid);
        if (process->busy && process->calls[process->at].kind == LINEAR_PUT)
            fail(world, "the put of pid %u never returns", pid);
        busy += process->busy;
    }
    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct host *host = &world->hosts[i];

        if (host->lost)
            continue;
        waiting += copies_totals(host->copies).waiting;
        for (uint32_t part = 0; part < world->host_count; part++)
            summary.taken_over += part != i && copies_owner(host->copies, part) == i;
    }
    summary.waited += busy;
    if (busy != waiting)
        fail(world, "%llu processes wait, and %llu requests", (unsigned long long)busy,
             (unsigned long long)waiting);
}

static void run(const struct seeds_job *job)
{
    struct world world;
    struct action action;

    make_world(&world, job);
    while (!world.over && timeline_next(&world.time, &action)) {
        carry_out(&world, &action);
        for (uint32_t i = 0; i < world.host_count && !world.over; i++) {
            copies_check(world.hosts[i].copies);
            if (world.log < UINT64_MAX && !world.hosts[i].lost)
                check_log(&world, &world.hosts[i]);
        }
    }
    check_end(&world);
    while (timeline_next(&world.time, &action)) /* what all that went back had on its way */
        hosts_drop(&action);
    for (uint32_t i = 0; i < world.host_count; i++)
        hosts_close(&world, i);
    timeline_end(&world.time);
}

static int report(uint64_t count)
{
    printf("%llu jobs: %llu hosts lost, in %llu jobs two; %llu jobs went back; %llu parts taken "
           "over, %llu processes restarted elsewhere, %llu where they were\n",
           (unsigned long long)count, (unsigned long long)summary.hosts_lost,
           (unsigned long long)summary.two_lost, (unsigned long long)summary.back,
           (unsigned long long)summary.taken_over, (unsigned long long)summary.adopted,
           (unsigned long long)summary.processes_lost);
    printf(
        "%llu operations, %llu messages, %llu cut off, %llu objects in files, %llu requests made "
        "again, %llu repeated, %llu questions asked again, %llu answers cut off, %llu wait at "
        "the end\n",
        (unsigned long long)summary.operations, (unsigned long long)summary.messages,
        (unsigned long long)summary.cut_off, (unsigned long long)summary.spilled,
        (unsigned long long)summary.again, (unsigned long long)summary.in_log,
        (unsigned long long)summary.asked_again, (unsigned long long)summary.cut,
        (unsigned long long)summary.waited);
    printf("%llu requests withdrawn, %llu too late for that, %llu once more after a loss\n",
           (unsigned long long)summary.withdrawn, (unsigned long long)summary.late,
           (unsigned long long)summary.withdrawn_again);
    printf("%llu times images were wanted, %llu times answers were given up, %llu jobs went back "
           "for that\n",
           (unsigned long long)summary.burdened, (unsigned long long)summary.gave_up,
           (unsigned long long)summary.differs);
    return seeds_verdict("copies", seeds_missing(&summary, sizeof summary));
}

int main(int argc, char **argv)
{
    static const struct seeds_program program = {
        .name = "copies", .count = 1000, .run = run, .report = report};

    return seeds_main(&program, argc, argv);
}
