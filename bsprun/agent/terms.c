/* terms.c - the succession of terms in a node agent.
 *
 * Happy path: a fault -> Processor Zero sends STOP_RANKS (again): all processes but frozen copies
 * are killed, TERM_OVER -> bsprun sends ELECT -> when no process of the older term runs: its output
 * is passed on, an unfinished snapshot is removed, the board is reset -> HELD, HOST_READY.
 *
 * What can fail: a process forks while it is killed (killed again); ELECT arrives first, as bsprun
 * knew of the fault earlier; no memory for Processor Zero.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/passed.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/mail.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/agent/snapshot/replicas.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/survive.h"
#include "bsprun/agent/terms.h"
#include "bsprun/agent/zero.h"
#include "lib/base/process_stat.h"
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
    uv_timer_t timer; /* to look again */
};

int agent_terms_open(struct agent *agent)
{
    agent->rewinding = calloc(1, sizeof *agent->rewinding);
    if (!agent->rewinding)
        return -ENOMEM;
    uv_timer_init(&agent->loop, &agent->rewinding->timer);
    agent->rewinding->timer.data = agent;
    return 0;
}

void agent_terms_close(struct agent *agent)
{
    uv_handle_t *timer = (uv_handle_t *)&agent->rewinding->timer;

    if (!uv_is_closing(timer))
        uv_close(timer, NULL);
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
    if (agent->root.state == WATCH_LIVES && !agent_is_copy(agent, agent->root.ospid))
        process_signal(agent->root.pidfd, SIGKILL);
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent_is_copy(agent, agent->members[pid].process.ospid))
            agent_pause_spare(agent, &agent->members[pid].process);
    agent_kill_members(agent, agent_is_copy);
}

static void note_memory(struct agent *agent)
{
    agent->rewinding->since_ns = agent_now_ns();
    agent->rewinding->largest = 0;
    for (int pid = 0; pid < agent->nprocs; pid++) {
        const struct watched *process = &agent->members[pid].process;
        uint64_t memory = process->state == WATCH_LIVES ? memory_of_process(process->ospid) : 0;

        if (memory > agent->rewinding->largest)
            agent->rewinding->largest = memory;
    }
}

void agent_rewind(struct agent *agent)
{
    if (job_is_stopping(agent->job) || agent->finished ||
        (agent->job != JOB_REWINDING && !job_may_move(agent->job, JOB_REWINDING)))
        return;
    if (agent->job != JOB_REWINDING) {
        agent_opened_look(agent);
        note_memory(agent);
        job_move(&agent->job, JOB_REWINDING);
        agent->rewinding->all_gone = false;
    }
    agent_stop_graces(agent);
    kill_term(agent);
}

/* ---- The next term ---- */

static void bury(struct watched *process)
{
    pid_t ospid = process->ospid;

    if (process->state == WATCH_NONE)
        return;
    agent_unwatch(process);
    waitpid(ospid, NULL, WNOHANG | __WALL);
}

static void forget_members(struct agent *agent)
{
    for (int pid = 0; pid < agent->nprocs; pid++) {
        bury(&agent->members[pid].process);
        agent->members[pid] = (struct member){.process.pidfd = -1};
    }
    bury(&agent->root);
    agent->root = (struct watched){.pidfd = -1};
    agent->ready = agent->ended = 0;
    agent_decided_forget(agent);
    agent_forget_passed(agent);
}

static void no_memory(struct agent *agent)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_INTERNAL, .status = 1};

    snprintf(verdict.text, sizeof verdict.text, "no memory for Processor Zero");
    agent_abort(agent, COORD_NOBODY, &verdict);
}

static void pass_save_on(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_SAVE, .save = agent->election.save};

    if (agent->election.to_save && agent->zero)
        coord_shell_order(agent->zero, &message);
    agent->election.to_save = false;
}

static int strength(const struct wire_save *save)
{
    return save->stop ? 2 : save->move;
}

bool agent_save_later(struct agent *agent, const struct wire_save *save)
{
    struct election *election = &agent->election;

    if (!election->pending)
        return false;
    if (!election->to_save || strength(save) > strength(&election->save))
        election->save = *save;
    /* Belongs to the message, and Processor Zero may place processes otherwise in this term. */
    election->save.expected = (struct wire_move_list){NULL, 0};
    election->to_save = true;
    return true;
}

