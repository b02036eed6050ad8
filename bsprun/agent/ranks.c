/* ranks.c - adopting, watching and counting the processes of this host.
 *
 * Happy path: a slot says FORKED -> pidfd taken, core given, HELD -> READY, all of them: told to
 * Processor Zero -> RUNNING -> ENDED, all of them: the barrier of bsp_end is reported -> the pidfd
 * fires -> RANK_EXITED.
 *
 * What can fail: the process dies before its pidfd is taken; it marks itself EXITED, ABORTED or
 * FAILED; its pidfd fires while it is RUNNING.  Each ends the job through agent_abort, unless the
 * job is being stopped already.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/barrier.h"
#include "bsprun/agent/core/binding.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/passed.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/debug.h"
#include "bsprun/agent/differs.h"
#include "bsprun/agent/mail.h"
#include "bsprun/agent/measure.h"
#include "bsprun/agent/ranks.h"
#include "bsprun/agent/replica_files.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/process.h"
#include "bsprun/verdict.h"
#include "lib/shm/board.h"

/* Whether it died of SIGPIPE as with `| head -1`, which needs no message. */
static bool died_of_closed_output(const struct agent *agent, int pid)
{
    return agent_is_bare(agent) && atomic_load(&bspz_rank_of(agent_board(agent), pid)->unread);
}

void agent_handle_rank_end(struct agent *agent, int pid)
{
    const struct member *member = agent_member(agent, pid);
    struct whereabouts where;
    struct verdict verdict;

    if (pid > 0 && atomic_load(&agent_board(agent)->clone_error))
        return; /* not all could be made: process 0 will report that */
    whereabouts_read(agent_board(agent), agent_nprocs(agent), pid, &where);
    verdict_of_rank(&where, &member->process.death, &verdict);
    if (died_of_closed_output(agent, pid))
        agent_blame(agent, "", false);
    if (agent_leaves_replicas(agent, pid, &verdict))
        return;
    if (!agent_snapshots_fault(agent, pid, &verdict))
        agent_abort(agent, pid, &verdict);
}

static void cannot_watch(struct agent *agent, int pid, int error)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_PLACEMENT, .status = 1};

    snprintf(verdict.text, sizeof verdict.text, "%d processes are too many to watch: %s%s",
             agent_nprocs(agent), strerror(-error), verdict_limit_hint(-error));
    agent_abort(agent, pid, &verdict);
}

static void adopt(struct agent *agent, int pid)
{
    struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);
    struct watched *process = agent_process(agent, pid);
    pid_t ospid = atomic_load(&rank->ospid); /* 0: it was never made; process 0 reports why */
    int error;

    agent_member_move(agent, pid, MEMBER_KNOWN);
    error = ospid > 0 ? agent_watch(agent, process, pid, ospid) : -ESRCH;
    if (error) {
        if (error == -ESRCH)
            agent_handle_rank_end(agent, pid);
        else
            cannot_watch(agent, pid, error);
        return;
    }
    agent_binding_apply(agent, pid);
    if (atomic_load(&rank->state) == BSPZ_RANK_FORKED)
        bspz_word_set(&rank->state, BSPZ_RANK_HELD);
    /* Applies a stop that began before this process was known. */
    if (agent_job(agent) == JOB_KILLING)
        process_signal(process->pidfd, SIGKILL);
}

static void all_ended(struct agent *agent)
{
    agent_note_end(agent, agent_now_ns());
    if (agent_job(agent) != JOB_RUNNING)
        return;
    agent_job_move(agent, JOB_ENDING);
    if (!agent_decided_end_reported(agent) && !agent_has_replicas(agent))
        agent_arrived(
            agent,
            atomic_load(&bspz_rank_of(agent_board(agent), agent_first_here(agent))->superstep),
            &(struct wire_arrive){.barrier = WIRE_BARRIER_END});
}

