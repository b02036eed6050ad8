/* open_files.c - scans the open files of ranks; see opened.h.
 *
 * Happy path: the job runs -> periodic scans -> a snapshot: lengths are recorded -> ...
 *
 * What can fail: a process is lost -> a last scan of the others -> rollback: lengths are restored,
 * or a warning names files with unknown lengths.
 */
#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/opened.h"
#include "lib/base/clock.h"

#define LOOK_MS 100u
#define SHARE   500u /* scans take at most this fraction of the time of one processor */

/* Returns the processor time it took: an agent that has to wait for a processor spends none. */
static uint64_t look(struct agent *agent)
{
    uint64_t begun = bspz_clock_ns(CLOCK_THREAD_CPUTIME_ID);

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        const struct watched *process = agent_process(agent, pid);

        if (agent_is_here(agent, pid) && process->state == WATCH_LIVES)
            opened_look(snapshots_of(agent)->opened, pid, process->ospid);
    }
    return bspz_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
}

static void on_look(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    uint64_t pause_ms = LOOK_MS, spent_ns;

    if (agent_job(agent) != JOB_RUNNING || !snapshots_of(agent)->opened)
        return;
    spent_ns = look(agent);
    if (spent_ns * SHARE / 1000000u > pause_ms)
        pause_ms = spent_ns * SHARE / 1000000u;
    uv_timer_start(timer, on_look, pause_ms, 0);
}

void agent_opened_begin(struct agent *agent)
{
    if (snapshots_of(agent) && snapshots_of(agent)->opened)
        uv_timer_start(agent_timer(agent, AGENT_TIMER_OPENED), on_look, LOOK_MS, 0);
}

void agent_opened_look(struct agent *agent)
{
    if (snapshots_of(agent) && snapshots_of(agent)->opened && agent_nprocs(agent) > 0)
        look(agent);
}

void agent_opened_snapshot(struct agent *agent, struct bspz_snapshot_name name)
{
    if (!snapshots_of(agent)->opened)
        return;
    look(agent);
    opened_snapshot(snapshots_of(agent)->opened, name);
}

static void tell(void *context, const char *text)
{
    agent_notice(context, "%s", text);
}

void agent_opened_back(struct agent *agent, struct bspz_snapshot_name name)
{
    if (snapshots_of(agent)->opened)
        opened_back(snapshots_of(agent)->opened, name, tell, agent);
}
