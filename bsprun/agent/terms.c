/* terms.c - the succession of terms in a node agent.
 *
 * Happy path: a fault -> Processor Zero sends STOP_RANKS (again): all processes but frozen copies
 * are killed, TERM_OVER -> bsprun sends ELECT -> when no process of the older term runs: its output
 * is passed on, an unfinished snapshot is removed, the board is reset -> HELD, HOST_READY.
 *
 * What can fail: a process forks while it is killed (killed again); ELECT arrives first, as bsprun
 * knew of the fault earlier; no memory for Processor Zero, or no descriptors for links to other
 * hosts: where Processor Zero is on another host this agent leaves, as nobody would hear why it
 * does not take part.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/passed.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/mail.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/agent/snapshot/replicas.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/survive.h"
#include "bsprun/agent/terms.h"
#include "bsprun/agent/zero.h"
#include "bsprun/process.h"
#include "bsprun/verdict.h"
#include "lib/base/process_stat.h"
#include "lib/net/net.h"
#include "lib/shm/board.h"

#define SWEEP_AGAIN_MS 1u
#define FREE_AGAIN_MS  5u
#define FREE_MOST_NS   UINT64_C(5000000000)
#define LET_GO_NICE    19 /* a seventieth of a rank's share */

/* While a term is being ended. */
struct agent_rewinding {
    uint64_t since_ns;
    uint64_t largest; /* the memory of the largest of its processes here, in bytes */
    bool all_gone;    /* no process of the term is left that could fork */
};

int agent_terms_open(struct agent *agent)
{
    agent->rewinding = calloc(1, sizeof *agent->rewinding);
    return agent->rewinding ? 0 : -ENOMEM;
}

void agent_terms_free(struct agent *agent)
{
    free(agent->rewinding);
    agent->rewinding = NULL;
}

/* ---- The end of a term ---- */

/* Kills a wrapper first, so that it does not go on after the program has died.  Spares frozen
 * copies that may be restored, and ranks that are their own. */
static void kill_term(struct agent *agent)
{
    agent_snapshots_rewind(agent);
    if (agent_root(agent)->state == WATCH_LIVES && !agent_is_copy(agent, agent_root(agent)->ospid))
        process_signal(agent_root(agent)->pidfd, SIGKILL);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_copy(agent, agent_process(agent, pid)->ospid))
            agent_pause_spare(agent, agent_process(agent, pid));
    agent_kill_members(agent, agent_is_copy);
}

static void note_memory(struct agent *agent)
{
    agent->rewinding->since_ns = agent_now_ns();
    agent->rewinding->largest = 0;
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        const struct watched *process = agent_process(agent, pid);
        uint64_t memory = process->state == WATCH_LIVES ? memory_of_process(process->ospid) : 0;

        if (memory > agent->rewinding->largest)
            agent->rewinding->largest = memory;
    }
}

void agent_rewind(struct agent *agent)
{
    if (job_is_stopping(agent_job(agent)) || agent_is_finished(agent) ||
        (agent_job(agent) != JOB_REWINDING && !job_may_move(agent_job(agent), JOB_REWINDING)))
        return;
    if (agent_job(agent) != JOB_REWINDING) {
        agent_opened_look(agent);
        note_memory(agent);
        agent_job_move(agent, JOB_REWINDING);
        agent->rewinding->all_gone = false;
    }
    agent_stop_graces(agent);
    kill_term(agent);
}

/* ---- The next term ---- */

static void forget_members(struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        agent_bury(agent_process(agent, pid));
    agent_bury(agent_root(agent));
    agent_roster_clear(agent);
    agent_decided_forget(agent);
    agent_forget_passed(agent);
}

/* The end of the control connection is as if bsprun had ended: all processes are, too. */
static void cannot_enter(struct agent *agent, int error)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_INTERNAL, .status = 1};

    snprintf(verdict.text, sizeof verdict.text, "host %s cannot take part in the job: %s%s",
             agent_host_name(agent), strerror(-error), verdict_limit_hint(-error));
    if (!agent_control(agent) || (agent_zero_is_here(agent) && agent_job(agent) != JOB_REWINDING)) {
        agent_abort(agent, COORD_NOBODY, &verdict);
        return;
    }
    agent_notice(agent, "%s", verdict.text);
    net_finish(agent_control(agent));
}

static void pass_save_on(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_SAVE};

    if (agent_election_saved(agent, &message.save) && agent_zero(agent))
        coord_shell_order(agent_zero(agent), &message);
}

static void begin_term(struct agent *agent)
{
    int error;

    agent_relay_pass_on(agent);
    forget_members(agent);
    agent_alone_forget(agent);
    agent_snapshots_forget(agent);
    agent_free_zero(agent);
    agent_forget_blame(agent);
    agent_board(agent)->flags &= ~(BSPZ_BOARD_RESTARTED | BSPZ_BOARD_MOVED);
    agent_board(agent)->flags |= agent_election(agent)->because;
    agent_board(agent)->stdin_fd = 0; /* no process is cloned from now on */
    if (agent_nprocs(agent) > 0) {
        bspz_board_reset(agent_board(agent), agent_board_fd(agent), agent_nprocs(agent));
        agent_write_homes(agent);
        agent_forget_announced(agent);
    }
    agent_election_begin(agent);
    agent_job_move(agent, JOB_RESTORING);
    error = agent_enter_elected(agent, agent_election(agent)->term);
    if (error) {
        cannot_enter(agent, error);
        return;
    }
    pass_save_on(agent);
    if (!agent_snapshots_outran(agent))
        agent_tell_held(agent);
    agent_say_ready(agent);
}

