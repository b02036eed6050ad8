/* events.c - what each event does to Processor Zero.
 *
 * Happy path: HOST_READY and REGISTERED -> PLACE -> RANKS_READY -> RUN -> ARRIVED, RELEASE for each
 * barrier that is decided -> the barrier of bsp_end -> RANK_EXITED of all -> END, FINISH.
 *
 * What can fail: a process ends early, a host is lost, somebody asks for the end, a barrier is
 * decided that way.  The first of them is blamed; then STOP_RANKS, and FINISH when all have
 * stopped, are lost, or the timer has expired.
 *
 * Each function first tests everything a peer may have wrong (coord_broken says so and the state
 * is left alone), then changes the state and adds effects.
 */
#include "coordinator/core/state.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define STATUS_TIMEOUT 124
#define STATUS_SIGNAL  128 /* plus the signal's number */
#define SIGNAL_KILL    9u

/* ---- How it ends -------------------------------------------------------------------------- */

/* What goes wrong first is what the job ended of. */
void coord_blame(struct coord *state, enum wire_cause cause, int32_t pid, int32_t status,
                 uint32_t signal, const char *text)
{
    struct coord_outcome *outcome = &state->outcome;
    if (outcome->cause != WIRE_CAUSE_NONE)
        return;
    outcome->cause = cause;
    outcome->pid = pid;
    outcome->signal = signal;
    /* A status of which the shell would see 0 must not look like success. */
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

static void conclude(struct coord *state, struct coord_effects *effects, enum coord_phase last)
{
    coord_add_effect(state, effects, COORD_EFFECT_END);
    if (last == COORD_ABORTED)
        coord_add_effect(state, effects, COORD_EFFECT_CANCEL_TIMER);
    coord_move(state, last);
    coord_add_effect(state, effects, COORD_EFFECT_FINISH);
}

/* Cuts the job short, for the reason given to coord_blame(). */
void coord_begin_abort(struct coord *state, struct coord_effects *effects)
{
    assert(state->outcome.cause != WIRE_CAUSE_NONE);
    coord_move(state, COORD_ABORTING);
    /* A host that never got ready has no process and no connection. */
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].ready)
            state->hosts[i].stopped = true;
    if (all_stopped(state)) {
        conclude(state, effects, COORD_ABORTED);
        return;
    }
    if (state->config.snapshots)
        coord_add_effect(state, effects, COORD_EFFECT_CLOSE);
    coord_add_effect(state, effects, COORD_EFFECT_STOP_RANKS);
    coord_add_effect(state, effects, COORD_EFFECT_SET_TIMER)->milliseconds =
        state->config.stop_grace_ms;
}

