/* stop.c - aborting a job, and its end.
 *
 * Happy path: the end is requested (agent_abort, agent_stop) -> Processor Zero answers STOP_RANKS
 * -> ranks exit by themselves within a grace period -> no watched process runs -> the rest of the
 * process tree is swept -> RANKS_STOPPED -> Processor Zero finishes -> agent_finish.
 *
 * What can fail: there is no Processor Zero yet (then the agent decides alone); ranks do not exit
 * (they get a signal; then SIGKILL); a process forks during the sweep (swept again); bsprun is dead
 * (the end is not reported).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/process.h"
#include "bsprun/verdict.h"
#include "lib/shm/board.h"

#define SWEEP_AGAIN_MS    5u
#define FORWARD_DELAY_MS  150u
#define TIMEOUT_STATUS    124
#define SIGNAL_STATUS     128
#define SPARE_DESCRIPTORS 3 /* for reading /proc when the job is stopped */

/* How the job ended, as far as known. */
struct agent_ending {
    struct coord_outcome outcome;
    char *blame;       /* message for the user, "" when none is due */
    char *blame_table; /* the table of processes, or NULL */
    bool elsewhere;    /* reported to bsprun by Processor Zero of another host */
    bool any_early;    /* processes were killed as replicas of theirs had ended ... */
    bool *early;       /* ... by pid, which; NULL: not known */
    uint64_t stop_ns;  /* when a stop was first requested, 0 if never */
    int stop_signal;   /* the user's, 0 if none */
    unsigned more_graces;
    int spare[SPARE_DESCRIPTORS];
};

int agent_ending_open(struct agent *agent)
{
    struct agent_ending *ending = calloc(1, sizeof *ending);

    if (!ending)
        return -ENOMEM;
    agent->ending = ending;
    for (int i = 0; i < SPARE_DESCRIPTORS; i++)
        ending->spare[i] = open("/", O_PATH | O_CLOEXEC);
    return 0;
}

void agent_ending_free(struct agent *agent)
{
    free(agent->ending->blame);
    free(agent->ending->blame_table);
    free(agent->ending->early);
    free(agent->ending);
    agent->ending = NULL;
}

const struct coord_outcome *agent_outcome(const struct agent *agent)
{
    return &agent->ending->outcome;
}

const char *agent_blamed(const struct agent *agent)
{
    return agent->ending->blame ? agent->ending->blame : "";
}

const char *agent_blamed_table(const struct agent *agent)
{
    return agent->ending->blame_table ? agent->ending->blame_table : "";
}

uint64_t agent_stopped_since(const struct agent *agent)
{
    return agent->ending->stop_ns;
}

bool agent_ended_elsewhere(const struct agent *agent)
{
    return agent->ending->elsewhere;
}

void agent_tells_the_end(struct agent *agent)
{
    agent->ending->elsewhere = false;
}

void agent_cannot_begin(struct agent *agent)
{
    agent->ending->outcome.status = 1;
}

void agent_stop_graces(struct agent *agent)
{
    uv_timer_stop(agent_timer(agent, AGENT_TIMER_GRACE));
}

/* Bare runs have no bsprun to print the message; ranks have printed their own to the same
 * stderr. */
static void say_blame_bare(struct agent *agent)
{
    if (!agent_is_bare(agent) || !agent->ending->blame || !agent->ending->blame[0])
        return;
    dprintf(STDERR_FILENO, "bspzero: %s\n%s", agent->ending->blame,
            agent->ending->blame_table ? agent->ending->blame_table : "");
    free(agent->ending->blame);
    agent->ending->blame = strdup("");
}

static void take_table(struct agent *agent)
{
    bool *killed;

    if (agent_nprocs(agent) == 0)
        return;
    killed = calloc((size_t)agent_nprocs(agent), sizeof *killed);
    for (int pid = 0; killed && pid < agent_nprocs(agent); pid++)
        killed[pid] = agent_process(agent, pid)->state == WATCH_GONE;
    free(agent->ending->blame_table);
    agent->ending->blame_table = whereabouts_table(agent_board(agent), agent_nprocs(agent), killed);
    free(killed);
}

void agent_add_to_table(struct agent *agent, const char *rows)
{
    char *merged = agent->ending->blame_table && rows[0]
                       ? whereabouts_merge(agent->ending->blame_table, rows)
                       : NULL;

    if (!merged)
        return;
    free(agent->ending->blame_table);
    agent->ending->blame_table = merged;
}

void agent_blame(struct agent *agent, const char *text, bool with_table)
{
    if (agent->ending->blame)
        return;
    agent->ending->blame = strdup(text);
    if (with_table)
        take_table(agent);
    say_blame_bare(agent);
}

void agent_blame_leaver(struct agent *agent, const char *text)
{
    if (!agent->ending->blame)
        agent->ending->blame = strdup(text);
}

