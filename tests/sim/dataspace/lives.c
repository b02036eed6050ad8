/* lives.c - processes of the made-up world that are lost, and restarted alone.
 *
 * A process is saved between two calls, alone or with all; some time later its image is there, and
 * the answers to the calls before it are given up, if it still counts (alone_loss.h).  When it is
 * lost, at any moment but at a barrier, it begins its next life with the calls since that image.
 */
#include <stdio.h>

#include "tests/sim/dataspace/world.h"

static struct {
    uint64_t lost, in_a_call, repeated, before_it_counts, cut;
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
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        alone_images_begin(&world->processes[pid].images, IMAGE_TOGETHER);
    plan(world, DO_LOSE, LOSSES);
    plan(world, DO_IMAGE, IMAGES);
}

void lives_next(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    uint32_t from = (uint32_t)process->images.newest.request - 1;

    summary.in_a_call += process->transfer.busy;
    summary.repeated += process->at - from;
    summary.before_it_counts += process->images.recorded.kind != IMAGE_NONE;
    alone_images_restarted(&process->images);
    process->transfer.busy = process->transfer.posted = process->transfer.taken_back = false;
    process->at = from;
    process->life++;
}

static void lose(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];

    summary.lost++;
    lives_next(world, pid);
    note(world, "pid %u is lost, and restarted before call %u", pid, process->at);
    dataspace_restarted(world->hosts[process->home].space, pid);
    lives_plan(world, pid, 1 + pick_apart(world, 200));
}

/* For an image of its own, or as a part of a snapshot of all: that is committed whatever becomes of
 * the process, and its image alone is not there if it is lost before. */
static void save(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    bool together = pick_apart(world, 2) == 0;
    struct action *action;

    if (process->transfer.busy || process->images.recorded.kind != IMAGE_NONE ||
        (together && process->together))
        return;
    process->together = process->together || together;
    action = timeline_plan(&world->time, 1 + pick_apart(world, 200));
    action->kind = DO_DURABLE;
    action->from = pid;
    action->number = together ? IMAGE_TOGETHER : IMAGE_OWN;
    action->life = process->life;
    alone_images_recorded(&process->images, (enum alone_image)action->number, process->at + 1);
}

static void durable(struct world *world, uint32_t pid, const struct action *action)
{
    struct process *process = &world->processes[pid];
    uint64_t request, before = process->images.newest.request;

    if (action->number == IMAGE_TOGETHER)
        process->together = false;
    else if (action->life != process->life)
        return; /* it was lost before */
    if (process->home == NOWHERE)
        return;
    if (!alone_images_there(&process->images, (enum alone_image)action->number, &request))
        return;
    note(world, "the image of pid %u before call %u counts", pid, (unsigned)request - 1);
    summary.cut += request - before;
    dataspace_cut(world->hosts[process->home].space, pid, request);
}

void lives_carry_out(struct world *world, const struct action *action)
{
    uint32_t pid = action->from;

    if (action->kind == DO_DURABLE) {
        durable(world, pid, action);
        world->withdrawn_at = world->time.now;
        return;
    }
    if (world->stuck || world->processes[pid].home == NOWHERE || waits_is_at_barrier(world, pid) ||
        waits_is_over(world, pid))
        return;
    world->withdrawn_at = world->time.now;
    if (action->kind == DO_LOSE)
        lose(world, pid);
    else
        save(world, pid);
}

int lives_report(void)
{
    printf("%llu processes lost, %llu of them in a call, %llu before an image counted; %llu calls "
           "made again, %llu given up\n",
           (unsigned long long)summary.lost, (unsigned long long)summary.in_a_call,
           (unsigned long long)summary.before_it_counts, (unsigned long long)summary.repeated,
           (unsigned long long)summary.cut);
    return !summary.lost + !summary.in_a_call + !summary.before_it_counts + !summary.repeated +
           !summary.cut;
}
