/* losses.c - hosts of the made-up world that are lost, as long as each process has a replica that
 * lives; and the search for processes that wait for ever.
 *
 * What a host has sent shortly before comes, or its end does not.  Some time later Processor Zero,
 * which is on none of them, tells all others, each on the link on which it is asked whether its
 * processes wait.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/dataspace/cells/world.h"

static struct {
    uint64_t lost, two, cut_off, back;
} summary;

/* ---- A loss ---------------------------------------------------------------------------------- */

static bool has_replica(const struct world *world, uint32_t pid)
{
    for (uint32_t host = 0; host < world->host_count; host++)
        if (world->processes[pid].replicas[host].is && !world->hosts[host].lost)
            return true;
    return false;
}

static void lose(struct world *world, uint32_t number)
{
    struct host *host = &world->hosts[number];
    bool borne = true;
    struct action *action;

    if (host->lost || world->stuck)
        return;
    host->lost = true;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        borne &= has_replica(world, pid);
    if (!borne) {
        host->lost = false; /* all would go back */
        return;
    }
    note(world, "host %u is lost", number);
    summary.lost++;
    summary.two += ++world->lost == 2;
    for (uint32_t i = 0; i < world->host_count; i++)
        host->heard_until[i] = world->time.now + pick(world, 60);
    action = timeline_plan(&world->time, 1 + pick(world, 200));
    action->kind = DO_DECIDE;
    action->from = number;
}

bool losses_let_pass(struct world *world, const struct action *action)
{
    bool comes = host_hears(&world->hosts[action->to], &world->hosts[action->from]);

    summary.cut_off += !comes;
    return comes;
}

void losses_part_lost(struct world *world, const struct host *host)
{
    if (world->lost < world->copies)
        fail(world, "a part with %u copies is lost with %u hosts", world->copies, world->lost);
    note(world, "host %u has no copy of a part: all go back", host->number);
    summary.back++;
    world->over = true;
}

/* ---- Processor Zero -------------------------------------------------------------------------- */

/* In order with what was planned before for the same way. */
struct action *losses_plan(struct world *world, enum action_kind kind, uint64_t *last)
{
    struct action *action = timeline_plan(&world->time, hosts_delay(&world->time, last));

    action->kind = kind;
    return action;
}

static void decide(struct world *world, uint32_t lost)
{
    world->decided++;
    if (world->halts.on) {
        zero_lost(world, lost);
        return;
    }
    world->quiet.hosts[lost].asked = false;
    quiet_restart(&world->quiet);
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action;

        if (i == lost)
            continue;
        action = losses_plan(world, DO_TOLD, &world->hosts[i].last_asked);
        action->from = lost;
        action->to = i;
    }
    saved_lost(world, lost);
}

void losses_told(struct world *world, struct host *host, uint32_t lost)
{
    if (host->lost || host->knows[lost])
        return;
    note(world, "host %u is told that host %u is lost", host->number, lost);
    dataspace_lost(host->space, lost);
    host->knows[lost] = true;
    hosts_go_on(world, host);
    saved_look(world, host);
}

/* ---- Whether all wait ------------------------------------------------------------------------ */

/* At the end there is a barrier, which is complete when all processes have reached it. */
struct wire_quiet losses_quiet(const struct world *world, const struct host *host, uint64_t round)
{
    struct wire_quiet quiet = host_quiet(host, round);
    uint32_t here = 0;
    bool over = false, going = false;

    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct process *process = &world->processes[pid];
        const struct replica *replica = &process->replicas[host->number];
        bool at_end = !replica->transfer.busy && acts_are_over(process, replica);

        if (!replica->is)
            continue;
        here++;
        over |= at_end;
        going |= !at_end;
        quiet.quiet &= (world->halts.on ? barriers_wait(world, pid, host->number) : at_end) ||
                       (replica->transfer.busy && dataspace_waits_for(host->space, pid));
    }
    quiet.quiet = quiet.quiet && here > 0;
    if (world->halts.on) {
        barriers_quiet(world, host->number, &quiet);
    } else {
        quiet.arrived = !going;
        quiet.held = over ? 0 : WIRE_NEVER;
    }
    return quiet;
}

