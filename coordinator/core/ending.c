/* ending.c - how a job ends: exits, losses and requests to stop, and who is blamed.
 *
 * Happy path: past bsp_end, RANK_EXITED of all -> END, FINISH.
 *
 * What can fail: a process ends early, a host is lost, a stop is requested, a barrier ends the job.
 * The first of them is blamed; then STOP_RANKS, and FINISH when all have stopped, are lost, or the
 * timer has expired.
 *
 * Each function that takes a message first validates it, as in events.c.
 */
#include "coordinator/core/state.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define STATUS_SAVED   123 /* tells batch systems to restart the job */
#define STATUS_TIMEOUT 124
#define STATUS_SIGNAL  128 /* plus the signal's number */
#define SIGNAL_KILL    9u

/* ---- How it ends -------------------------------------------------------------------------- */

/* Records the cause of the job's end; only the first one counts. */
void coord_blame(struct coord *state, enum wire_cause cause, int32_t pid, int32_t status,
                 uint32_t signal, const char *text)
{
    struct coord_outcome *outcome = &state->outcome;
    if (outcome->cause != WIRE_CAUSE_NONE)
        return;
    outcome->cause = cause;
    outcome->pid = pid;
    outcome->signal = signal;
    /* A status that the shell would see as 0 must not look like success. */
    outcome->status = (status & 0xff) != 0 ? status & 0xff : 1;
    snprintf(state->text, sizeof(state->text), "%s", text ? text : "");
}

static bool all_stopped(const struct coord *state)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].stopped)
            return false;
    return true;
}

static void say_end(struct coord *state, struct coord_effects *effects)
{
    struct wire_end *end = &coord_say(state, effects, WIRE_END)->end;
    end->status = state->outcome.status;
    end->cause = state->outcome.cause;
}

void coord_tell_latecomer(struct coord *state, struct coord_host *host,
                          const struct wire_message *message, struct coord_effects *effects)
{
    bool is_over = state->phase == COORD_ENDED || state->phase == COORD_ABORTED;

    if (host->ready || message->envelope.term != state->config.term)
        return;
    host->ready = true; /* it is addressed from now on */
    if (is_over)
        say_end(state, effects);
}

static void conclude(struct coord *state, struct coord_effects *effects, enum coord_phase last)
{
    say_end(state, effects);
    if (last == COORD_ABORTED)
        coord_add_effect(state, effects, COORD_EFFECT_CANCEL_TIMER);
    coord_move(state, last);
    coord_add_effect(state, effects, COORD_EFFECT_FINISH);
}

static void say_stop_ranks(struct coord *state, bool again, struct coord_effects *effects)
{
    struct wire_stop_ranks *order = &coord_say(state, effects, WIRE_STOP_RANKS)->stop_ranks;
    order->cause = state->outcome.cause;
    order->pid = state->outcome.pid;
    order->again = again;
}

void coord_begin_abort(struct coord *state, struct coord_effects *effects)
{
    assert(state->outcome.cause != WIRE_CAUSE_NONE);
    if (!state->config.snapshots || state->phase == COORD_ENDING) {
        coord_abort_now(state, effects);
        return;
    }
    coord_move(state, COORD_GIVING_UP);
    coord_say(state, effects, WIRE_CLOSING);
}

void coord_abort_now(struct coord *state, struct coord_effects *effects)
{
    coord_move(state, COORD_ABORTING);
    /* A host that was never ready has no process and no connection. */
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].ready)
            state->hosts[i].stopped = true;
    if (all_stopped(state)) {
        conclude(state, effects, COORD_ABORTED);
        return;
    }
    say_stop_ranks(state, false, effects);
    coord_set_timer(state, effects, COORD_TIMER_STOP, state->config.stop_grace_ms);
}

void coord_stop_saved(struct coord *state, const char *text, struct coord_effects *effects)
{
    if (state->committed.term > 0)
        coord_blame(state, WIRE_CAUSE_SAVED, COORD_NOBODY, STATUS_SAVED, state->save_signal, text);
    else
        coord_blame(state, WIRE_CAUSE_STOPPED, COORD_NOBODY,
                    STATUS_SIGNAL + (int32_t)state->save_signal, state->save_signal, NULL);
    coord_begin_abort(state, effects);
}

void coord_fail(struct coord *state, struct coord_effects *effects)
{
    bool to_go_back_to = state->committed.term > 0 || state->config.restore ||
                         state->ticket.state == COORD_TICKET_PERSISTING;
    if (!state->config.snapshots || !state->config.recover || !to_go_back_to) {
        coord_begin_abort(state, effects);
        return;
    }
    if (state->wish == COORD_WISH_STOP) {
        state->outcome = (struct coord_outcome){.pid = COORD_NOBODY};
        coord_stop_saved(
            state, "stopped without a new snapshot: a process was lost before it was complete",
            effects);
        return;
    }
    state->outcome.again = true;
    coord_move(state, COORD_FAILED);
    say_stop_ranks(state, true, effects);
    coord_add_effect(state, effects, COORD_EFFECT_FINISH);
}

