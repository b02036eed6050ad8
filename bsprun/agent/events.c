/* events.c - see events.h. */
#include "bsprun/agent/events.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/differs.h"
#include "bsprun/agent/loop.h"

#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/finish.h"
#include "bsprun/agent/orders.h"
#include "bsprun/agent/over.h"
#include "bsprun/agent/ranks.h"
#include "bsprun/agent/route.h"
#include "bsprun/agent/strangers.h"
#include "bsprun/agent/terms.h"

static void on_ended(struct watched *process)
{
    struct agent *agent = process->agent;
    pid_t ospid = process->ospid;

    agent_scan(agent); /* handles its last state before its death */
    if (!process->ended) {
        agent_check_over(agent);
        return;
    }
    if (process->state == WATCH_GONE) /* not replaced by another one meanwhile */
        process->ended(process);
    agent_bury_stranger(agent, ospid);
    agent_check_rewound(agent);
}

static void on_news(struct agent *agent, unsigned news)
{
    if (news & AGENT_JOB_OVER)
        agent_finish(agent);
    if (news & AGENT_TERM_OVER)
        agent_check_rewound(agent);
    if (news & AGENT_LEAVE)
        agent_close(agent);
}

const struct agent_calls agent_events = {
    .rung = agent_scan,
    .ended = on_ended,
    .ordered = agent_obey,
    .news = on_news,
    .interrupt = agent_dataspace_interrupt,
    .restarted = agent_dataspace_restarted,
    .cut = agent_dataspace_cut,
    .burden = agent_dataspace_burden,
    .links = {.message = agent_route_message,
              .lost = agent_route_lost,
              .arrived = agent_route_arrived,
              .mismatch = agent_replicas_differ,
              .behind = agent_replicas_behind},
};
