/* events.c - the messages of a job without failures: its start, its barriers.
 *
 * Happy path: HOST_READY and REGISTERED -> PLACE -> RANKS_READY -> RUN -> ARRIVE, RELEASE for each
 * barrier that is decided -> the barrier of bsp_end.  Then ending.c takes over, as it does for all
 * failures.
 *
 * Each function first validates the message (coord_broken writes a complaint and the state is not
 * changed), then changes the state and adds effects.
 */
#include "coordinator/core/state.h"

#include <stdio.h>

/* ---- Starting ----------------------------------------------------------------------------- */

static void too_few(struct coord *state, uint32_t processes, struct coord_effects *effects)
{
    const struct replica_counts *counts = &state->config.counts;
    char text[160];

    if (counts->count < 2)
        snprintf(text, sizeof(text), "%u replicas of each process need as many hosts, there %s %u",
                 state->config.replicas, state->host_count == 1 ? "is" : "are", state->host_count);
    else
        snprintf(text, sizeof(text),
                 "the replicas of %u processes need %u hosts, as each host has processes with the "
                 "same number of replicas; there are %u",
                 processes, replica_counts_hosts(counts, processes), state->host_count);
    coord_blame(state, WIRE_CAUSE_PLACEMENT, COORD_NOBODY, 1, 0, text);
    coord_begin_abort(state, effects);
}

uint64_t coord_slots(const struct coord *state)
{
    uint64_t slots = 0;

    for (uint32_t i = 0; i < state->host_count; i++) {
        struct placement_host cell;

        if (!coord_is_lead(state, &state->hosts[i]))
            continue;
        coord_describe_cell(state, &state->hosts[i], &cell);
        slots += cell.slots;
    }
    return slots;
}

/* Forms cells, and decides how many processes there are, of which cells depend if some have more
 * replicas.  False: the job ends. */
static bool decide_processes(struct coord *state, uint64_t *processes,
                             struct coord_effects *effects)
{
    bool by_pid = state->config.counts.count > 1;

    *processes =
        coord_decide_processes(state->wanted, state->config.process_limit, coord_slots(state));
    if ((!by_pid || *processes <= state->config.processes_max) &&
        !coord_form_cells(state, (uint32_t)*processes, NULL, 0)) {
        too_few(state, (uint32_t)*processes, effects);
        return false;
    }
    if (!by_pid)
        *processes =
            coord_decide_processes(state->wanted, state->config.process_limit, coord_slots(state));
    if (*processes <= state->config.processes_max)
        return true;
    char text[96];
    snprintf(text, sizeof(text), "%llu processes are wanted, at most %u are possible",
             (unsigned long long)*processes, state->config.processes_max);
    coord_blame(state, WIRE_CAUSE_PLACEMENT, COORD_NOBODY, 1, 0, text);
    coord_begin_abort(state, effects);
    return false;
}

static void place_when_complete(struct coord *state, struct coord_effects *effects)
{
    uint64_t processes;
    bool shared = true;
    for (uint32_t i = 0; i < state->host_count; i++) {
        if (!state->hosts[i].ready)
            return;
        shared = shared && state->hosts[i].shared;
    }
    if (shared)
        state->config.copies = 1;
    if (!state->config.restore && !state->registered)
        return;
    if (state->config.restore) {
        coord_choose(state, effects);
        return;
    }
    if (!decide_processes(state, &processes, effects))
        return;
    coord_place(state, (uint32_t)processes);
    coord_move(state, COORD_PLACING);
    if (state->config.snapshots)
        coord_open_ticket(state, 0, true);
    struct wire_place *place = &coord_say(state, effects, WIRE_PLACE)->place;
    place->processes = state->processes;
    place->host_of = coord_homes(state);
    place->leads = coord_leads(state);
    place->snapshot = state->config.snapshots;
    place->copies = coord_copies(state);
}

