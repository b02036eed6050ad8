/* orders.c - carries out orders of Processor Zero on this host; see orders.h.
 *
 * Happy path: PLACE -> RUN -> (RELEASE for every consulted superstep) -> END.
 *
 * What can fail: the placement (no memory), which results in ABORT.
 */
#include "bsprun/agent/orders.h"
#include "bsprun/agent/core/known.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/barrier.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/passed.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/debug.h"
#include "bsprun/agent/differs.h"
#include "bsprun/agent/mail.h"
#include "bsprun/agent/quiet.h"
#include "bsprun/agent/ranks.h"
#include "bsprun/agent/replica_files.h"
#include "bsprun/agent/route.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/strangers.h"
#include "bsprun/agent/succession.h"
#include "bsprun/agent/survive.h"
#include "bsprun/agent/terms.h"
#include "bsprun/agent/zero.h"
#include "bsprun/verdict.h"
#include "lib/base/digest.h"
#include "lib/shm/board.h"

static bool is_sensible(const struct agent *agent, const struct wire_place *order)
{
    if (order->processes < 1 || order->processes > BSPZ_MAX_PROCS ||
        order->host_of.count != order->processes)
        return false;
    for (uint32_t pid = 0; pid < order->processes; pid++)
        if (order->host_of.items[pid] >= WIRE_HOSTS_MAX)
            return false;
    return agent_nprocs(agent) == 0 || agent_nprocs(agent) == (int)order->processes;
}

/* Process 0 waits in bsp_begin on this host; the others are cloned from it. */
static void form(struct agent *agent, const struct wire_place *order)
{
    if (order->snapshot)
        agent_snapshots_order_first(agent);
    if (atomic_load(&agent_board(agent)->phase) < BSPZ_PHASE_LAYOUT)
        bspz_word_set(&agent_board(agent)->phase, BSPZ_PHASE_LAYOUT);
    agent_scan(agent);
}

/* Process 0 is on another host: those of this host will be made from snapshot 0, once it is
 * committed. */
static void wait_for_image(struct agent *agent)
{
    bspz_board_reset(agent_board(agent), agent_board_fd(agent), agent_nprocs(agent));
    agent_write_homes(agent);
    agent_snapshots_mark_first(agent);
    if (agent_here(agent) == 0)
        agent_all_ready(agent);
}

/* The replicas begin from snapshot 0, and their input at its beginning. */
static bool has_read_too_early(const struct agent *agent, const struct wire_place *order)
{
    return order->leads.count > 0 && order->host_of.items[0] == agent_host(agent) &&
           agent_order(agent)->stdin_pid == 0 && agent_input_position(agent) > 0;
}

static void place(struct agent *agent, const struct wire_place *order)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_PLACEMENT, .status = 1};
    int error = -EPROTO;

    if (!job_may_move(agent_job(agent), JOB_FORMING))
        return;
    agent_job_move(agent, JOB_FORMING);
    if (agent_order(agent)->stdin_pid >= (int)order->processes) {
        snprintf(verdict.text, sizeof verdict.text,
                 "--stdin %d: there is no such process: the processes are 0 to %u",
                 agent_order(agent)->stdin_pid, order->processes - 1);
        agent_abort(agent, COORD_NOBODY, &verdict);
        return;
    }
    if (has_read_too_early(agent, order)) {
        snprintf(verdict.text, sizeof verdict.text,
                 "process 0 has read input before bsp_begin, which its replicas would read again: "
                 "read it after bsp_begin, or run the job without --replicas");
        agent_abort(agent, COORD_NOBODY, &verdict);
        return;
    }
    if (is_sensible(agent, order))
        error = agent_cells_take(agent, &order->leads);
    if (error == 0)
        error = agent_nprocs(agent) > 0
                    ? 0
                    : agent_place(agent, (int)order->processes, &order->host_of);
    if (error == 0)
        agent_snapshots_copies(agent, order->copies);
    bool forms =
        order->host_of.items[0] == agent_host(agent); /* the program has come to bsp_begin here */
    if (error == 0 && (agent_order(agent)->stdin_pid > 0 || !forms) &&
        agent_is_here(agent, agent_order(agent)->stdin_pid))
        agent_input_rewind(agent, 0, BSPZ_DIGEST_NOTHING);
    if (error == 0 && forms) {
        form(agent, order);
        return;
    }
    if (error == 0) {
        wait_for_image(agent);
        return;
    }
    snprintf(verdict.text, sizeof verdict.text,
             "no shared memory for %u process%s: %s (the limits of this shell: ulimit -a)",
             order->processes, order->processes == 1 ? "" : "es", strerror(-error));
    agent_abort(agent, COORD_NOBODY, &verdict);
}

