/* lives.c - processes of the made-up world that are lost, and restarted alone.
 *
 * A process is saved between two calls; some time later its image is durable, and the answers to
 * the calls before it are given up.  When it is lost, at any moment but at a barrier, it begins its
 * next life with the calls since that image.
 */
#include <stdio.h>

#include "tests/sim/dataspace/world.h"

static struct {
    uint64_t lost, in_a_call, repeated, cut;
} summary;

static uint64_t pick_apart(struct world *world, uint64_t below)
{
    return timeline_apart(&world->time, below);
}

void lives_plan(struct world *world, uint32_t pid, uint64_t delay)
{
    struct action *action = timeline_plan(&world->time, delay);

    action->kind = DO_ACT;
    action->from = pid;
    action->life = world->processes[pid].life;
}

static void plan(struct world *world, enum action_kind kind, uint64_t most)
{
    unsigned count = (unsigned)pick_apart(world, most + 1);

    for (unsigned i = 0; i < count; i++) {
        uint32_t pid = (uint32_t)pick_apart(world, world->process_count);
        uint64_t when = pick_apart(world, LOSSES_WITHIN);
        struct action *action;

        if (kind == DO_LOSE && !seeds_keeps_fault(&world->time.job, i))
            continue;
        action = timeline_plan(&world->time, when);
        action->kind = kind;
        action->from = pid;
    }
}

void lives_begin(struct world *world)
{
    plan(world, DO_LOSE, LOSSES);
    plan(world, DO_IMAGE, IMAGES);
}

static void lose(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];

    summary.lost++;
    summary.in_a_call += process->busy;
    summary.repeated += process->at - process->image;
    note(world, "pid %u is lost, and restarted before call %u", pid, process->image);
    dataspace_restarted(world->hosts[process->home].space, pid);
    process->busy = process->posted = process->taken_back = false;
    process->at = process->image;
    process->life++;
    lives_plan(world, pid, 1 + pick_apart(world, 200));
}

static void save(struct world *world, uint32_t pid)
{
    const struct process *process = &world->processes[pid];
    struct action *action;

    if (process->busy)
        return;
    action = timeline_plan(&world->time, 1 + pick_apart(world, 100));
    action->kind = DO_DURABLE;
    action->from = pid;
    action->number = process->at;
    action->life = process->life;
}

static void durable(struct world *world, uint32_t pid, const struct action *action)
{
    struct process *process = &world->processes[pid];

    if (action->life != process->life || action->number < process->image)
        return; /* it was lost before, or a later one is durable */
    note(world, "the image of pid %u before call %u is durable", pid, (unsigned)action->number);
    summary.cut += action->number - process->image;
    process->image = (uint32_t)action->number;
    dataspace_cut(world->hosts[process->home].space, pid, action->number + 1);
}

void lives_carry_out(struct world *world, const struct action *action)
{
    uint32_t pid = action->from;

    if (world->stuck || waits_is_at_barrier(world, pid) || waits_is_over(world, pid))
        return;
    world->withdrawn_at = world->time.now;
    if (action->kind == DO_LOSE)
        lose(world, pid);
    else if (action->kind == DO_IMAGE)
        save(world, pid);
    else
        durable(world, pid, action);
}

int lives_report(void)
{
    printf("%llu processes lost, %llu of them in a call; %llu calls made again, %llu given up\n",
           (unsigned long long)summary.lost, (unsigned long long)summary.in_a_call,
           (unsigned long long)summary.repeated, (unsigned long long)summary.cut);
    return !summary.lost + !summary.in_a_call + !summary.repeated + !summary.cut;
}
