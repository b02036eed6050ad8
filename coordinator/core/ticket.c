/* ticket.c - the ticket of Processor Zero, the snapshot that is being taken: its states, its
 * opening, and when the next one is due.  The messages that advance it are in snapshot.c. */
#include "coordinator/core/state.h"

#include <string.h>

static const struct bspz_states_row rows[COORD_TICKET_STATE_COUNT] = {
    [COORD_TICKET_NONE] = {"none", IN(COORD_TICKET_OPEN)},
    [COORD_TICKET_OPEN] = {"open", IN(COORD_TICKET_PERSISTING) | IN(COORD_TICKET_NONE)},
    [COORD_TICKET_PERSISTING] = {"persisting", IN(COORD_TICKET_ANNOUNCED) | IN(COORD_TICKET_NONE)},
    [COORD_TICKET_ANNOUNCED] = {"announced", IN(COORD_TICKET_NONE)},
};
static const struct bspz_states ticket_states = {"a ticket", COORD_TICKET_STATE_COUNT, rows};

void coord_move_ticket(struct coord *state, enum coord_ticket_state to)
{
    state->ticket.state =
        (enum coord_ticket_state)bspz_states_move(&ticket_states, state->ticket.state, to);
}

void coord_open_ticket(struct coord *state, uint64_t superstep, bool base)
{
    struct coord_ticket *ticket = &state->ticket;
    coord_move_ticket(state, COORD_TICKET_OPEN);
    ticket->name = (struct bspz_snapshot_name){superstep, state->config.term};
    ticket->base = base;
    ticket->missing = base ? 1 : state->processes;
    memset(ticket->images, 0, ticket->missing * sizeof(*ticket->images));
    memset(ticket->holders, 0, ticket->missing * sizeof(*ticket->holders));
    ticket->begun_ns = state->now_ns;
    ticket->compared = 0;
    ticket->follows = state->facts.taken;
    ticket->busy_ns = ticket->copied_ns = 0;
    ticket->cost_ns = 0;
    ticket->counted = 0;
    ticket->input = ticket->input_digest = 0;
    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_host *host = &state->hosts[i];
        host->captured = host->count == 0 || (!base && !host->captures);
        host->known = host->durable = false;
        host->position[0] = host->position[1] = 0;
    }
    if (base)
        return;
    if (state->wish == COORD_WISH_SAVE)
        state->wish = COORD_WISH_NONE;
    state->facts.taken = true;
    state->facts.costs.pause_ns = 0;
}

/* ---- When the next decision is due -------------------------------------------------------- */

void coord_note_going_on(struct coord *state)
{
    state->facts.last_ns = state->now_ns;
    coord_pace_from(state);
}

#define SHORT_NS    UINT64_C(100000000) /* to commit a snapshot, and to restore it ahead */
#define ROUNDS_MOST 5u                  /* of snapshots before the one at which processes move */

/* At a barrier of this term. */
static bool has_snapshot(const struct coord *state)
{
    return state->committed.term == state->config.term && state->committed.superstep > 0;
}

/* Processes wait until the snapshot at which they move is committed.  So that little has to be
 * written then there are others shortly before, while they go on: only what has changed since
 * follows, and each takes less time than the one before, as long as processes change less in that
 * time than can be written.  (Migration of virtual machines calls it pre-copy: Clark and others,
 * NSDI 2005.)  What other hosts restore ahead of a round is part of it: processes go on meanwhile.
 */
static bool has_little_to_write(const struct coord *state)
{
    uint64_t round_ns = state->facts.costs.commit_ns + state->ahead.took_ns;
    uint64_t before_ns = state->round_before_ns;

    if (state->config.at_once)
        return true;
    if (coord_copies(state) > 1)
        return true; /* images that are copied to other hosts are full, whatever is there */
    if (state->rounds == 0 && coord_balancing_is_small(state))
        return true;
    if (!has_snapshot(state))
        return false;
    if (round_ns < SHORT_NS || state->rounds >= ROUNDS_MOST)
        return true;
    return state->rounds > 1 && round_ns > before_ns - before_ns / 4;
}

bool coord_round_is_over(const struct coord *state)
{
    return has_snapshot(state) && state->rounds <= ROUNDS_MOST &&
           (state->rounds > 0 || has_little_to_write(state));
}

void coord_note_round(struct coord *state, uint64_t before_ns)
{
    if (state->wish != COORD_WISH_MOVE || state->ticket.base)
        return;
    state->rounds++;
    state->round_before_ns = before_ns + state->ahead.took_ns;
    state->ahead.took_ns = 0;
}

static bool is_restored_ahead(const struct coord *state)
{
    return state->ahead.missing > 0;
}

bool coord_ends_with_ticket(struct coord *state)
{
    if (state->wish == COORD_WISH_MOVE && !is_restored_ahead(state) && has_little_to_write(state))
        state->wish = COORD_WISH_MOVE_NOW;
    return state->wish >= COORD_WISH_MOVE_NOW;
}

/* A move waits after a failed snapshot, as if nobody had asked, for the end of the one before, and
 * for hosts that restore it ahead. */
static uint64_t move_due_ns(const struct coord *state)
{
    if ((state->wish != COORD_WISH_MOVE && state->wish != COORD_WISH_MOVE_NOW) ||
        state->ticket.state != COORD_TICKET_NONE || is_restored_ahead(state))
        return POLICY_NEVER;
    return state->facts.retry_ns > state->now_ns ? state->facts.retry_ns - state->now_ns : 0;
}

static bool is_requested(const struct coord *state)
{
    return state->wish == COORD_WISH_SAVE || state->wish == COORD_WISH_STOP ||
           move_due_ns(state) == 0;
}