void agent_forget_blame(struct agent *agent)
{
    free(agent->ending->blame);
    free(agent->ending->blame_table);
    agent->ending->blame = agent->ending->blame_table = NULL;
}

static void set_outcome(struct agent *agent, enum wire_cause cause, int pid, int status, int signal)
{
    agent->ending->outcome = (struct coord_outcome){
        .status = status, .cause = cause, .pid = pid, .signal = (uint32_t)signal, .text = ""};
}

void agent_abort(struct agent *agent, int pid, const struct verdict *verdict)
{
    struct wire_message message = {.kind = WIRE_ABORT};

    if (agent_is_finished(agent) || job_is_stopping(agent_job(agent)) ||
        agent_job(agent) == JOB_REWINDING)
        return;
    agent_blame(agent, verdict->text, verdict->with_table);
    if (agent_zero(agent) || agent_zero_is_elsewhere(agent)) {
        message.envelope.superstep = verdict->since;
        message.abort.pid = pid;
        message.abort.cause = verdict->cause;
        message.abort.status = verdict->status;
        message.abort.text = verdict->text;
        agent_tell_zero(agent, &message);
        return;
    }
    set_outcome(agent, verdict->cause, pid, verdict->status, verdict->signal);
    if (verdict->cause == WIRE_CAUSE_NONE)
        agent_job_over(agent, &agent->ending->outcome);
    else
        agent_stop_ranks(agent, verdict->cause, verdict->status);
}

void agent_cannot_go_on(struct agent *agent, int pid, const char *why)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_NOT_RESTORED, .status = 1};

    snprintf(verdict.text, sizeof verdict.text, "%.500s", why);
    agent_abort(agent, pid, &verdict);
}

static uint64_t newest_superstep(const struct agent *agent)
{
    uint64_t newest = 0;

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        uint64_t superstep = atomic_load(&bspz_rank_of(agent_board(agent), pid)->superstep);

        if (superstep > newest)
            newest = superstep;
    }
    return newest;
}

/* The call with which the program ends, as it knows it: what processes of other hosts have noted is
 * not on this board. */
static const char *end_of_program(const struct agent *agent)
{
    struct whereabouts where;

    whereabouts_read(agent_board(agent), agent_nprocs(agent), agent_first_here(agent), &where);
    return where.end;
}

static void blame_stop(struct agent *agent, enum wire_stop_how how, int signal, const char *text)
{
    char name[64], line[512], when[64] = "before bsp_begin";

    if (agent_job(agent) == JOB_ENDING)
        snprintf(when, sizeof when, "after %s", end_of_program(agent));
    else if (agent_job(agent) == JOB_REWINDING || agent_job(agent) == JOB_RESTORING)
        snprintf(when, sizeof when, "during a rollback");
    else if (agent_nprocs(agent) > 0)
        snprintf(when, sizeof when, "in superstep %llu",
                 (unsigned long long)newest_superstep(agent));
    verdict_signal_text(signal, name, sizeof name);
    if (text[0])
        snprintf(line, sizeof line, "%s", text);
    else
        snprintf(line, sizeof line, "the job was ended by signal %s %s", name, when);
    agent_blame(agent, line, how == WIRE_STOP_TIMEOUT || agent_order(agent)->verbosity > 0);
}

/* Whether bsprun is dead or has finished with this agent, so that the end cannot be reported. */
static bool agent_is_alone(const struct agent *agent)
{
    return agent_is_dismissed(agent) || (!agent_control(agent) && !agent_is_bare(agent));
}

void agent_end_alone(struct agent *agent)
{
    agent_stop(agent, WIRE_STOP_KILL, SIGKILL, "bsprun has terminated");
    if (agent_job(agent) == JOB_OVER)
        agent_job_over(agent, &agent->ending->outcome); /* Processor Zero would have decided */
}

/* Sweeps the job that is being stopped if all have ended. */
static void sweep_if_gone(struct agent *agent)
{
    if (agent_everything_gone(agent))
        agent_sweep(agent);
}

/* Asks Processor Zero for the end, if it can still report the outcome. */
static void ask_for_end(struct agent *agent, enum wire_stop_how how, int signal, const char *text)
{
    bool timeout = how == WIRE_STOP_TIMEOUT;
    int status = timeout ? TIMEOUT_STATUS : SIGNAL_STATUS + signal;
    enum wire_cause cause = timeout ? WIRE_CAUSE_TIMEOUT : WIRE_CAUSE_STOPPED;
    struct wire_message message = {.kind = WIRE_ABORT};

    if (agent_zero(agent) && agent_zero_decides(agent) && !agent_is_alone(agent)) {
        struct wire_message stop = {.kind = WIRE_STOP, .stop = {how, (uint32_t)signal, text}};

        coord_shell_order(agent_zero(agent), &stop);
    } else if (agent_zero_is_elsewhere(agent) && !agent_is_alone(agent)) {
        message.abort.pid = COORD_NOBODY;
        message.abort.cause = cause;
        message.abort.status = status;
        message.abort.text = text;
        agent_tell_zero(agent, &message);
    } else {
        set_outcome(agent, cause, COORD_NOBODY, status, signal);
        agent_stop_ranks(agent, cause, status);
    }
}

