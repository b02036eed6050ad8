/* finish.c - see finish.h. */
#include "bsprun/agent/finish.h"
#include "bsprun/agent/loop.h"

#include <stdlib.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/debug.h"
#include "bsprun/agent/replica_files.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/zero.h"
#include "bsprun/usage.h"

static void send_report(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_REPORT};
    struct wire_usage *rows = calloc((size_t)agent_nprocs(agent) + 1, sizeof *rows);
    uint64_t *early = calloc((size_t)agent_nprocs(agent) + 1, sizeof *early);
    uint32_t count = 0, early_count = 0;

    if (!rows || !early) {
        free(rows);
        free(early);
        return;
    }
    for (int pid = 0;
         agent_order(agent)->report && agent_begin_ns(agent) && pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            usage_read(agent_board(agent), pid, agent_end_ns(agent) - agent_begin_ns(agent),
                       &rows[count++]);
    message.report.host = agent_host(agent);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) && agent_ended_early(agent, pid))
            early[early_count++] = (uint64_t)pid;
    message.report.early = (struct wire_numbers){early, early_count};
    message.report.ranks = (struct wire_usage_list){rows, count};
    agent_send(agent, &message);
    free(rows);
    free(early);
}

static void send_end(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_ENDED};

    if (agent_begin_ns(agent) && agent_end_ns(agent) < agent_begin_ns(agent))
        agent_note_end(agent, agent_now_ns());
    if (agent_has_peers(agent) || (agent_order(agent)->report && agent_begin_ns(agent)))
        send_report(agent);
    if (agent_ended_elsewhere(agent))
        return;
    message.ended.status = agent_outcome(agent)->status;
    message.ended.cause = agent_outcome(agent)->cause;
    message.ended.pid = agent_outcome(agent)->pid;
    message.ended.signal = agent_outcome(agent)->signal;
    message.ended.unaware = agent_outcome(agent)->unaware;
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
    if (agent_is_finished(agent) || (!agent_is_dismissed(agent) && !agent_relay_drained(agent)))
        return;
    if (agent_outcome(agent)->cause == WIRE_CAUSE_NONE && !agent_is_dismissed(agent) &&
        agent_debug_runs(agent))
        return; /* whoever debugs may look at the end */
    agent_set_finished(agent);
    agent_snapshots_close(agent);
    agent_blame_end(agent);
    if (agent_control(agent) && !agent_is_dismissed(agent))
        send_end(agent);
    else
        agent_close(agent);
}

void agent_let_go(struct agent *agent)
{
    if (agent_let_write_first(agent, agent_let_go))
        return;
    if (agent_is_finished(agent) || agent_job(agent) == JOB_NEW)
        agent_close(agent);
    else
        agent_end_alone(agent);
}
