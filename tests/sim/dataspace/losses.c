/* losses.c - hosts of the made-up world that are lost, and what follows.
 *
 * What a host has sent shortly before comes, or its end does not.  Some time later Processor Zero
 * decides where its processes begin their next lives, and tells all hosts, each of which hears of
 * its decisions in order, on the link on which it is asked whether its processes wait.
 */
#include <stdio.h>

#include "tests/sim/dataspace/world.h"

static struct {
    uint64_t lost, two, cut_off, moved, moved_on, past, back, no_copies;
} summary;

static uint64_t pick_apart(struct world *world, uint64_t below)
{
    return timeline_apart(&world->time, below);
}

void losses_begin(struct world *world)
{
    uint64_t when = pick_apart(world, LOSSES_WITHIN);
    unsigned count = pick_apart(world, 2) == 0 ? 0 : (unsigned)pick_apart(world, HOSTS);

    uint32_t owners = 0;

    for (uint32_t i = 0; i < world->host_count; i++) {
        bool owns = false;

        for (uint32_t pid = 0; pid < world->process_count; pid++)
            owns |= world->processes[pid].home == i;
        owners += owns;
    }
    if (world->copies > owners)
        world->copies = owners;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        world->zero_homes[pid] = world->processes[pid].home;
    for (unsigned i = 0; i < count; i++) {
        uint32_t host = (uint32_t)pick_apart(world, world->host_count);
        struct action *action;

        /* Often one soon after another, while the parts of the first are being taken over. */
        when = pick_apart(world, 2) == 0 ? when + pick_apart(world, 200)
                                         : pick_apart(world, LOSSES_WITHIN);
        if (!seeds_keeps_fault(&world->time.job, LOSSES + i))
            continue;
        action = timeline_plan(&world->time, when);
        action->kind = DO_LOSE_HOST;
        action->from = host;
    }
}

bool losses_let_pass(struct world *world, const struct action *action)
{
    bool comes = host_hears(&world->hosts[action->to], &world->hosts[action->from]);

    summary.cut_off += !comes;
    return comes;
}

bool losses_are_decided(const struct world *world)
{
    return world->decided == world->lost;
}

void losses_part_lost(struct world *world, const struct host *host)
{
    if (world->lost < world->copies)
        fail(world, "a part with %u copies is lost with %u hosts", world->copies, world->lost);
    note(world, "host %u has no copy of a part: all go back", host->number);
    summary.back++;
    world->over = true;
}

void losses_past(struct world *world, const struct host *host, uint32_t pid, uint64_t number)
{
    const struct process *process = &world->processes[pid];
    uint32_t returned = 0;

    for (uint32_t i = 0; i < process->made; i++) {
        const struct call *call = &process->calls[i];

        if (world->histories[call->tag].operations[call->operation].returned != LINEAR_NEVER)
            returned = i + 1;
    }
    if (process->home != host->number || number > process->made || number < returned)
        fail(world, "pid %u is said to have made %llu calls on host %u", pid,
             (unsigned long long)number, host->number);
    summary.past += number > process->at;
}

/* ---- A loss ---------------------------------------------------------------------------------- */

/* One of whose processes one has reached a barrier takes the others along. */
static bool can_be_lost(const struct world *world, uint32_t host)
{
    if (world->hosts[host].lost || world->stuck || world->lost + 1 == world->host_count)
        return false;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (world->processes[pid].home == host &&
            (waits_is_at_barrier(world, pid) || waits_is_over(world, pid)))
            return false;
    return true;
}

static void lose(struct world *world, uint32_t number)
{
    struct host *host = &world->hosts[number];
    struct action *action;

    note(world, "host %u is lost", number);
    if (dataspace_bears_loss(host->space) != (world->copies > 1) && !world->plain)
        fail(world, "host %u says the wrong thing of its loss", number);
    host->lost = true;
    summary.lost++;
    summary.two += ++world->lost == 2;
    for (uint32_t i = 0; i < world->host_count; i++)
        host->heard_until[i] = world->time.now + pick_apart(world, 60);
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (world->processes[pid].home == number) {
            lives_next(world, pid);
            world->processes[pid].home = NOWHERE;
        }
    action = timeline_plan(&world->time, 1 + pick_apart(world, 200));
    action->kind = DO_DECIDE;
    action->from = number;
}

/* ---- Processor Zero -------------------------------------------------------------------------- */

static uint32_t pick_home(struct world *world)
{
    uint32_t host = (uint32_t)pick_apart(world, world->host_count);

    for (;; host = (host + 1) % world->host_count) {
        bool known = false;

        for (uint32_t i = 0; i < world->decided; i++)
            known |= world->decisions[i].lost == host;
        if (!known)
            return host;
    }
}

static void decide(struct world *world, uint32_t lost)
{
    struct decision *decision = &world->decisions[world->decided++];

    if (world->copies == 1 || world->plain) {
        summary.no_copies++;
        world->over = true;
        return;
    }
    decision->lost = lost;
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        decision->homes[pid] = NOWHERE;
        if (world->zero_homes[pid] == lost)
            world->zero_homes[pid] = decision->homes[pid] = pick_home(world);
    }
    waits_moved(world);
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action = waits_tell(world, i);

        action->kind = DO_TOLD;
        action->from = i;
        action->number = world->decided - 1;
    }
}

static void told(struct world *world, struct host *host, const struct decision *decision)
{
    if (host->lost)
        return;
    note(world, "host %u is told that host %u is lost", host->number, decision->lost);
    dataspace_lost(host->space, decision->lost);
    host->knows[decision->lost] = true;
    for (uint32_t pid = 0; pid < world->process_count && !world->over; pid++) {
        struct process *process = &world->processes[pid];

        if (decision->homes[pid] == NOWHERE)
            continue;
        if (decision->homes[pid] == host->number) {
            note(world, "pid %u is restarted on host %u before call %u", pid, host->number,
                 process->at);
            summary.moved++;
            summary.moved_on += process->moves++ > 0;
            process->home = host->number;
            lives_plan(world, pid, 1 + pick_apart(world, 100));
        }
        dataspace_moved(host->space, pid, decision->homes[pid]);
    }
    hosts_go_on(world, host);
}

void losses_carry_out(struct world *world, const struct action *action)
{
    switch (action->kind) {
    case DO_LOSE_HOST:
        if (can_be_lost(world, action->from))
            lose(world, action->from);
        break;
    case DO_DECIDE:
        decide(world, action->from);
        break;
    default:
        told(world, &world->hosts[action->from], &world->decisions[action->number]);
        break;
    }
}

int losses_report(void)
{
    printf("%llu hosts lost, in %llu jobs two; %llu messages cut off, %llu processes moved, %llu "
           "of them again, %llu behind their pasts; %llu jobs went back\n",
           (unsigned long long)summary.lost, (unsigned long long)summary.two,
           (unsigned long long)summary.cut_off, (unsigned long long)summary.moved,
           (unsigned long long)summary.moved_on, (unsigned long long)summary.past,
           (unsigned long long)summary.back);
    return seeds_missing(&summary, sizeof summary);
}