void coord_end_to_move(struct coord *state, struct coord_effects *effects)
{
    coord_blame(state, WIRE_CAUSE_MOVED, COORD_NOBODY, 1, 0, NULL);
    coord_fail(state, effects);
}

static void note_exit(struct coord *state, uint32_t pid)
{
    state->exited[pid] = true;
    state->exited_count++;
}

static void conclude_if_all_exited(struct coord *state, struct coord_effects *effects)
{
    if (state->exited_count == state->processes)
        conclude(state, effects, COORD_ENDED);
}

void coord_end_as(struct coord *state, int32_t status, enum wire_cause cause,
                  struct coord_effects *effects)
{
    state->outcome.status = status;
    state->outcome.cause = cause;
    coord_move(state, COORD_ENDING);
    conclude(state, effects, COORD_ENDED);
}

/* ---- Ends and losses ---------------------------------------------------------------------- */

static void exited_while_running(struct coord *state, const struct wire_message *message,
                                 struct coord_effects *effects)
{
    uint32_t pid = message->rank_exited.pid, signal = message->rank_exited.signal;
    if (signal > 0) {
        coord_blame(state, WIRE_CAUSE_RANK_SIGNALLED, (int32_t)pid, STATUS_SIGNAL + (int32_t)signal,
                    signal, message->rank_exited.text);
        coord_fail(state, effects);
    } else if (state->phase == COORD_RESTORING || state->phase == COORD_PASSING) {
        const char *text = message->rank_exited.text;
        coord_blame(state, WIRE_CAUSE_NOT_RESTORED, (int32_t)pid, 1, 0,
                    text && text[0] ? text : "a restored process ended before it was complete");
        coord_fail(state, effects);
    } else {
        coord_blame(state, WIRE_CAUSE_RANK_EXITED, (int32_t)pid,
                    (int32_t)message->rank_exited.status, 0, message->rank_exited.text);
        coord_begin_abort(state, effects);
    }
}

/* Only the first failure after bsp_end is blamed; if process 0 exited with one, its status is the
 * job's. */
static void blame_after_end(struct coord *state, enum wire_cause cause, int32_t pid, int32_t status,
                            uint32_t signal, const char *text)
{
    int32_t of_process_0 = state->outcome.status;
    coord_blame(state, cause, pid, status, signal, text);
    if (of_process_0 != 0)
        state->outcome.status = of_process_0;
}

/* The status is process 0's, but what went wrong elsewhere must not look like success: a death by a
 * signal, and a status other than 0.  Others than process 0 leave by libbsp's exit(0): such a
 * status is that of a tool that has found something, as valgrind or a sanitizer. */
static void exited_after_end(struct coord *state, const struct wire_message *message)
{
    uint32_t pid = message->rank_exited.pid, signal = message->rank_exited.signal;
    note_exit(state, pid);
    int32_t status =
        signal > 0 ? STATUS_SIGNAL + (int32_t)signal : (int32_t)message->rank_exited.status;
    bool first = state->outcome.cause == WIRE_CAUSE_NONE;
    if (signal > 0)
        blame_after_end(state, WIRE_CAUSE_KILLED_AFTER_END, (int32_t)pid, status, signal,
                        message->rank_exited.text);
    if (signal > 0 && first)
        state->outcome.unaware = !message->rank_exited.past_end;
    if (signal == 0 && pid > 0 && (status & 0xff) != 0)
        blame_after_end(state, WIRE_CAUSE_EXITED_AFTER_END, (int32_t)pid, status, 0,
                        message->rank_exited.text);
    if (pid == 0 && (status & 0xff) != 0)
        state->outcome.status = status & 0xff;
}

int coord_take_rank_exited(struct coord *state, struct coord_host *host,
                           const struct wire_message *message, struct coord_effects *effects)
{
    uint32_t pid = message->rank_exited.pid;
    if (!coord_lives_on(state, pid, host))
        return coord_broken(effects, "host %u reports the end of process %u, which is not there",
                            host->id, pid);
    if (state->exited[pid] && coord_has_replicas(state)) {
        effects->dropped = true; /* another replica has ended first */
        return 0;
    }
    if (state->exited[pid])
        return coord_broken(effects, "host %u reports the end of process %u twice", host->id, pid);
    if (state->phase == COORD_ENDING)
        exited_after_end(state, message);
    else
        exited_while_running(state, message, effects);
    if (state->phase == COORD_ENDING)
        conclude_if_all_exited(state, effects);
    return 0;
}

/* Replicas differ.  Snapshots that did not wait for one that is slow may have what is wrong: even
 * from before that superstep, as a slower one has not told yet. */
static void go_back(struct coord *state, struct coord_effects *effects)
{
    if (state->right.term > 0 && bspz_snapshot_newer(state->committed, state->right))
        state->outcome.right = state->right;
    coord_fail(state, effects);
}