int coord_take_host_ready(struct coord *state, struct coord_host *host,
                          const struct wire_message *message, struct coord_effects *effects)
{
    if (host->ready)
        return coord_broken(effects, "host %u is ready twice", host->id);
    if (host->slots == 0) {
        uint32_t slots = message->host_ready.slots;
        host->slots = slots < 1 ? 1 : slots > WIRE_SLOTS_MAX ? WIRE_SLOTS_MAX : slots;
    }
    host->ready = true;
    host->cores = message->host_ready.slots;
    host->shared = message->host_ready.shared;
    host->available = message->host_ready.available;
    place_when_complete(state, effects);
    return 0;
}

int coord_take_registered(struct coord *state, struct coord_host *host,
                          const struct wire_message *message, struct coord_effects *effects)
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
    state->wanted = message->registered.wanted;
    place_when_complete(state, effects);
    return 0;
}

void coord_run_when_ready(struct coord *state, struct coord_effects *effects)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].ranks_ready && !state->hosts[i].lost)
            return;
    if (state->phase == COORD_PASSING)
        state->facts.costs.restore_ns = state->now_ns - state->restore_begun_ns;
    coord_learn_running(state, state->phase == COORD_PASSING);
    state->facts.restored = state->phase == COORD_PASSING && state->committed.superstep > 0;
    coord_move(state, COORD_RUNNING);
    coord_note_going_on(state);
    state->facts.begun_ns = state->now_ns;
    coord_balancing_run(state);
    coord_plan(state);
    struct wire_run *run = &coord_say(state, effects, WIRE_RUN)->run;
    run->processes = state->processes;
    run->consult = state->consult;
    run->measure = coord_balancing_asks(state);
    coord_plan_timer(state, effects);
    coord_balancing_timer(state, effects);
}

int coord_take_ranks_ready(struct coord *state, struct coord_host *host,
                           const struct wire_message *message, struct coord_effects *effects)
{
    if (!(IN(state->phase) & (IN(COORD_PLACING) | IN(COORD_PASSING)))) {
        if (!state->takeover.any)
            return coord_broken(effects, "host %u has started its processes when all run",
                                host->id);
        effects->dropped = true; /* it has heard of snapshot 0 from this Processor Zero first */
        return 0;
    }
    if (message->ranks_ready.count != host->count)
        return coord_broken(effects, "host %u has started %u processes instead of %u", host->id,
                            message->ranks_ready.count, host->count);
    if (host->ranks_ready && state->takeover.any) {
        effects->dropped = true; /* it has said so in its account */
        return 0;
    }
    if (host->ranks_ready)
        return coord_broken(effects, "host %u has started its processes twice", host->id);
    host->ranks_ready = true;
    coord_run_when_ready(state, effects);
    return 0;
}

/* ---- Barriers ----------------------------------------------------------------------------- */

static int check_arrival(const struct coord *state, const struct coord_host *host,
                         const struct wire_message *message, struct coord_effects *effects)
{
    uint64_t superstep = message->envelope.superstep;
    if (host->count == 0)
        return coord_broken(effects, "host %u has no process that could arrive", host->id);
    if (host->arrived)
        return coord_broken(effects, "host %u arrives twice", host->id);
    if ((unsigned)message->arrive.barrier >= WIRE_BARRIER_COUNT)
        return coord_broken(effects, "host %u arrives at an unknown barrier", host->id);
    if (!coord_balancing_understands(state, host, &message->arrive))
        return coord_broken(effects, "host %u measures processes that are not its own", host->id);
    if (superstep == COORD_NEVER || superstep < state->superstep || superstep > state->consult ||
        (message->arrive.barrier != WIRE_BARRIER_END && superstep != state->consult &&
         !state->asked))
        return coord_broken(effects, "host %u arrives at the end of superstep %llu", host->id,
                            (unsigned long long)superstep);
    return 0;
}

/* A host with replicas may come to a barrier that is, or was, decided without it. */
static bool comes_later(const struct coord *state, const struct wire_message *message)
{
    return coord_has_replicas(state) &&
           (message->envelope.superstep < state->superstep ||
            (state->phase != COORD_RUNNING && state->phase != COORD_HELD_BACK));
}