/* Between two terms: the end of the job is reported in the term that bsprun expects. */
static void enter_term(struct agent *agent)
{
    if (agent_election(agent)->pending)
        agent_set_term(agent, agent_election(agent)->term);
}

void agent_stop(struct agent *agent, enum wire_stop_how how, int signal, const char *text)
{
    if (agent_is_finished(agent))
        return;
    if (!job_is_stopping(agent_job(agent))) {
        enter_term(agent);
        agent->ending->stop_signal = signal;
        agent->ending->stop_ns = agent_now_ns();
        blame_stop(agent, how, signal, text);
        ask_for_end(agent, how, signal, text);
    }
    if (how == WIRE_STOP_KILL)
        agent_kill(agent);
}

/* Ranks that compute notice a stop by the signal; those that wait, by the board. */
static void pass_signal_to_ranks(const struct agent *agent, int signal)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_process(agent, pid)->state == WATCH_LIVES)
            process_signal(agent_process(agent, pid)->pidfd, signal);
}

/* Whether process 0 of a bare run, whose status is the job's, is exiting, which takes long under
 * valgrind, for example. */
static bool status_is_coming(const struct agent *agent)
{
    return agent_is_bare(agent) && agent_nprocs(agent) > 0 &&
           agent_process(agent, 0)->state == WATCH_LIVES &&
           atomic_load(&bspz_rank_of(agent_board(agent), 0)->where) >> 32 == BSPZ_CALL_EXIT;
}

static void on_last_grace_over(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    if (status_is_coming(agent) && agent->ending->more_graces < AGENT_GRACES_MOST) {
        agent->ending->more_graces++;
        uv_timer_start(timer, on_last_grace_over, AGENT_GRACE_MS, 0);
        return;
    }
    agent_kill(agent);
}

/* Computing ranks get a signal before they are killed: process 0 may have a profile to complete,
 * and without bsprun its status is that of the job. */
static void on_grace_over(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    pass_signal_to_ranks(agent, BSPZ_LEAVE_SIGNAL);
    uv_timer_start(timer, on_last_grace_over, AGENT_GRACE_MS, 0);
}

/* A program outside its SPMD part handles signals itself.  A terminal has signalled it already. */
static void on_forward(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    int signal = agent->ending->stop_signal ? agent->ending->stop_signal : SIGTERM;

    if (agent_root(agent)->state == WATCH_LIVES)
        process_signal(agent_root(agent)->pidfd, signal);
    uv_timer_start(agent_timer(agent, AGENT_TIMER_GRACE), on_grace_over, AGENT_GRACE_SEQUENTIAL_MS,
                   0);
}

/* For failed snapshots the table of processes is irrelevant. */
static bool is_of_the_program(enum wire_cause cause)
{
    return cause != WIRE_CAUSE_SAVED && cause != WIRE_CAUSE_REFUSED &&
           cause != WIRE_CAUSE_NOT_WRITTEN && cause != WIRE_CAUSE_NOT_RESTORED &&
           cause != WIRE_CAUSE_NOTHING_SAVED && cause != WIRE_CAUSE_NO_MEMORY;
}

void agent_blame_end(struct agent *agent)
{
    const struct coord_outcome *outcome = &agent->ending->outcome;

    if (!agent->ending->blame && outcome->cause != WIRE_CAUSE_NONE)
        agent_blame(agent,
                    outcome->text && outcome->text[0] ? outcome->text
                                                      : wire_cause_text(outcome->cause),
                    agent_nprocs(agent) > 0 && is_of_the_program(outcome->cause));
    say_blame_bare(agent);
}

