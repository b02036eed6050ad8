/* finish.c - see finish.h. */
#include "bsprun/agent/finish.h"
#include "bsprun/agent/loop.h"

#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/debug.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/zero.h"
#include "bsprun/usage.h"

static void send_report(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_REPORT};
    struct wire_usage *rows = calloc((size_t)agent->nprocs + 1, sizeof *rows);
    uint32_t count = 0;

    if (!rows)
        return;
    for (int pid = 0; agent->order.report && agent->begin_ns && pid < agent->nprocs; pid++)
        if (agent_is_here(agent, pid))
            usage_read(agent->board, pid, agent->end_ns - agent->begin_ns, &rows[count++]);
    message.report.host = agent->host;
    message.report.ranks = (struct wire_usage_list){rows, count};
    agent_send(agent, &message);
    free(rows);
}

static void send_end(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_ENDED};

    if (agent->begin_ns && agent->end_ns < agent->begin_ns)
        agent->end_ns = agent_now_ns();
    if (agent_has_peers(agent) || (agent->order.report && agent->begin_ns))
        send_report(agent);
    if (agent_ended_elsewhere(agent))
        return;
    message.ended.status = agent_outcome(agent)->status;
    message.ended.cause = agent_outcome(agent)->cause;
    message.ended.pid = agent_outcome(agent)->pid;
    message.ended.signal = agent_outcome(agent)->signal;
    message.ended.text = agent_blamed(agent);
    message.ended.table = agent_blamed_table(agent);
    message.ended.learned = agent_learned(agent);
    if (agent_send(agent, &message) == 0)
        return;
    message.ended.text = message.ended.table = "";
    if (agent_send(agent, &message) != 0)
        agent_close(agent); /* bsprun sees that this agent has exited, and cleans up */
}

void agent_finish(struct agent *agent)
{
    if (agent->finished || (!agent->dismissed && !agent_relay_drained(agent)))
        return;
    if (agent_outcome(agent)->cause == WIRE_CAUSE_NONE && !agent->dismissed &&
        agent_debug_runs(agent))
        return; /* whoever debugs may look at the end */
    agent->finished = true;
    agent_snapshots_close(agent);
    agent_blame_end(agent);
    if (agent->control && !agent->dismissed)
        send_end(agent);
    else
        agent_close(agent);
}

void agent_let_go(struct agent *agent)
{
    if (agent->finished || agent->job == JOB_NEW)
        agent_close(agent);
    else
        agent_end_alone(agent);
}