/* The decision for the barrier at which every host has arrived. */
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
        snprintf(text, sizeof(text), "at the end of superstep %llu, %u host%s in bsp_end",
                 (unsigned long long)state->superstep, ends, ends == 1 ? " is" : "s are");
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
    bool snapshot = decision == WIRE_DECISION_SNAPSHOT;
    bool asked_for = snapshot && state->wish != COORD_WISH_NONE;
    bool last = snapshot && coord_ends_with_ticket(state);

    /* Those of a snapshot that is being written stay what they are. */
    struct wire_numbers captures = {0};
    if (snapshot)
        captures = coord_choose_captures(state);
    state->consult = COORD_NEVER;
    coord_halt_decided(state, decision == WIRE_DECISION_END, effects);
    if (decision == WIRE_DECISION_GO) {
        state->superstep = superstep + 1;
        coord_pace_from(state);
        coord_plan(state);
    } else if (snapshot) {
        coord_open_ticket(state, superstep + 1, false);
        coord_move(state, COORD_CAPTURING);
    }
    if (decision == WIRE_DECISION_GO && state->phase == COORD_HELD_BACK)
        coord_move(state, COORD_RUNNING);
    for (uint32_t i = 0; i < state->host_count; i++)
        state->hosts[i].arrived = false;

    struct wire_message *message = coord_say(state, effects, WIRE_RELEASE);
    message->envelope.superstep = superstep;
    message->release.decision = decision;
    message->release.consult = state->consult;
    message->release.measure = coord_balancing_asks(state);
    message->release.captures = captures;
    message->release.objects = snapshot && state->has_objects;
    message->release.urgent = asked_for;
    message->release.last = last;
    if (decision == WIRE_DECISION_END)
        coord_move(state, COORD_ENDING);
    else if (decision == WIRE_DECISION_ABORT)
        coord_begin_abort(state, effects);
    else if (decision == WIRE_DECISION_GO)
        coord_plan_timer(state, effects);
    else
        coord_begin_captures(state, effects);
}

void coord_decide_barrier(struct coord *state, struct coord_effects *effects)
{
    enum wire_decision decision = decide(state);

    if (decision == WIRE_DECISION_END && state->config.snapshots) {
        coord_move(state, COORD_CLOSING);
        coord_say(state, effects, WIRE_CLOSING)->closing.whole = true;
        return;
    }
    if (decision == WIRE_DECISION_GO && state->config.snapshots &&
        state->superstep != state->takeover.spared) {
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

/* bsprun has recorded that nothing is rolled back from now on: the processes may leave. */
int coord_take_closed(struct coord *state, struct coord_host *host,
                      const struct wire_message *message, struct coord_effects *effects)
{
    (void)host;
    (void)message;
    if (state->phase == COORD_GIVING_UP)
        coord_abort_now(state, effects);
    else
        release(state, WIRE_DECISION_END, effects);
    return 0;
}

void coord_take_barrier(struct coord *state, struct coord_effects *effects)
{
    coord_pace(state);
    coord_balancing_decide(state);
    coord_ahead_say(state, effects);
    coord_decide_barrier(state, effects);
}

int coord_take_arrive(struct coord *state, struct coord_host *host,
                      const struct wire_message *message, struct coord_effects *effects)
{
    if (comes_later(state, message)) {
        effects->dropped = true;
        return 0;
    }
    if (state->phase != COORD_RUNNING && !coord_has_replicas(state))
        return coord_broken(effects, "host %u sends something that does not belong into state %s",
                            host->id, coord_phase_name(state->phase));
    int result = check_arrival(state, host, message, effects);
    if (result < 0)
        return result;
    if (coord_misses_survivors(state, host, &message->arrive, effects))
        return 0;
    coord_note_arrival(state);
    host->arrived = true;
    host->barrier = message->arrive.barrier;
    state->superstep = message->envelope.superstep;
    state->saved_at_calls = state->saved_at_calls || message->arrive.barrier == WIRE_BARRIER_CALL;
    coord_balancing_note(state, host, &message->arrive);

    if (state->phase == COORD_RUNNING && coord_all_arrived(state))
        coord_take_barrier(state, effects);
    return 0;
}