static void let_run(struct agent *agent, const struct wire_run *order)
{
    if (!job_may_move(agent_job(agent), JOB_RUNNING))
        return;
    agent_job_move(agent, JOB_RUNNING);
    agent_bury_strangers(agent); /* the writer of the first image may have ended by now */
    agent_election_ran(agent);
    agent_note_begin(agent, agent_now_ns());
    agent_decided_measure(agent, order->measure);
    agent_alone_begin(agent);
    agent_survive_begin(agent);
    agent_known_run(agent, order->consult);
    atomic_store(&agent_board(agent)->consult_from, order->consult);
    bspz_word_set(&agent_board(agent)->phase, BSPZ_PHASE_RUN);
    agent_pause_renew(agent);
    agent_opened_begin(agent);
    agent_snapshots_run(agent);
    agent_say_idle(agent);
    if (agent_zero(agent))
        agent_tell_running(agent);
    if (agent_order(agent)->verbosity >= 1 && agent_zero(agent)) {
        struct wire_message status = {.kind = WIRE_NOTICE};
        char text[WIRE_NAME_MAX + 80];

        snprintf(text, sizeof text, "Processor Zero is host %s (term %u), p = %u",
                 agent_host_name(agent), agent_term(agent), order->processes);
        status.notice.text = text;
        agent_send(agent, &status);
    }
}

static void run(struct agent *agent, const struct wire_run *order)
{
    if (!job_may_move(agent_job(agent), JOB_RUNNING) || agent_debug_begin(agent, order, let_run))
        return;
    let_run(agent, order);
}

static enum bspz_decision decision_word(uint32_t decision)
{
    return decision == WIRE_DECISION_ABORT      ? BSPZ_DECIDE_ABORT
           : decision == WIRE_DECISION_SNAPSHOT ? BSPZ_DECIDE_SNAPSHOT
                                                : BSPZ_DECIDE_GO;
}

static enum snapshot_haste haste_of(const struct wire_release *order)
{
    return order->last ? SNAPSHOT_LAST : order->urgent ? SNAPSHOT_URGENT : SNAPSHOT_IN_PASSING;
}

static bool is_captured(const struct agent *agent, const struct wire_message *message)
{
    const struct wire_numbers *captures = &message->release.captures;

    if (message->release.decision == WIRE_DECISION_ABORT)
        return true;
    for (uint32_t i = 0; i < captures->count; i++)
        if (captures->items[i] == agent_host(agent))
            return message->release.decision == WIRE_DECISION_SNAPSHOT;
    return false;
}

/* With replicas the processes here may not have come to that barrier yet.  After one at which those
 * of other hosts are captured they wait for RESUME. */
static void release_later(struct agent *agent, const struct wire_message *message)
{
    struct decided decided = {.superstep = message->envelope.superstep,
                              .consult = message->release.consult,
                              .end = message->release.decision == WIRE_DECISION_END};

    if (message->release.decision == WIRE_DECISION_SNAPSHOT) {
        if (!agent_decided_go_ahead(agent, decided.superstep))
            agent_cannot_go_on(agent, COORD_NOBODY, "out of memory");
        return;
    }
    agent_known_decided(agent, decided.superstep, decided.consult, decided.end);
    if (!agent_decided_add(agent, &decided))
        agent_cannot_go_on(agent, COORD_NOBODY, "out of memory");
    agent_replicas_look_to_end(agent);
}