static void on_sweep_again(uv_timer_t *timer)
{
    agent_check_rewound(timer->data);
}

/* A dying process has no more visible effects, so the agent does not wait until its memory is
 * freed, which takes as long as making a copy, unless memory is short. */
static bool is_let_go(pid_t ospid)
{
    if (!process_is_dying(ospid))
        return false;
    setpriority(PRIO_PROCESS, (id_t)ospid, LET_GO_NICE);
    return true;
}

static bool may_stay(const void *agent, pid_t ospid)
{
    return agent_is_copy(agent, ospid) || is_let_go(ospid);
}

static bool all_let_go(const struct agent *agent)
{
    if (agent_root(agent)->state == WATCH_LIVES && !may_stay(agent, agent_root(agent)->ospid))
        return false;
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        const struct watched *process = agent_process(agent, pid);

        if (process->state == WATCH_LIVES && !may_stay(agent, process->ospid))
            return false;
    }
    return true;
}

static bool is_gone(const void *agent, pid_t ospid)
{
    char line[BSPZ_STAT_LINE];

    return agent_is_copy(agent, ospid) || !bspz_stat_read(ospid, line) || bspz_stat_is_dead(line);
}

/* What the host has left decides where processes go, so what the kernel still frees must count
 * where that may matter: unless all processes of the job would fit, were they as large as the
 * largest here. */
static bool is_memory_freed(const struct agent *agent)
{
    uint64_t processes = agent_nprocs(agent) > 0 ? (uint64_t)agent_nprocs(agent) : 1;

    return memory_available() / processes >= agent->rewinding->largest ||
           agent_now_ns() - agent->rewinding->since_ns > FREE_MOST_NS ||
           process_kill_descendants_but(is_gone, agent) == 0;
}

/* Looks at all processes of the machine; once none is left that could fork, there will be none. */
static bool is_term_gone(struct agent *agent)
{
    agent->rewinding->all_gone =
        agent->rewinding->all_gone ||
        (all_let_go(agent) && process_kill_descendants_but(may_stay, agent) == 0);
    return agent->rewinding->all_gone;
}

void agent_check_rewound(struct agent *agent)
{
    if (agent_is_finished(agent) || agent_job(agent) != JOB_REWINDING)
        return;
    if (!is_term_gone(agent)) {
        uv_timer_start(agent_timer(agent, AGENT_TIMER_REWIND), on_sweep_again, SWEEP_AGAIN_MS, 0);
        return;
    }
    uv_timer_stop(agent_timer(agent, AGENT_TIMER_REWIND));
    if (!agent_election(agent)->pending)
        return;
    if (is_memory_freed(agent))
        begin_term(agent);
    else
        uv_timer_start(agent_timer(agent, AGENT_TIMER_REWIND), on_sweep_again, FREE_AGAIN_MS, 0);
}

/* ---- ELECT ---- */

/* Sets the hosts of the new term; closes the links of the previous one and drops transfers over
 * them. */
static int change_hosts(struct agent *agent, const struct wire_message *message)
{
    int error = agent_peers_elect(agent, message);

    agent_order_replicas(agent, &message->elect);
    agent_snapshots_elect(agent);
    agent_fetch_forget(agent);
    agent_survive_forget(agent);
    agent_dataspace_forget(agent);
    agent_mail_forget(agent);
    agent_replicas_forget(agent);
    return error;
}

/* The first election.  Of several hosts only one has a registered process 0. */
static void elect_first(struct agent *agent, const struct wire_message *message)
{
    int error;

    if (agent_job(agent) != JOB_REGISTERED &&
        !(agent_has_peers(agent) && agent_job(agent) == JOB_NEW && agent_board(agent)))
        return;
    if (agent_has_snapshots(agent))
        agent_election_learn(agent, &message->elect);
    error = change_hosts(agent, message);
    if (!error)
        error = agent_elect(agent, message->envelope.term);
    if (error)
        cannot_enter(agent, error);
}

void agent_take_election(struct agent *agent, const struct wire_message *message)
{
    int error;

    if (!message->elect.restore || !agent_has_snapshots(agent)) {
        elect_first(agent, message);
        return;
    }
    if (agent_is_finished(agent) || job_is_stopping(agent_job(agent)) ||
        message->envelope.term <= agent_term(agent) ||
        (agent_job(agent) != JOB_REWINDING && !job_may_move(agent_job(agent), JOB_REWINDING)))
        return;
    error = change_hosts(agent, message);
    if (error) {
        cannot_enter(agent, error);
        return;
    }
    agent_election_take(agent, message);
    agent_rewind(agent);
    agent_check_rewound(agent);
}
