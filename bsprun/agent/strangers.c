/* strangers.c - see strangers.h. */
#include "bsprun/agent/strangers.h"

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/tool.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/process.h"

/* Whether a child is of the job: ranks and the program stay zombies until the job is over; a clone
 * that is not adopted yet was just made. */
static bool is_of_the_job(const void *context, pid_t ospid)
{
    const struct agent *agent = context;

    if (ospid == agent_root(agent)->ospid || agent_job(agent) == JOB_FORMING ||
        agent_job(agent) == JOB_REGISTERED || agent_snapshots_expect(agent, ospid) ||
        tool_owns(agent, ospid))
        return true;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_process(agent, pid)->ospid == ospid)
            return true;
    return false;
}

void agent_bury_strangers(struct agent *agent)
{
    agent_snapshots_buried(agent, process_reap_strangers(is_of_the_job, agent));
}

void agent_bury_stranger(struct agent *agent, pid_t ospid)
{
    if (!is_of_the_job(agent, ospid))
        agent_snapshots_buried(agent, process_reap(ospid));
}