void agent_stop_ranks(struct agent *agent, enum wire_cause cause, int status)
{
    enum job_state before = agent_job(agent);
    bool by_signal = cause == WIRE_CAUSE_STOPPED && agent->ending->stop_signal != 0;

    if (job_is_stopping(before))
        return;
    agent_job_move(agent, JOB_STOPPING);
    agent_pause_end(agent);
    if (!agent->ending->blame && agent_zero(agent))
        agent_blame(agent, coord_outcome(coord_shell_state(agent_zero(agent))).text,
                    is_of_the_program(cause));
    if (agent_zero_is_elsewhere(agent) && !agent->ending->blame_table)
        take_table(agent); /* for that of Processor Zero */
    if (cause == WIRE_CAUSE_SAVED) {
        agent_kill(agent); /* the snapshot is complete, so no grace is needed */
        return;
    }
    if (agent_board(agent))
        bspz_board_stop(agent_board(agent), agent_nprocs(agent),
                        by_signal ? BSPZ_STOP_SIGNAL : BSPZ_STOP_ABORT,
                        by_signal ? agent->ending->stop_signal : status);
    if (by_signal && before == JOB_RUNNING)
        pass_signal_to_ranks(agent, agent->ending->stop_signal);
    if (before == JOB_SEQUENTIAL || before == JOB_ENDING)
        uv_timer_start(agent_timer(agent, AGENT_TIMER_GRACE), on_forward, FORWARD_DELAY_MS, 0);
    else
        uv_timer_start(agent_timer(agent, AGENT_TIMER_GRACE), on_grace_over, AGENT_GRACE_MS, 0);
    sweep_if_gone(agent);
}

/* Frees descriptors, to find ranks that could not be watched for lack of them. */
static void use_spare_descriptors(struct agent *agent)
{
    for (int i = 0; i < SPARE_DESCRIPTORS; i++) {
        if (agent->ending->spare[i] >= 0)
            close(agent->ending->spare[i]);
        agent->ending->spare[i] = -1;
    }
}

void agent_kill(struct agent *agent)
{
    if (agent_job(agent) == JOB_OVER)
        return;
    if (agent_job(agent) != JOB_KILLING)
        agent_job_move(agent, JOB_KILLING);
    agent_kill_members(agent, NULL);
    if (agent_root(agent)->state == WATCH_LIVES)
        process_signal(agent_root(agent)->pidfd, SIGKILL);
    use_spare_descriptors(agent);
    process_kill_descendants(0);
    sweep_if_gone(agent);
}

static void on_sweep_again(uv_timer_t *timer)
{
    agent_sweep(timer->data);
}

void agent_sweep(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_RANKS_STOPPED, .ranks_stopped.table = ""};

    if (agent_is_finished(agent) || agent_job(agent) == JOB_OVER)
        return;
    uv_timer_stop(agent_timer(agent, AGENT_TIMER_GRACE));
    use_spare_descriptors(agent);
    if (process_kill_descendants(0) > 0) {
        uv_timer_start(agent_timer(agent, AGENT_TIMER_SWEEP), on_sweep_again, SWEEP_AGAIN_MS, 0);
        return;
    }
    uv_timer_stop(agent_timer(agent, AGENT_TIMER_SWEEP));
    if (!agent_zero(agent) && agent->ending->blame_table)
        message.ranks_stopped.table = agent->ending->blame_table;
    agent_job_move(agent, JOB_OVER);
    if (agent_zero_decides(agent) && !agent->ending->elsewhere && !agent_is_alone(agent))
        agent_tell_zero(agent, &message);
    else
        agent_job_over(agent, &agent->ending->outcome);
}

bool agent_note_end_elsewhere(struct agent *agent, const struct wire_end *end)
{
    if (agent_is_finished(agent) || agent->ending->elsewhere)
        return false;
    agent->ending->elsewhere = true;
    set_outcome(agent, end->cause, COORD_NOBODY, end->status, 0);
    return true;
}

/* Which processes are about to be killed for that.  The first one may be below the program. */
static void note_early(struct agent *agent)
{
    struct agent_ending *ending = agent->ending;

    ending->any_early = true;
    if (!ending->early)
        ending->early = calloc((size_t)agent_nprocs(agent) + 1, sizeof *ending->early);
    for (int pid = 0; ending->early && pid < agent_nprocs(agent); pid++)
        ending->early[pid] = agent_process(agent, pid)->state == WATCH_LIVES ||
                             (pid == 0 && agent_root(agent)->state == WATCH_LIVES);
}

void agent_end_here(struct agent *agent)
{
    if (agent_is_finished(agent))
        return;
    if (agent_job(agent) == JOB_OVER ||
        (agent_everything_gone(agent) && !job_is_stopping(agent_job(agent))))
        agent_job_over(agent, &agent->ending->outcome);
    else {
        note_early(agent);
        agent_kill(agent); /* Processor Zero did not wait for it */
    }
}

void agent_end_replicas(struct agent *agent)
{
    if (agent_everything_gone(agent))
        return;
    note_early(agent);
    agent_kill_members(agent, NULL);
}

bool agent_ended_early(const struct agent *agent, int pid)
{
    return agent->ending->any_early && (!agent->ending->early || agent->ending->early[pid]);
}

void agent_job_over(struct agent *agent, const struct coord_outcome *outcome)
{
    if (agent_is_finished(agent))
        return;
    if (outcome != &agent->ending->outcome)
        agent->ending->outcome = *outcome;
    if (agent_job(agent) != JOB_OVER)
        agent_job_move(agent, JOB_OVER);
    agent_post(agent, AGENT_JOB_OVER);
}