/* Handles a change of a rank's state; the counts make each "all" happen once. */
static void scan_rank(struct agent *agent, int pid)
{
    const struct member *member = agent_member(agent, pid);
    enum bspz_rank_state state =
        (enum bspz_rank_state)atomic_load(&bspz_rank_of(agent_board(agent), pid)->state);
    enum bspz_rank_state seen = member->seen;

    if (state != BSPZ_RANK_EMPTY && member->state == MEMBER_UNKNOWN)
        adopt(agent, pid);
    if (state <= seen)
        return;
    agent_member_seen(agent, pid, state);
    if (seen < BSPZ_RANK_READY && state >= BSPZ_RANK_READY && agent_count_ready(agent) &&
        agent_replica_files_are_good(agent))
        agent_all_ready(agent);
    if (state == BSPZ_RANK_ENDED && agent_count_ended(agent))
        all_ended(agent);
    if (state > BSPZ_RANK_ENDED && !job_is_stopping(agent_job(agent)))
        agent_handle_rank_end(agent, pid);
}

static void registered(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_REGISTER};

    agent_job_move(agent, JOB_REGISTERED);
    agent_pause_renew(agent); /* it may have been stopped since: it has to make the others */
    agent_relay_begin(agent);
    agent_root(agent)->death.known = false;
    message.registration.wanted = (uint32_t)atomic_load(&agent_board(agent)->wanted);
    message.registration.os_pid = (uint32_t)agent_root(agent)->ospid;
    agent_send(agent, &message);
}

/* While some are at a safe point (lib/rt/safe_point.h) the others are in bsp_end, and will arrive
 * there again. */
static enum wire_barrier barrier_of(const struct agent *agent, uint64_t superstep)
{
    uint32_t flags =
        bspz_rank_of(agent_board(agent), agent_first_here(agent))->line[superstep & 1].flags;

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (bspz_rank_of(agent_board(agent), pid)->line[superstep & 1].flags & BSPZ_HAS_CALL)
            return WIRE_BARRIER_CALL;
    return flags & BSPZ_HAS_END ? WIRE_BARRIER_END : WIRE_BARRIER_SYNC;
}

/* Those that have come from a lost host may be late: others have seen them at the barrier in their
 * last life. */
static bool all_here_arrived(const struct agent *agent, uint64_t superstep)
{
    for (int pid = 0; agent_survived(agent) > 0 && pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) &&
            !bspz_barrier_reached(agent_board(agent), &pid, 1, superstep, BSPZ_STAGE_ARRIVED))
            return false;
    return true;
}

static void scan_consultation(struct agent *agent)
{
    uint64_t consulted = atomic_load(&agent_board(agent)->consulted);
    struct wire_arrive arrive = {0};

    if (consulted <= agent_decided_consulted(agent) || !all_here_arrived(agent, consulted - 1))
        return;
    arrive.barrier = barrier_of(agent, consulted - 1);
    agent_decided_consult(agent, consulted, arrive.barrier);
    if (!agent_replica_files_are_good(agent) || agent_decided_take(agent, consulted - 1) ||
        agent_decided_holds(agent, consulted - 1) || agent_decided_unasked(agent, consulted - 1))
        return;
    if (arrive.barrier == WIRE_BARRIER_SYNC && agent_decided_measures(agent))
        agent_measure(agent, consulted - 1, &arrive);
    agent_arrived(agent, consulted - 1, &arrive);
    agent_measure_free(&arrive);
}

bool agent_awaits_decision(const struct agent *agent)
{
    uint64_t consulted = agent_decided_consulted(agent);

    return consulted > 0 && atomic_load(&agent_board(agent)->answered) < consulted;
}

void agent_arrive_again(struct agent *agent)
{
    struct wire_arrive arrive = {.barrier = WIRE_BARRIER_SYNC};
    uint64_t consulted = agent_decided_consulted(agent), passed;

    if (agent_decided_ask_again(agent, &passed)) {
        agent_arrived(agent, passed, &arrive);
        return;
    }
    if (!agent_awaits_decision(agent))
        return;
    arrive.barrier = barrier_of(agent, consulted - 1);
    agent_arrived(agent, consulted - 1, &arrive);
}