/* Another Processor Zero tells all of a snapshot of which only some had heard. */
static bool is_known(const struct agent *agent, const struct wire_message *message)
{
    uint64_t superstep = message->envelope.superstep;

    return agent_has_replicas(agent) && message->release.decision == WIRE_DECISION_SNAPSHOT &&
           (agent_known(agent).decided > superstep ||
            agent_snapshots_captures(agent) == superstep + 1);
}

static void release(struct agent *agent, const struct wire_message *message)
{
    uint64_t superstep = message->envelope.superstep;

    if (is_known(agent, message))
        return;
    if (message->release.objects)
        agent_dataspace_gather(agent, superstep + 1, &message->release.captures);
    if (agent_has_replicas(agent) && !is_captured(agent, message)) {
        release_later(agent, message);
        return;
    }
    if (superstep + 1 != agent_decided_consulted(agent))
        return; /* a barrier of bsp_end at which no rank waits here */
    if (message->release.decision != WIRE_DECISION_SNAPSHOT)
        agent_known_decided(agent, superstep, message->release.consult,
                            message->release.decision == WIRE_DECISION_END);
    agent_decided_measure(agent, message->release.measure);
    agent_decided_let_out(agent, message->release.decision == WIRE_DECISION_END);
    agent_dataspace_mark(agent);
    if (message->release.decision == WIRE_DECISION_SNAPSHOT) {
        agent_mail_mark(agent, superstep + 1);
        if (!agent_snapshots_order(agent, superstep, haste_of(&message->release)))
            return;
    }
    agent_answer(agent, superstep, decision_word(message->release.decision),
                 message->release.consult);
}

/* Consults at the next possible barrier; one at which ranks already wait has consulted. */
static void consult(struct agent *agent, const struct wire_consult *order)
{
    agent_decided_measure(agent, order->measure);
    atomic_store(&agent_board(agent)->consult_from, 0);
    agent_dataspace_consult(agent);
}

static void stop_ranks(struct agent *agent, const struct wire_stop_ranks *order)
{
    int status = agent_zero(agent) ? coord_outcome(coord_shell_state(agent_zero(agent))).status : 1;

    if (!order->again)
        agent_stop_ranks(agent, order->cause, status);
    else if (agent_zero(agent))
        agent_rewind(agent);
    else
        agent_zero_is_lost(agent);
}

void agent_obey(struct agent *agent, const struct wire_message *message)
{
    agent_known_wait(agent, false); /* another Processor Zero has answered */
    if (agent_is_finished(agent))
        return;
    switch (message->kind) {
    case WIRE_PLACE:
        if (!job_is_stopping(agent_job(agent)))
            place(agent, &message->place);
        break;
    case WIRE_RUN:
        if (!job_is_stopping(agent_job(agent)))
            run(agent, &message->run);
        break;
    case WIRE_RELEASE:
        if (agent_nprocs(agent) > 0)
            release(agent, message);
        break;
    case WIRE_STOP_RANKS:
        stop_ranks(agent, &message->stop_ranks);
        break;
    case WIRE_CONSULT:
        consult(agent, &message->consult);
        break;
    case WIRE_ASK_QUIET:
        agent_quiet_answer(agent, message->ask_quiet.round);
        break;
    case WIRE_SURVIVED:
        agent_survive_take(agent, message);
        break;
    case WIRE_LOSSES:
        agent_survive_losses(agent, message);
        break;
    case WIRE_HALT:
    case WIRE_HALT_AT:
        if (!job_is_stopping(agent_job(agent)))
            agent_dataspace_halt(agent, message);
        break;
    case WIRE_TAKEN_OVER:
        if (!job_is_stopping(agent_job(agent)))
            agent_taken_over(agent, message);
        break;
    case WIRE_AHEAD:
        if (!job_is_stopping(agent_job(agent)))
            agent_ahead(agent, message);
        break;
    case WIRE_END:
        if (!agent_zero(agent) && agent_note_end_elsewhere(agent, &message->end))
            agent_let_write(agent, message->end.cause, agent_end_here);
        break;
    default:
        agent_snapshots_message(agent, message);
        if (message->kind == WIRE_RESUME)
            agent_scan(agent); /* for those that were held */
        if (message->kind == WIRE_ABANDON)
            agent_dataspace_gather_over(agent, message->envelope.superstep);
        break;
    }
}