void coord_fail(struct coord *state, struct coord_effects *effects)
{
    bool to_go_back_to = state->committed.term > 0 || state->config.restore ||
                         state->ticket.state == COORD_TICKET_PERSISTING;
    if (!state->config.snapshots || !to_go_back_to) {
        coord_begin_abort(state, effects);
        return;
    }
    if (state->save_and_stop) {
        state->outcome = (struct coord_outcome){.pid = COORD_NOBODY};
        coord_stop_saved(state, effects);
        return;
    }
    state->outcome.again = true;
    coord_move(state, COORD_FAILED);
    coord_add_effect(state, effects, COORD_EFFECT_STOP_RANKS)->flag = true;
    coord_add_effect(state, effects, COORD_EFFECT_FINISH);
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

/* ---- Starting ----------------------------------------------------------------------------- */

static void place_when_complete(struct coord *state, struct coord_effects *effects)
{
    uint64_t slots = 0;
    for (uint32_t i = 0; i < state->host_count; i++) {
        if (!state->hosts[i].ready)
            return;
        slots += state->hosts[i].slots;
    }
    if (state->config.restore) {
        coord_choose(state, effects);
        return;
    }
    if (!state->registered)
        return;
    uint64_t processes = coord_decide_processes(state->wanted, state->config.process_limit, slots);
    if (processes > state->config.processes_max) {
        char text[96];
        snprintf(text, sizeof(text), "%llu processes are wanted, at most %u are possible",
                 (unsigned long long)processes, state->config.processes_max);
        coord_blame(state, WIRE_CAUSE_PLACEMENT, COORD_NOBODY, 1, 0, text);
        coord_begin_abort(state, effects);
        return;
    }
    coord_place(state, (uint32_t)processes);
    coord_move(state, COORD_PLACING);
    if (state->config.snapshots)
        coord_open_ticket(state, 0, true);
    coord_add_effect(state, effects, COORD_EFFECT_PLACE)->flag = state->config.snapshots;
}

int coord_take_host_ready(struct coord *state, struct coord_host *host,
                          const struct coord_event *event, struct coord_effects *effects)
{
    if (host->ready)
        return coord_broken(effects, "host %u is ready twice", host->id);
    if (host->slots == 0) {
        uint32_t slots = event->host_ready.slots;
        host->slots = slots < 1 ? 1 : slots > WIRE_SLOTS_MAX ? WIRE_SLOTS_MAX : slots;
    }
    host->ready = true;
    place_when_complete(state, effects);
    return 0;
}

int coord_take_registered(struct coord *state, struct coord_host *host,
                          const struct coord_event *event, struct coord_effects *effects)
{
    if (state->config.restore)
        return coord_broken(effects, "host %u registers, but the job is restored", host->id);
    if (state->registered)
        return coord_broken(effects, "host %u registers, but host %u has", host->id,
                            state->hosts[state->registered_host].id);
    if (!host->ready)
        return coord_broken(effects, "host %u registers before it is ready", host->id);
    state->registered = true;
    state->registered_host = (uint32_t)(host - state->hosts);
    state->wanted = event->registered.wanted;
    place_when_complete(state, effects);
    return 0;
}

int coord_take_ranks_ready(struct coord *state, struct coord_host *host,
                           const struct coord_event *event, struct coord_effects *effects)
{
    if (event->ranks_ready.count != host->count)
        return coord_broken(effects, "host %u has started %u processes instead of %u", host->id,
                            event->ranks_ready.count, host->count);
    if (host->ranks_ready)
        return coord_broken(effects, "host %u has started its processes twice", host->id);
    host->ranks_ready = true;
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].ranks_ready)
            return 0;
    if (state->phase == COORD_PASSING)
        state->facts.costs.restore_ns = state->now_ns - state->restore_begun_ns;
    coord_move(state, COORD_RUNNING);
    coord_note_going_on(state);
    coord_plan(state);
    coord_add_effect(state, effects, COORD_EFFECT_RUN);
    coord_plan_timer(state, effects);
    return 0;
}

/* ---- When the next decision is due -------------------------------------------------------- */

void coord_note_going_on(struct coord *state)
{
    state->facts.last_ns = state->now_ns;
}

static uint64_t due_ns(struct coord *state)
{
    state->facts.now_ns = state->now_ns;
    return policy_due_ns(&state->config.rule, &state->facts);
}

void coord_plan(struct coord *state)
{
    state->asked = false;
    state->consult =
        coord_next_consult(state->superstep, state->config.consult_every, state->config.abort_at);
    if (!state->config.snapshots)
        return;
    /* The barrier that ends superstep s completes s + 1. */
    uint64_t wanted = policy_next(&state->config.rule, state->superstep + 1);
    if (wanted != POLICY_NEVER && wanted - 1 < state->consult)
        state->consult = wanted - 1;
    if (state->save || state->save_and_stop || due_ns(state) == 0)
        state->consult = state->superstep;
}

void coord_plan_timer(struct coord *state, struct coord_effects *effects)
{
    uint64_t due = state->config.snapshots ? due_ns(state) : POLICY_NEVER;
    if (due == 0 || due == POLICY_NEVER)
        return;
    struct coord_effect *effect = coord_add_effect(state, effects, COORD_EFFECT_SET_TIMER);
    effect->timer = COORD_TIMER_SNAPSHOT;
    effect->milliseconds = (due - 1) / 1000000u + 1;
}

/* ---- Barriers ----------------------------------------------------------------------------- */

