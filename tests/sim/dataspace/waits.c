/* waits.c - barriers in the made-up world, and the search for processes that wait for ever.
 *
 * That a process has reached a barrier is known on its own host at once, on others later, however
 * long that takes.  Hosts tell Processor Zero, which is on none of them, what they see.
 */
#include <stdlib.h>

#include "tests/sim/dataspace/world.h"

/* In order with what was planned before for the same way. */
static struct action *plan(struct world *world, enum action_kind kind, uint64_t *last)
{
    struct action *action = timeline_plan(&world->time, hosts_delay(&world->time, last));

    action->kind = kind;
    return action;
}

/* ---- Barriers -------------------------------------------------------------------------------- */

bool waits_is_at_barrier(const struct world *world, uint32_t pid)
{
    return world->processes[pid].reached > world->processes[pid].passed;
}

bool waits_is_over(const struct world *world, uint32_t pid)
{
    return world->processes[pid].passed == world->barriers;
}

/* Whether the host has not seen yet that all have reached it. */
static bool is_incomplete(const struct world *world, const struct host *host, uint64_t barriers)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (world->seen_barriers[host->number][pid] < barriers)
            return true;
    return false;
}

/* The processes of the host whose barrier is complete go on. */
static void release(struct world *world, const struct host *host)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        struct process *process = &world->processes[pid];

        if (process->home != host->number || !waits_is_at_barrier(world, pid) ||
            is_incomplete(world, host, process->reached))
            continue;
        process->passed = process->reached;
        lives_plan(world, pid, pick(world, 60));
    }
}

void waits_at_barrier(struct world *world, uint32_t pid)
{
    struct process *process = &world->processes[pid];
    struct host *own = &world->hosts[process->home];

    process->reached++;
    note(world, "pid %u reaches barrier %llu", pid, (unsigned long long)process->reached);
    world->seen_barriers[own->number][pid] = process->reached;
    for (uint32_t i = 0; i < world->host_count; i++) {
        if (i == own->number)
            continue;
        struct action *action = plan(world, DO_MIRROR, &world->last_mirror[own->number][i]);
        action->from = pid;
        action->to = i;
        action->number = process->reached;
    }
    release(world, own);
}

/* ---- What a host tells ----------------------------------------------------------------------- */

static bool waits(const struct world *world, const struct host *host, uint32_t pid,
                  struct wire_quiet *quiet)
{
    const struct process *process = &world->processes[pid];

    if (waits_is_at_barrier(world, pid)) {
        if (!is_incomplete(world, host, process->reached))
            return false;
        if (process->reached - 1 < quiet->held)
            quiet->held = process->reached - 1;
        return true;
    }
    return process->transfer.busy && dataspace_waits_for(host->space, pid);
}

static void tell(struct world *world, struct host *host, uint64_t round)
{
    struct wire_quiet quiet = host_quiet(host, round);
    struct action *action;
    uint32_t here = 0;

    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        if (world->processes[pid].home != host->number)
            continue;
        here++;
        quiet.quiet = quiet.quiet && waits(world, host, pid, &quiet);
        if (world->processes[pid].reached < quiet.arrived)
            quiet.arrived = world->processes[pid].reached;
    }
    quiet.quiet = quiet.quiet && here > 0;
    if (!quiet.quiet && round == 0)
        return;
    action = plan(world, DO_HEAR_QUIET, &host->last_quiet);
    action->from = host->number;
    action->message = host_tells(&quiet);
}

/* ---- Processor Zero -------------------------------------------------------------------------- */

/* Is it true that none of them can go on? */
static void check_stuck(struct world *world)
{
    uint64_t least = WIRE_NEVER;

    /* A snapshot that began since it was asked changes nothing: what is withdrawn waits again.  Nor
     * does a process that is lost: it does again what it did, and waits as before. */
    if (world->withdrawn_at > 0 && world->time.now < world->withdrawn_at + SETTLED)
        return;
    if (!losses_are_decided(world))
        return; /* the same, since it was asked */
    hosts_check_traffic(world->hosts, world->host_count, "said to be stuck");
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (world->processes[pid].reached < least)
            least = world->processes[pid].reached;
    for (uint32_t pid = 0; pid < world->process_count; pid++) {
        const struct process *process = &world->processes[pid];
        const struct host *host = &world->hosts[process->home % HOSTS];

        if (process->home == NOWHERE)
            fail(world, "said to be stuck while pid %u is to be restarted", pid);
        if (waits_is_at_barrier(world, pid) ? process->reached <= least
                                            : !dataspace_waits_for(host->space, pid))
            fail(world, "said to be stuck while pid %u can go on", pid);
    }
}

struct action *waits_tell(struct world *world, uint32_t host)
{
    return plan(world, DO_ASK_QUIET, &world->hosts[host].last_asked);
}

void waits_moved(struct world *world)
{
    for (uint32_t i = 0; i < world->host_count; i++)
        world->quiet.hosts[i].asked = false;
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        world->quiet.hosts[world->zero_homes[pid]].asked = true;
    quiet_restart(&world->quiet);
}

static void hear(struct world *world, const struct wire_quiet *quiet)
{
    switch (quiet_take(&world->quiet, quiet->host, quiet)) {
    case QUIET_ASK:
        for (uint32_t i = 0; i < world->host_count; i++) {
            if (!world->quiet.hosts[i].asked)
                continue;
            struct action *action = waits_tell(world, i);
            action->kind = DO_ASK_QUIET;
            action->to = i;
            action->number = world->quiet.round;
        }
        break;
    case QUIET_STUCK:
        note(world, "stuck");
        check_stuck(world);
        world->stuck = true;
        break;
    case QUIET_NOTHING:
        break;
    }
}

void waits_carry_out(struct world *world, const struct action *action)
{
    struct host *from = &world->hosts[action->from % HOSTS], *to = &world->hosts[action->to];

    switch (action->kind) {
    case DO_MIRROR:
        if (world->seen_barriers[to->number][action->from] <
            action->number) /* that of a host that is lost may come late */
            world->seen_barriers[to->number][action->from] = action->number;
        release(world, to);
        break;
    case DO_LOOK:
        if (from->lost || world->stuck || world->looks++ > LOOKS_MOST)
            return;
        tell(world, from, 0);
        struct action *next = timeline_plan(&world->time, LOOK_EVERY);
        next->kind = DO_LOOK;
        next->from = from->number;
        break;
    case DO_HEAR_QUIET:
        if (!world->stuck)
            hear(world, &action->message->quiet);
        free(action->message);
        break;
    case DO_ASK_QUIET:
        if (!to->lost)
            tell(world, to, action->number);
        break;
    default:
        break;
    }
}

void waits_begin(struct world *world)
{
    if (!quiet_begin(&world->quiet, world->host_count))
        abort();
    waits_moved(world);
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct action *action = timeline_plan(&world->time, pick(world, LOOK_EVERY));
        action->kind = DO_LOOK;
        action->from = i;
    }
}

void waits_end(struct world *world)
{
    quiet_end(&world->quiet);
}
