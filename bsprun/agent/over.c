/* over.c - see over.h. */
#include "bsprun/agent/over.h"
#include "bsprun/agent/core/decided.h"

#include <stdio.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/ranks.h"
#include "bsprun/agent/terms.h"
#include "bsprun/verdict.h"

/* The first rank that died prematurely. */
static int lost_rank(const struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_process(agent, pid)->state == WATCH_GONE &&
            agent_member(agent, pid)->seen < BSPZ_RANK_ENDED)
            return pid;
    return -1;
}

/* Notes, only with -v, that nothing ran in parallel. */
static void note_no_begin(struct agent *agent)
{
    struct wire_message note = {.kind = WIRE_NOTICE};
    char text[WIRE_NAME_MAX + 80];

    if (agent_order(agent)->verbosity < 1)
        return;
    snprintf(text, sizeof text, "%.200s ended before bsp_begin, with status 0",
             agent_order(agent)->program);
    note.notice.text = text;
    agent_send(agent, &note);
}

static void program_ended(struct agent *agent)
{
    bool has_libbsp = atomic_load(&agent_board(agent)->attached) ||
                      agent_board(agent)->flags & BSPZ_BOARD_REFUSED;
    struct verdict verdict;

    verdict_of_program(agent_order(agent)->program, has_libbsp, &agent_root(agent)->death,
                       &verdict);
    if (verdict.cause == WIRE_CAUSE_NONE && verdict.status == 0)
        note_no_begin(agent);
    if (agent_zero_decides(agent) && verdict.cause == WIRE_CAUSE_NONE) {
        verdict.cause = WIRE_CAUSE_RANK_ERROR; /* it failed inside bsp_begin, with a message */
        verdict.status = verdict.status ? verdict.status : 1;
    }
    agent_abort(agent, COORD_NOBODY, &verdict);
}

void agent_check_over(struct agent *agent)
{
    int lost;

    if (agent_is_finished(agent))
        return;
    if (agent_job(agent) == JOB_REWINDING) {
        agent_check_rewound(agent);
        return;
    }
    if (job_is_stopping(agent_job(agent))) {
        if (agent_everything_gone(agent))
            agent_sweep(agent);
        return;
    }
    while (agent_decided_lets_out(agent) && agent_job(agent) == JOB_RUNNING &&
           (lost = lost_rank(agent)) >= 0)
        agent_count_out(agent, lost);
    if (agent_job(agent) == JOB_ENDING) {
        agent_report_leavers(agent);
        return;
    }
    lost = lost_rank(agent);
    if (lost >= 0)
        agent_handle_rank_end(agent, lost);
    else if (agent_root(agent)->state == WATCH_GONE &&
             !(agent_nprocs(agent) > 0 && agent_process(agent, 0)->state != WATCH_NONE))
        program_ended(agent);
}