static int check_arrival(const struct coord *state, const struct coord_host *host,
                         const struct coord_event *event, struct coord_effects *effects)
{
    uint64_t superstep = event->arrived.superstep;
    if (host->count == 0)
        return coord_broken(effects, "host %u has no process that could arrive", host->id);
    if (host->arrived)
        return coord_broken(effects, "host %u arrives twice", host->id);
    if ((unsigned)event->arrived.barrier >= WIRE_BARRIER_COUNT)
        return coord_broken(effects, "host %u arrives at an unknown barrier", host->id);
    if (superstep == COORD_NEVER || superstep < state->superstep || superstep > state->consult ||
        (event->arrived.barrier == WIRE_BARRIER_SYNC && superstep != state->consult &&
         !state->asked))
        return coord_broken(effects, "host %u arrives at the end of superstep %llu", host->id,
                            (unsigned long long)superstep);
    return 0;
}

static bool all_arrived(const struct coord *state)
{
    bool any = false;
    for (uint32_t i = 0; i < state->host_count; i++) {
        const struct coord_host *host = &state->hosts[i];
        any = any || host->arrived;
        if (!host->arrived && host->count > 0)
            return false;
    }
    return any;
}

/* What happens at the barrier at which every host has arrived. */
static enum wire_decision decide(struct coord *state)
{
    uint32_t syncs = 0, ends = 0;
    for (uint32_t i = 0; i < state->host_count; i++) {
        if (!state->hosts[i].arrived)
            continue;
        if (state->hosts[i].barrier == WIRE_BARRIER_END)
            ends++;
        else
            syncs++;
    }
    if (syncs == 0)
        return WIRE_DECISION_END;
    char text[96];
    if (ends > 0) {
        snprintf(text, sizeof(text), "at the end of superstep %llu, %u hosts are in bsp_end",
                 (unsigned long long)state->superstep, ends);
        coord_blame(state, WIRE_CAUSE_MISMATCH, COORD_NOBODY, 1, 0, text);
        return WIRE_DECISION_ABORT;
    }
    if (state->superstep == state->config.abort_at) {
        snprintf(text, sizeof(text), "told to abort at the end of superstep %llu",
                 (unsigned long long)state->superstep);
        coord_blame(state, WIRE_CAUSE_DECIDED, COORD_NOBODY, 1, 0, text);
        return WIRE_DECISION_ABORT;
    }
    return WIRE_DECISION_GO;
}

static void release(struct coord *state, enum wire_decision decision, struct coord_effects *effects)
{
    uint64_t superstep = state->superstep;

    state->consult = COORD_NEVER;
    if (decision == WIRE_DECISION_GO) {
        state->superstep = superstep + 1;
        coord_plan(state);
    } else if (decision == WIRE_DECISION_SNAPSHOT) {
        coord_open_ticket(state, superstep + 1, false);
        coord_move(state, COORD_CAPTURING);
    }
    if (decision == WIRE_DECISION_GO && state->phase == COORD_HELD_BACK)
        coord_move(state, COORD_RUNNING);
    for (uint32_t i = 0; i < state->host_count; i++)
        state->hosts[i].arrived = false;

    struct coord_effect *effect = coord_add_effect(state, effects, COORD_EFFECT_RELEASE);
    effect->superstep = superstep;
    effect->decision = decision;
    if (decision == WIRE_DECISION_END)
        coord_move(state, COORD_ENDING);
    else if (decision == WIRE_DECISION_ABORT)
        coord_begin_abort(state, effects);
    else if (decision == WIRE_DECISION_GO)
        coord_plan_timer(state, effects);
}

void coord_decide_barrier(struct coord *state, struct coord_effects *effects)
{
    enum wire_decision decision = decide(state);

    if (decision == WIRE_DECISION_END && state->config.snapshots) {
        coord_move(state, COORD_CLOSING);
        coord_add_effect(state, effects, COORD_EFFECT_CLOSE);
        return;
    }
    if (decision == WIRE_DECISION_GO && state->config.snapshots) {
        enum policy_answer answer = coord_ask_policy(state);
        if (answer == POLICY_WAIT) {
            coord_move(state, COORD_HELD_BACK);
            return;
        }
        if (answer == POLICY_SNAPSHOT)
            decision = WIRE_DECISION_SNAPSHOT;
    }
    release(state, decision, effects);
}

