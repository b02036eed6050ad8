/* status.c - see status.h. */
#include "bsprun/agent/status.h"

#include <stdlib.h>

#include "bsprun/agent/alone.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/zero.h"
#include "bsprun/process.h"
#include "bsprun/rank_times.h"
#include "bsprun/whereabouts.h"
#include "lib/base/clock.h"

/* 0: not made yet, or ended. */
static uint32_t os_pid_of(const struct agent *agent, int pid)
{
    const struct watched *process = agent_process(agent, pid);

    return process->state == WATCH_LIVES ? (uint32_t)process->ospid : 0;
}

/* ---- Times ---- */

/* When nobody wants them any more. */
static void on_unwanted(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            rank_times_end(agent_board(agent), pid);
}

static void want_times(struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            rank_times_want(agent_board(agent), pid, bspz_now_ns());
    uv_timer_start(agent_timer(agent, AGENT_TIMER_TIMES), on_unwanted, AGENT_TIMES_MS, 0);
}

/* ---- The answer ---- */

/* A process that is stopped, by a signal or a debugger, is so in whatever it does. */
static enum wire_rank_state state_of(const struct whereabouts *at, uint32_t os_pid)
{
    return os_pid && process_is_stopped((pid_t)os_pid) ? WIRE_RANK_STOPPED : at->state;
}

static struct wire_where row_of(const struct agent *agent, int pid, struct whereabouts *at)
{
    uint32_t os_pid = os_pid_of(agent, pid);

    whereabouts_read(agent_board(agent), agent_nprocs(agent), pid, at);
    struct rank_times times = rank_times_read(agent_board(agent), pid, at->state, bspz_now_ns());
    return (struct wire_where){.pid = (uint32_t)pid,
                               .state = state_of(at, os_pid),
                               .superstep = at->superstep,
                               .function = at->function,
                               .file = at->file,
                               .line = at->line,
                               .os_pid = os_pid,
                               .memory = os_pid ? memory_of_process((pid_t)os_pid) : 0,
                               .compute_ns = times.compute_ns,
                               .communicate_ns = times.communicate_ns,
                               .wait_ns = times.wait_ns};
}

void agent_answer_status(struct agent *agent, bool times, bool replicas)
{
    struct wire_message message = {.kind = WIRE_STATUS};
    struct wire_where *rows = NULL;
    struct wire_coming *coming = NULL;
    struct whereabouts *places = NULL;
    uint32_t count = 0;
    char alone[512] = "";

    if (replicas)
        agent_why_alone(agent, alone, sizeof alone);
    message.status.alone = alone;
    if (agent_nprocs(agent) > 0) {
        rows = calloc((size_t)agent_nprocs(agent), sizeof *rows);
        places = calloc((size_t)agent_nprocs(agent), sizeof *places);
        coming = calloc((size_t)agent_nprocs(agent), sizeof *coming);
    }
    message.status.host = agent_host(agent);
    message.status.processes = (uint32_t)agent_nprocs(agent);
    if (agent_begin_ns(agent))
        message.status.seconds = (double)(agent_now_ns() - agent_begin_ns(agent)) / 1e9;
    if (times)
        want_times(agent);
    for (int pid = 0; rows && places && pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            rows[count++] = row_of(agent, pid, &places[pid]);
    message.status.ranks = (struct wire_where_list){rows, count};
    if (coming)
        message.status.coming =
            (struct wire_coming_list){coming, agent_snapshots_coming(agent, coming)};
    message.status.available = memory_available();
    message.status.learned = agent_learned(agent);
    agent_send(agent, &message);
    free(rows);
    free(coming);
    free(places);
}