void agent_scan(struct agent *agent)
{
    if (!agent_board(agent) || agent_is_finished(agent) || agent_job(agent) == JOB_REWINDING)
        return;
    if (agent_job(agent) == JOB_SEQUENTIAL && !agent_is_bare(agent) &&
        atomic_load(&agent_board(agent)->phase) == BSPZ_PHASE_BEGIN)
        registered(agent);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            scan_rank(agent, pid);
    agent_mail_scan(agent);
    agent_dataspace_scan(agent);
    agent_debug_scan(agent);
    agent_snapshots_scan(agent);
    if (agent_nprocs(agent) > 0)
        scan_consultation(agent);
    agent_answer_passed(agent);
    /* Some may have left before the last one had come past bsp_end. */
    if (agent_job(agent) == JOB_ENDING)
        agent_report_leavers(agent);
    agent_replicas_look_to_end(agent);
}

/* ---- Leaving ---- */

/* Process 0 may be wrapped (sh, timeout, strace): the outermost status counts. */
static bool rank_has_left(const struct agent *agent, int pid, struct death *death)
{
    const struct watched *process = agent_process(agent, pid);

    *death = process->death;
    if (process->state != WATCH_GONE)
        return false;
    if (pid > 0 || agent_is_bare(agent) || agent_root(agent)->ospid == 0)
        return true;
    *death = agent_root(agent)->death;
    return agent_root(agent)->state == WATCH_GONE;
}

/* --kill-on-bad-exit: the others do not end by themselves. */
static void end_the_others(struct agent *agent, int pid, const struct whereabouts *where,
                           struct verdict *verdict)
{
    if (verdict->cause == WIRE_CAUSE_NONE) {
        verdict->cause = WIRE_CAUSE_EXITED_AFTER_END;
        snprintf(verdict->text, sizeof verdict->text, "pid %d ended with status %d after %s", pid,
                 verdict->status, where->end);
    }
    agent_abort(agent, pid, verdict);
}

static void report_leaver(struct agent *agent, int pid, const struct death *death)
{
    struct verdict verdict = {.text = ""};
    struct death told = *death;

    if (death->known && (death->signal || death->status)) {
        struct whereabouts where;

        whereabouts_read(agent_board(agent), agent_nprocs(agent), pid, &where);
        verdict_of_rank(&where, death, &verdict);
        if (pid > 0 && verdict.cause == WIRE_CAUSE_NONE)
            told.status = 0;
        else if (agent_order(agent)->end_on_bad_exit) {
            end_the_others(agent, pid, &where, &verdict);
            return;
        }
        if (verdict.cause != WIRE_CAUSE_NONE)
            agent_blame_leaver(agent, died_of_closed_output(agent, pid) ? "" : verdict.text);
    }
    agent_rank_exited(agent, pid, &told, verdict.cause == WIRE_CAUSE_KILLED_AFTER_END,
                      verdict.text);
}

void agent_report_leavers(struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct death death;

        if (agent_member(agent, pid)->state == MEMBER_REPORTED ||
            !rank_has_left(agent, pid, &death))
            continue;
        agent_member_move(agent, pid, MEMBER_REPORTED);
        report_leaver(agent, pid, &death);
    }
}

void agent_report_leavers_again(struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct death death;

        if (agent_member(agent, pid)->state == MEMBER_REPORTED && rank_has_left(agent, pid, &death))
            report_leaver(agent, pid, &death);
    }
}

void agent_count_out(struct agent *agent, int pid)
{
    agent_member_seen(agent, pid, BSPZ_RANK_ENDED);
    if (agent_count_ended(agent))
        all_ended(agent);
}