/* bsprun knows that nothing is rolled back from now on: the processes may leave. */
int coord_take_closed(struct coord *state, struct coord_host *host, const struct coord_event *event,
                      struct coord_effects *effects)
{
    (void)host;
    (void)event;
    release(state, WIRE_DECISION_END, effects);
    return 0;
}

int coord_take_arrived(struct coord *state, struct coord_host *host,
                       const struct coord_event *event, struct coord_effects *effects)
{
    int result = check_arrival(state, host, event, effects);
    if (result < 0)
        return result;
    uint32_t from = (uint32_t)(host - state->hosts);
    host->arrived = true;
    host->barrier = event->arrived.barrier;
    memcpy(host->output, event->arrived.output, sizeof(host->output));
    for (uint32_t to = 0; to < state->host_count; to++)
        state->bytes[(size_t)from * state->host_count + to] =
            event->arrived.bytes_to ? event->arrived.bytes_to[to] : 0;
    state->superstep = event->arrived.superstep;

    if (all_arrived(state))
        coord_decide_barrier(state, effects);
    return 0;
}

/* ---- Ends and losses ---------------------------------------------------------------------- */

bool coord_lives_on(const struct coord *state, uint32_t pid, const struct coord_host *host)
{
    if (state->processes == 0) /* not placed: there is only process 0 */
        return pid == 0 && state->registered && host == &state->hosts[state->registered_host];
    return pid < state->processes && &state->hosts[state->home[pid]] == host;
}

static void exited_while_running(struct coord *state, const struct coord_event *event,
                                 struct coord_effects *effects)
{
    uint32_t pid = event->rank_exited.pid, signal = event->rank_exited.signal;
    if (signal > 0) {
        coord_blame(state, WIRE_CAUSE_RANK_SIGNALLED, (int32_t)pid, STATUS_SIGNAL + (int32_t)signal,
                    signal, NULL);
        coord_fail(state, effects);
    } else if (state->phase == COORD_RESTORING || state->phase == COORD_PASSING) {
        coord_blame(state, WIRE_CAUSE_NOT_RESTORED, (int32_t)pid, 1, 0,
                    "a restored process ended before it was complete");
        coord_fail(state, effects);
    } else {
        coord_blame(state, WIRE_CAUSE_RANK_EXITED, (int32_t)pid, (int32_t)event->rank_exited.status,
                    0, NULL);
        coord_begin_abort(state, effects);
    }
}

/* A status of process 0 that tells of failure stays the job's. */
static void blame_after_end(struct coord *state, enum wire_cause cause, int32_t pid, int32_t status,
                            uint32_t signal)
{
    int32_t of_process_0 = state->outcome.status;
    coord_blame(state, cause, pid, status, signal, NULL);
    if (of_process_0 != 0)
        state->outcome.status = of_process_0;
}

/* Past bsp_end only process 0's status counts, but a death by signal must not pass for success. */
static void exited_after_end(struct coord *state, const struct coord_event *event)
{
    uint32_t pid = event->rank_exited.pid, signal = event->rank_exited.signal;
    note_exit(state, pid);
    int32_t status =
        signal > 0 ? STATUS_SIGNAL + (int32_t)signal : (int32_t)event->rank_exited.status;
    if (signal > 0)
        blame_after_end(state, WIRE_CAUSE_KILLED_AFTER_END, (int32_t)pid, status, signal);
    if (pid == 0 && (status & 0xff) != 0)
        state->outcome.status = status & 0xff;
}

int coord_take_rank_exited(struct coord *state, struct coord_host *host,
                           const struct coord_event *event, struct coord_effects *effects)
{
    uint32_t pid = event->rank_exited.pid;
    if (!coord_lives_on(state, pid, host))
        return coord_broken(effects, "host %u reports the end of process %u, which is not there",
                            host->id, pid);
    if (state->exited[pid])
        return coord_broken(effects, "host %u reports the end of process %u twice", host->id, pid);
    if (state->phase == COORD_ENDING)
        exited_after_end(state, event);
    else
        exited_while_running(state, event, effects);
    if (state->phase == COORD_ENDING)
        conclude_if_all_exited(state, effects);
    return 0;
}

