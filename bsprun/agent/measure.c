/* measure.c - see measure.h.
 *
 * Work is counted by libbsp, and the time that this host takes for it by the links.  How long a
 * process waited for a processor, because of others or of a quota, the kernel counts:
 * /proc/PID/schedstat.
 */
#include "bsprun/agent/measure.h"

#include <stdio.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "lib/base/io.h"
#include "lib/shm/board.h"

#define LINE_MOST 256u

static bool read_scheduling(pid_t ospid, struct wire_measure *measure)
{
    char path[64], line[LINE_MOST];
    unsigned long long ran, waited;

    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)ospid);
    if (!bspz_read_text(path, line, sizeof line) || sscanf(line, "%llu %llu", &ran, &waited) != 2)
        return false;
    measure->ran_ns = ran;
    measure->waited_ns = waited;
    return true;
}

static bool measure_one(const struct agent *agent, int pid, struct wire_measure *measure)
{
    const struct bspz_counters *counters = &bspz_rank_of(agent_board(agent), pid)->counters;
    pid_t ospid = agent_process(agent, pid)->ospid;

    *measure = (struct wire_measure){.pid = (uint32_t)pid,
                                     .compute_ns = counters->compute_ns,
                                     .work_ns = counters->work_ns,
                                     .bytes = memory_of_process(ospid),
                                     .bound = agent_is_bound(agent, pid)};
    return read_scheduling(ospid, measure);
}

void agent_measure(struct agent *agent, uint64_t superstep, struct wire_arrive *arrive)
{
    struct wire_measure *measures = calloc((size_t)agent_here(agent) + 1, sizeof *measures);
    uint32_t count = 0;

    agent_note_bound(agent);
    for (int pid = 0; measures && pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) && !measure_one(agent, pid, &measures[count++])) {
            free(measures);
            return;
        }
    if (!measures)
        return;
    arrive->measures = (struct wire_measure_list){measures, count};
    arrive->available = memory_available();
    arrive->busy_ns = atomic_load(&agent_board(agent)->busy_ns);
    arrive->busy_steps = atomic_load(&agent_board(agent)->busy_steps);
    agent_peers_measure(agent, superstep, arrive);
}

void agent_measure_free(struct wire_arrive *arrive)
{
    free((void *)(uintptr_t)arrive->measures.items);
    free((void *)(uintptr_t)arrive->traffic.items);
    free((void *)(uintptr_t)arrive->ways.items);
}