static void begin_term(struct agent *agent)
{
    agent_relay_pass_on(agent);
    forget_members(agent);
    agent_alone_forget(agent);
    agent_snapshots_forget(agent);
    agent_free_zero(agent);
    agent_forget_blame(agent);
    agent->board->flags &= ~(BSPZ_BOARD_RESTARTED | BSPZ_BOARD_MOVED);
    agent->board->flags |= agent->election.because;
    agent->board->stdin_fd = 0; /* no process is cloned from now on */
    if (agent->nprocs > 0) {
        bspz_board_reset(agent->board, agent->board_fd, agent->nprocs);
        agent_write_homes(agent);
        agent_forget_announced(agent);
    }
    agent->election.pending = false;
    job_move(&agent->job, JOB_RESTORING);
    if (agent_enter_elected(agent, agent->election.term) != 0) {
        no_memory(agent);
        return;
    }
    pass_save_on(agent);
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
    if (agent->root.state == WATCH_LIVES && !may_stay(agent, agent->root.ospid))
        return false;
    for (int pid = 0; pid < agent->nprocs; pid++) {
        const struct watched *process = &agent->members[pid].process;

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
    uint64_t processes = agent->nprocs > 0 ? (uint64_t)agent->nprocs : 1;

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
    if (agent->finished || agent->job != JOB_REWINDING)
        return;
    if (!is_term_gone(agent)) {
        uv_timer_start(&agent->rewinding->timer, on_sweep_again, SWEEP_AGAIN_MS, 0);
        return;
    }
    uv_timer_stop(&agent->rewinding->timer);
    if (!agent->election.pending)
        return;
    if (is_memory_freed(agent))
        begin_term(agent);
    else
        uv_timer_start(&agent->rewinding->timer, on_sweep_again, FREE_AGAIN_MS, 0);
}

/* ---- ELECT ---- */

/* Invalid estimates count as unknown. */
static void take_learned(struct election *election, const struct wire_elect *elect)
{
    double numbers[ESTIMATE_NUMBERS];
    uint32_t count =
        elect->estimate.count < ESTIMATE_NUMBERS ? elect->estimate.count : ESTIMATE_NUMBERS;

    for (uint32_t i = 0; i < count; i++)
        numbers[i] = elect->estimate.items[i].value;
    election->first_of_run = elect->first_of_run;
    election->moving_seconds = elect->moving_seconds;
    election->estimate = (struct estimate){0};
    estimate_from_numbers(&election->estimate, numbers, count);
    election->seen = (struct coord_seen){.host_seconds = elect->watched_hosts,
                                         .process_seconds = elect->watched_processes};
    for (uint32_t i = 0; i < elect->failures.count && i < ESTIMATE_KINDS; i++)
        election->seen.failures[i] =
            elect->failures.items[i] < COORD_SEEN_MOST ? (uint32_t)elect->failures.items[i] : 0;
    election->recovery = (struct coord_recovery){
        .any = elect->recovers > 0 && elect->recovers <= ESTIMATE_KINDS,
        .kind = (enum estimate_kind)(elect->recovers > 0 ? elect->recovers - 1 : 0),
        .down = elect->down > 0 ? elect->down : 0};
}

/* A term that nothing has failed before, of a bsprun that has begun, is there for a move. */
static void take_reason(struct election *election, const struct wire_elect *elect)
{
    if (elect->first_of_run)
        election->because = BSPZ_BOARD_RESTARTED;
    else if (elect->recovers > 0)
        election->because = 0;
    else if (!election->never_ran)
        election->because = BSPZ_BOARD_MOVED;
    election->never_ran = true;
}

static void take_lists(struct election *election, const struct wire_elect *elect)
{
    take_learned(election, elect);
    take_reason(election, elect);
    election->wanted = elect->wanted;
    election->lineage.count = 0;
    for (uint32_t i = 0; i < elect->begun.count; i++) {
        const struct wire_begun *begun = &elect->begun.items[i];

        coord_lineage_add(&election->lineage, begun->term, begun->from);
    }
    election->avoid_count = 0;
    for (uint32_t i = 0; i < elect->avoid.count && i < COORD_AVOID_MAX; i++)
        election->avoid[election->avoid_count++] = elect->avoid.items[i].from;
}

/* bsprun may have been asked for more or fewer. */
static void take_replicas(struct agent_order *order, const struct wire_elect *elect)
{
    if (!replica_counts_take(&order->counts, &elect->replicas))
        order->counts = (struct replica_counts){0};
    order->replicas = replica_counts_most(&order->counts, WIRE_RANKS_MAX);
}

/* Sets the hosts of the new term; closes the links of the previous one and drops transfers over
 * them. */
static int change_hosts(struct agent *agent, const struct wire_message *message)
{
    int error = agent_peers_elect(agent, message);

    take_replicas(&agent->order, &message->elect);
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
    if (agent->job != JOB_REGISTERED &&
        !(agent_has_peers(agent) && agent->job == JOB_NEW && agent->board))
        return;
    if (agent_has_snapshots(agent))
        take_learned(&agent->election, &message->elect);
    if (change_hosts(agent, message) != 0 || agent_elect(agent, message->envelope.term) != 0)
        no_memory(agent);
}

void agent_take_election(struct agent *agent, const struct wire_message *message)
{
    struct election *election;

    if (!message->elect.restore || !agent_has_snapshots(agent)) {
        elect_first(agent, message);
        return;
    }
    election = &agent->election;
    if (agent->finished || job_is_stopping(agent->job) || message->envelope.term <= agent->term ||
        (agent->job != JOB_REWINDING && !job_may_move(agent->job, JOB_REWINDING)))
        return;
    if (change_hosts(agent, message) != 0) {
        no_memory(agent);
        return;
    }
    take_lists(election, &message->elect);
    election->term = message->envelope.term;
    election->to_save = false;
    election->pending = true;
    agent_rewind(agent);
    agent_check_rewound(agent);
}
