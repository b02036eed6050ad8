/* costs.c - the costs of snapshots to the processes of this host besides the pause.
 *
 * These are the CPU time of copies and writers, and the agent's own during a snapshot, which
 * includes its work for the job's output meanwhile.
 */
#include <unistd.h>

#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/trial_read.h"
#include "bsprun/process.h"

#define SMALL_ONES 8u /* snapshots with images too small to measure the disk's speed */

void agent_costs_begin(struct agent *agent)
{
    snapshots_of(agent)->counted_ns = process_cpu_ns(getpid());
}

void agent_costs_count(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    uint64_t now = process_cpu_ns(getpid());

    snapshots->cpu_ns += now - snapshots->counted_ns;
    snapshots->counted_ns = now;
}

void agent_snapshots_buried(struct agent *agent, uint64_t cpu_ns)
{
    if (snapshots_of(agent))
        snapshots_of(agent)->cpu_ns += cpu_ns;
}

static uint64_t cpu_of(const struct watched *process)
{
    return process->state != WATCH_NONE ? process_cpu_ns(process->ospid) : 0;
}

/* The CPU time of copies and writers not reaped yet.  Killed ones count when they are reaped. */
static uint64_t cpu_of_living(const struct agent *agent)
{
    uint64_t sum = 0;

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        const struct kept *kept = &snapshots_of(agent)->kept[pid];

        sum += cpu_of(&kept->writer);
        for (int slot = 0; slot < SNAPSHOT_SLOTS; slot++)
            sum += cpu_of(&kept->copies[slot].process);
    }
    return sum;
}

/* Reports the trial read once: after the first restore its measured cost is used. */
static void tell_trial(struct agent_snapshots *snapshots, struct wire_known *known)
{
    if (!snapshots->tried_told)
        snapshots->tried_told =
            trial_read_result(snapshots->trial, &known->read_bytes, &known->read_ns);
}

void agent_costs_try(struct agent *agent, struct bspz_snapshot_name name, int pid)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    uint64_t size = 0;

    if (snapshots->tried || name.superstep == 0)
        return;
    int fd = store_image_open(agent_store(agent), name, (uint32_t)pid, &size, NULL);
    bool large = fd >= 0 && (size >= TRIAL_READ_LEAST || ++snapshots->small_ones == SMALL_ONES);

    snapshots->tried = fd < 0 || large;
    if (large)
        snapshots->trial = trial_read_begin(fd);
    else if (fd >= 0)
        close(fd);
}

void agent_costs_tell(struct agent *agent, struct wire_known *known)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    const struct ticket *ticket = &snapshots->ticket;
    int here = agent_here(agent) > 0 ? agent_here(agent) : 1; /* the number of images */
    struct snapshot_load load = {.changed = ticket->changed,
                                 .page_copy_ns = ticket->page_copy_ns / (uint64_t)here,
                                 .processes = (uint32_t)here,
                                 .cores = (uint32_t)agent_order(agent)->cores};
    uint64_t cpu_ns;

    agent_costs_count(agent);
    cpu_ns = snapshots->cpu_ns + cpu_of_living(agent);
    if (cpu_ns > snapshots->told_ns) {
        load.cpu_ns = cpu_ns - snapshots->told_ns;
        snapshots->told_ns = cpu_ns;
    }
    tell_trial(snapshots, known);
    known->busy_ns = snapshot_busy_ns(&load);
    known->copied_ns = snapshot_copied_ns(&load);
}