int coord_take_abort(struct coord *state, struct coord_host *host, const struct coord_event *event,
                     struct coord_effects *effects)
{
    uint32_t processes = state->processes > 0 ? state->processes : 1;
    if (event->abort.pid < COORD_NOBODY || event->abort.pid >= (int32_t)processes)
        return coord_broken(effects, "host %u aborts for process %d", host->id, event->abort.pid);
    if (event->abort.cause == WIRE_CAUSE_NONE || (unsigned)event->abort.cause >= WIRE_CAUSE_COUNT)
        return coord_broken(effects, "host %u aborts for no known cause", host->id);
    coord_blame(state, event->abort.cause, event->abort.pid, event->abort.status, 0,
                event->abort.text);
    coord_begin_abort(state, effects);
    return 0;
}

int coord_take_stop(struct coord *state, struct coord_host *host, const struct coord_event *event,
                    struct coord_effects *effects)
{
    (void)host;
    uint32_t signal = event->stop.signal;
    switch (event->stop.how) {
    case WIRE_STOP_TIMEOUT:
        coord_blame(state, WIRE_CAUSE_TIMEOUT, COORD_NOBODY, STATUS_TIMEOUT, 0, event->stop.text);
        break;
    case WIRE_STOP_SIGNAL:
    case WIRE_STOP_KILL:
        if (signal < 1 || signal > 127)
            signal = SIGNAL_KILL;
        coord_blame(state, WIRE_CAUSE_STOPPED, COORD_NOBODY, STATUS_SIGNAL + (int32_t)signal,
                    signal, event->stop.text);
        break;
    default:
        return coord_broken(effects, "a request to stop of unknown kind %u",
                            (unsigned)event->stop.how);
    }
    coord_begin_abort(state, effects);
    return 0;
}

int coord_take_ranks_stopped(struct coord *state, struct coord_host *host,
                             const struct coord_event *event, struct coord_effects *effects)
{
    (void)event;
    if (host->stopped)
        return coord_broken(effects, "host %u has stopped twice", host->id);
    host->stopped = true;
    if (all_stopped(state))
        conclude(state, effects, COORD_ABORTED);
    return 0;
}

/* Past bsp_end the other hosts finish what they do; what was lost is reported. */
static void lost_after_end(struct coord *state, struct coord_host *host,
                           struct coord_effects *effects)
{
    for (uint32_t pid = 0; pid < state->processes; pid++) {
        if (!coord_lives_on(state, pid, host) || state->exited[pid])
            continue;
        note_exit(state, pid);
        blame_after_end(state, WIRE_CAUSE_HOST_LOST, (int32_t)pid, 1, 0);
    }
    conclude_if_all_exited(state, effects);
}

int coord_take_host_lost(struct coord *state, struct coord_host *host,
                         const struct coord_event *event, struct coord_effects *effects)
{
    (void)event;
    host->lost = true;
    host->stopped = true;
    if (state->phase == COORD_ABORTING) {
        if (all_stopped(state))
            conclude(state, effects, COORD_ABORTED);
    } else if (state->phase == COORD_ENDING) {
        lost_after_end(state, host, effects);
    } else {
        char text[64];
        snprintf(text, sizeof(text), "host %u was lost", host->id);
        coord_blame(state, WIRE_CAUSE_HOST_LOST, COORD_NOBODY, 1, 0, text);
        coord_fail(state, effects);
    }
    return 0;
}

/* The hosts that have not stopped by now are given up. */
static void give_up_waiting(struct coord *state, struct coord_effects *effects)
{
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
        coord_stop_saved(state, effects);
    }
}

/* One that was set for what is past does nothing. */
int coord_take_timer(struct coord *state, struct coord_host *host, const struct coord_event *event,
                     struct coord_effects *effects)
{
    (void)host;
    bool stopping = state->phase == COORD_ABORTING;
    if (event->timer.timer == COORD_TIMER_STOP && stopping) {
        give_up_waiting(state, effects);
    } else if (event->timer.timer == COORD_TIMER_GRACE && !stopping && state->save_and_stop) {
        grace_is_over(state, effects);
    } else if (event->timer.timer == COORD_TIMER_SNAPSHOT && state->phase == COORD_RUNNING) {
        state->asked = true;
        coord_add_effect(state, effects, COORD_EFFECT_CONSULT);
    } else {
        effects->dropped = true;
    }
    return 0;
}