static uint64_t due_ns(struct coord *state)
{
    coord_know(state);
    state->facts.now_ns = state->now_ns;
    state->facts.writing = state->ticket.state != COORD_TICKET_NONE;
    uint64_t due = policy_due_ns(&state->config.rule, &state->facts);
    uint64_t move = move_due_ns(state), look = coord_balancing_due_ns(state);
    if (move < due)
        due = move;
    return look < due ? look : due;
}

/* From one decided barrier to the next, with replicas. */
#define AHEAD_NS      UINT64_C(1000000000)
#define AHEAD_LONG_NS UINT64_C(4000000000) /* if decisions take long */
#define AHEAD_MOST    (UINT64_C(1) << 24)  /* supersteps */
#define DECIDING      200u                 /* they take at most such a part of the time */

/* Processes wait until the arrivals of all cells, and then the decision, have come from one host to
 * another.  Cells come to a barrier at the same time, but what they say takes as long as the way to
 * this host is, while that of its own is here at once. */
void coord_note_arrival(struct coord *state)
{
    bool first = true;

    for (uint32_t i = 0; i < state->host_count; i++)
        first = first && !state->hosts[i].arrived;
    if (first)
        state->arrived_ns = state->now_ns;
    state->deciding_ns = 2 * (state->now_ns - state->arrived_ns);
}

static uint64_t ahead_ns(const struct coord *state)
{
    uint64_t ns = state->deciding_ns < AHEAD_LONG_NS / DECIDING ? DECIDING * state->deciding_ns
                                                                : AHEAD_LONG_NS;

    return ns > AHEAD_NS ? ns : AHEAD_NS;
}

/* Some hosts may have passed any barrier that could be asked for, so the next one to be decided is
 * named now.  It is at most twice as far ahead as the last one was, as supersteps may become
 * longer.
 */
static uint64_t next_with_replicas(struct coord *state)
{
    uint64_t ahead =
        state->facts.superstep_ns > 0 ? ahead_ns(state) / state->facts.superstep_ns : 0;
    uint64_t most = 2 * state->planned_ahead + 1;

    /* Processes stop when they are told to, or asked, if only one host is left. */
    if (state->halts || state->saved_at_calls)
        return COORD_NEVER;
    if (ahead > most)
        ahead = most;
    if (ahead > AHEAD_MOST)
        ahead = AHEAD_MOST;
    state->planned_ahead = ahead;
    return state->superstep + ahead;
}

/* A program that is saved at its calls has no supersteps but the stops for snapshots: if these
 * were counted, each would make the next one due. */
static struct policy_rule rule_in_force(const struct coord *state)
{
    struct policy_rule rule = state->config.rule;

    if ((state->halts || state->saved_at_calls) && rule.kind == POLICY_SUPERSTEPS)
        rule.kind = POLICY_OFF;
    return rule;
}

void coord_plan(struct coord *state)
{
    const struct policy_rule rule = rule_in_force(state);

    state->asked = false;
    state->consult =
        coord_next_consult(state->superstep, state->config.consult_every, state->config.abort_at);
    if (!state->config.snapshots)
        return;
    /* The barrier that ends superstep s completes s + 1. */
    uint64_t wanted = policy_next(&rule, state->superstep + 1);
    if (wanted != POLICY_NEVER && wanted - 1 < state->consult)
        state->consult = wanted - 1;
    bool skips = state->config.rule.skips && state->ticket.state != COORD_TICKET_NONE;
    if ((is_requested(state) && !skips) || due_ns(state) == 0)
        state->consult = state->superstep;
    if (!coord_has_replicas(state))
        return;
    uint64_t next = next_with_replicas(state);
    if (next < state->consult)
        state->consult = next;
}

void coord_consult(struct coord *state, struct coord_effects *effects)
{
    if (state->halts) {
        coord_halt(state, effects);
        return;
    }
    if (coord_has_replicas(state) && !state->saved_at_calls)
        return; /* the next barrier to be decided is known */
    state->asked = true;
    coord_say(state, effects, WIRE_CONSULT)->consult.measure = coord_balancing_asks(state);
}

void coord_plan_timer(struct coord *state, struct coord_effects *effects)
{
    uint64_t due = state->config.snapshots ? due_ns(state) : POLICY_NEVER;
    if (state->config.snapshots && (due == 0 || is_requested(state)))
        coord_halt(state, effects);
    if (due == 0 || due == POLICY_NEVER)
        return;
    coord_set_timer(state, effects, COORD_TIMER_SNAPSHOT, (due - 1) / 1000000u + 1);
}

void coord_plan_anew(struct coord *state, struct coord_effects *effects)
{
    if (due_ns(state) > 0)
        coord_plan_timer(state, effects);
    else
        coord_consult(state, effects);
}

void coord_plan_next(struct coord *state, struct coord_effects *effects)
{
    enum policy_kind kind = state->config.rule.kind;
    bool by_time = kind == POLICY_AUTO || kind == POLICY_TIME;

    if (state->phase == COORD_RUNNING && state->halt.state == COORD_HALT_NONE &&
        (by_time || state->halts || move_due_ns(state) != POLICY_NEVER))
        coord_plan_anew(state, effects);
}

enum policy_answer coord_ask_policy(struct coord *state)
{
    const struct policy_rule rule = rule_in_force(state);
    struct policy_facts *facts = &state->facts;

    coord_know(state);
    facts->superstep = state->superstep + 1;
    facts->now_ns = state->now_ns;
    facts->requested = is_requested(state);
    facts->writing = state->ticket.state != COORD_TICKET_NONE;
    return policy_decide(&rule, facts);
}