static void tell(struct world *world, struct host *host, uint64_t round)
{
    struct wire_quiet quiet = losses_quiet(world, host, round);
    struct action *action;

    if (!quiet.quiet && round == 0)
        return;
    if (world->halts.on) {
        halts_say(world, host->number, (struct wire_message){.kind = WIRE_QUIET, .quiet = quiet});
        return;
    }
    action = losses_plan(world, DO_HEAR_QUIET, &host->last_quiet);
    action->from = host->number;
    action->message = host_tells(&quiet);
}

/* Is it true that none of them can go on? */
static void check_stuck(struct world *world)
{
    if (world->fault.done || world->decided < world->lost ||
        (world->withdrawn_at > 0 && world->time.now < world->withdrawn_at + SETTLED))
        return;
    hosts_check_traffic(world->hosts, world->host_count, "said to be stuck");
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        for (uint32_t host = 0; host < world->host_count; host++) {
            const struct process *process = &world->processes[pid];

            if (process->replicas[host].is && !world->hosts[host].lost &&
                !acts_are_over(process, &process->replicas[host]) &&
                !dataspace_waits_for(world->hosts[host].space, pid))
                fail(world, "said to be stuck while pid %u can go on on host %u", pid, host);
        }
}

void losses_stuck(struct world *world)
{
    note(world, "stuck");
    check_stuck(world);
    world->stuck = true;
}

static void hear(struct world *world, const struct wire_quiet *quiet)
{
    switch (quiet_take(&world->quiet, quiet->host, quiet)) {
    case QUIET_ASK:
        for (uint32_t i = 0; i < world->host_count; i++) {
            struct action *action;

            if (!world->quiet.hosts[i].asked)
                continue;
            action = losses_plan(world, DO_ASK_QUIET, &world->hosts[i].last_asked);
            action->to = i;
            action->number = world->quiet.round;
        }
        break;
    case QUIET_STUCK:
        losses_stuck(world);
        break;
    case QUIET_NOTHING:
        break;
    }
}

static void look(struct world *world, struct host *host)
{
    struct action *next;

    if (host->lost || world->stuck || world->looks++ > LOOKS_MOST)
        return;
    tell(world, host, 0);
    next = timeline_plan(&world->time, LOOK_EVERY);
    next->kind = DO_LOOK;
    next->from = host->number;
}

void losses_carry_out(struct world *world, const struct action *action)
{
    struct host *from = &world->hosts[action->from], *to = &world->hosts[action->to];

    switch (action->kind) {
    case DO_LOSE_HOST:
        lose(world, action->from);
        break;
    case DO_DECIDE:
        decide(world, action->from);
        break;
    case DO_TOLD:
        losses_told(world, to, action->from);
        break;
    case DO_LOOK:
        look(world, from);
        break;
    case DO_HEAR_QUIET:
        if (!world->stuck && world->quiet.hosts[action->from].asked)
            hear(world, &action->message->quiet);
        free(action->message);
        break;
    default:
        if (!to->lost)
            tell(world, to, action->number);
        break;
    }
}

/* ---- The world ------------------------------------------------------------------------------- */

void losses_look(struct world *world)
{
    if (!quiet_begin(&world->quiet, world->host_count))
        abort();
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action = timeline_plan(&world->time, pick(world, LOOK_EVERY));

        action->kind = DO_LOOK;
        action->from = i;
        world->quiet.hosts[i].asked = has_replicas(world, i);
    }
}

void losses_begin(struct world *world)
{
    uint64_t when = pick(world, LOSSES_WITHIN);
    unsigned count = pick(world, 2) == 0 ? 0 : (unsigned)pick(world, LOSSES + 1);

    for (unsigned i = 0; i < count; i++) {
        uint32_t host = (uint32_t)pick(world, world->host_count);
        struct action *action;

        /* Often one soon after another, while the parts of the first are being taken over. */
        when = pick(world, 2) == 0 ? when + pick(world, 200) : pick(world, LOSSES_WITHIN);
        if (!seeds_keeps_fault(&world->time.job, i))
            continue;
        action = timeline_plan(&world->time, when);
        action->kind = DO_LOSE_HOST;
        action->from = host;
    }
    losses_look(world);
}

void losses_end(struct world *world)
{
    quiet_end(&world->quiet);
}

int losses_report(void)
{
    printf("%llu hosts lost, in %llu jobs two; %llu messages cut off; %llu jobs went back\n",
           (unsigned long long)summary.lost, (unsigned long long)summary.two,
           (unsigned long long)summary.cut_off, (unsigned long long)summary.back);
    return seeds_missing(&summary, sizeof summary);
}