int coord_take_abort(struct coord *state, struct coord_host *host,
                     const struct wire_message *message, struct coord_effects *effects)
{
    uint32_t processes = state->processes > 0 ? state->processes : 1;
    if (message->abort.pid < COORD_NOBODY || message->abort.pid >= (int32_t)processes)
        return coord_broken(effects, "host %u aborts for process %d", host->id, message->abort.pid);
    if (message->abort.cause == WIRE_CAUSE_NONE ||
        (unsigned)message->abort.cause >= WIRE_CAUSE_COUNT)
        return coord_broken(effects, "host %u aborts for no known cause", host->id);
    coord_blame(state, (enum wire_cause)message->abort.cause, message->abort.pid,
                message->abort.status, 0, message->abort.text);
    bool differ = message->abort.cause == WIRE_CAUSE_MISMATCH && state->config.back_on_mismatch;
    if (coord_has_replicas(state) && (differ || message->abort.cause == WIRE_CAUSE_HOST_LOST))
        go_back(state, effects);
    else
        coord_begin_abort(state, effects);
    return 0;
}

int coord_take_stop(struct coord *state, struct coord_host *host,
                    const struct wire_message *message, struct coord_effects *effects)
{
    (void)host;
    uint32_t signal = message->stop.signal;
    switch (message->stop.how) {
    case WIRE_STOP_TIMEOUT:
        coord_blame(state, WIRE_CAUSE_TIMEOUT, COORD_NOBODY, STATUS_TIMEOUT, 0, message->stop.text);
        break;
    case WIRE_STOP_SIGNAL:
    case WIRE_STOP_KILL:
        if (signal < 1 || signal > 127)
            signal = SIGNAL_KILL;
        coord_blame(state, WIRE_CAUSE_STOPPED, COORD_NOBODY, STATUS_SIGNAL + (int32_t)signal,
                    signal, message->stop.text);
        break;
    default:
        return coord_broken(effects, "a request to stop of unknown kind %u",
                            (unsigned)message->stop.how);
    }
    coord_begin_abort(state, effects);
    return 0;
}

int coord_take_ranks_stopped(struct coord *state, struct coord_host *host,
                             const struct wire_message *message, struct coord_effects *effects)
{
    (void)message;
    if (host->stopped)
        return coord_broken(effects, "host %u has stopped twice", host->id);
    host->stopped = true;
    if (state->phase == COORD_ABORTING && all_stopped(state))
        conclude(state, effects, COORD_ABORTED);
    return 0;
}

void coord_lost_after_end(struct coord *state, struct coord_effects *effects)
{
    for (uint32_t pid = 0; pid < state->processes; pid++) {
        if (state->exited[pid] || coord_host_of(state, pid))
            continue; /* or a replica is still to end */
        note_exit(state, pid);
        blame_after_end(state, WIRE_CAUSE_HOST_LOST, (int32_t)pid, 1, 0, NULL);
    }
    conclude_if_all_exited(state, effects);
}

void coord_end_of_host(struct coord *state, struct coord_host *host, struct coord_effects *effects)
{
    if (state->phase == COORD_ABORTING) {
        if (all_stopped(state))
            conclude(state, effects, COORD_ABORTED);
    } else if (state->phase == COORD_ENDING) {
        coord_lost_after_end(state, effects);
    } else if (state->phase != COORD_GIVING_UP) {
        char text[COORD_NAME_TEXT + 16];
        coord_name_host(host, text);
        strcat(text, " was lost");
        coord_blame(state, WIRE_CAUSE_HOST_LOST, COORD_NOBODY, 1, 0, text);
        coord_fail(state, effects);
    }
}

/* Hosts that have not stopped by now count as lost. */
static void give_up_waiting(struct coord *state, struct coord_effects *effects)
{
    coord_watch(state);
    for (uint32_t i = 0; i < state->host_count; i++) {
        if (state->hosts[i].stopped)
            continue;
        state->hosts[i].lost = true;
        state->hosts[i].stopped = true;
    }
    conclude(state, effects, COORD_ABORTED);
}

static void grace_is_over(struct coord *state, struct coord_effects *effects)
{
    if (state->phase == COORD_ENDING || state->phase == COORD_CLOSING) {
        coord_blame(state, WIRE_CAUSE_STOPPED, COORD_NOBODY,
                    STATUS_SIGNAL + (int32_t)state->save_signal, state->save_signal, NULL);
        coord_begin_abort(state, effects);
    } else {
        coord_stop_saved(state,
                         "stopped without a new snapshot: it was not complete in the time given",
                         effects);
    }
}

void coord_take_timer(struct coord *state, enum coord_timer timer, struct coord_effects *effects)
{
    bool stopping = state->phase == COORD_GIVING_UP || state->phase == COORD_ABORTING;
    if (timer == COORD_TIMER_STOP && state->phase == COORD_ABORTING) {
        give_up_waiting(state, effects);
    } else if (timer == COORD_TIMER_GRACE && !stopping && state->wish == COORD_WISH_STOP) {
        grace_is_over(state, effects);
    } else if (timer == COORD_TIMER_SNAPSHOT && state->phase == COORD_RUNNING) {
        coord_consult(state, effects);
    } else {
        effects->dropped = true;
    }
}
