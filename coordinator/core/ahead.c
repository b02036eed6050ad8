/* ahead.c - processes that are to move are restored ahead on the hosts where they are expected,
 * while they go on where they are, so that only what changes since is left to read when they wait.
 *
 * Happy path: a term is wished with other places, and a snapshot is committed and known to all ->
 * AHEAD -> AHEAD_READY of every host that has been named -> the next snapshot is due, the last one
 * or another round (ticket.c).
 *
 * What can fail: nothing is expected, or expected wrongly, or not restored.  The next term restores
 * what it has to in any case: here only work is lost.  A fault ends the term, and with it the wait.
 */
#include "coordinator/core/state.h"

#include <string.h>

static uint16_t find_host(const struct coord *state, uint32_t id)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (state->hosts[i].id == id)
            return (uint16_t)(i + 1);
    return 0;
}

static void expect(struct coord *state, struct wire_move_list moves)
{
    for (uint32_t i = 0; i < moves.count; i++)
        if (moves.items[i].pid < state->config.processes_max)
            state->ahead.expected[moves.items[i].pid] = find_host(state, moves.items[i].host);
}

void coord_ahead_expect(struct coord *state, struct wire_move_list moves)
{
    struct coord_ahead *ahead = &state->ahead;

    memset(ahead->expected, 0, state->config.processes_max * sizeof(*ahead->expected));
    expect(state, moves);
}

/* What is to be elsewhere, by Processor Zero's own decision or as bsprun expects, and could be. */
static void list_moves(struct coord *state)
{
    struct coord_ahead *ahead = &state->ahead;

    expect(state, (struct wire_move_list){state->balancing.moves, state->balancing.move_count});
    ahead->move_count = 0;
    for (uint32_t i = 0; i < state->host_count; i++) {
        state->hosts[i].ahead = 0;
        state->hosts[i].ahead_ready = false;
    }
    for (uint32_t pid = 0; pid < state->processes; pid++) {
        uint16_t to = ahead->expected[pid];
        struct coord_host *host = to > 0 ? &state->hosts[to - 1] : NULL;
        if (!host || to - 1 == state->home[pid] || !host->ready || host->lost)
            continue;
        ahead->moves[ahead->move_count++] = (struct wire_move){pid, host->id};
        ahead->missing += host->ahead++ == 0;
    }
}

/* Whether the newest snapshot is one that hosts can restore ahead, and from which the last one will
 * not differ much. */
static bool is_due(const struct coord *state)
{
    bool goes_on = state->phase == COORD_RUNNING || state->phase == COORD_HELD_BACK ||
                   state->phase == COORD_CAPTURING;

    return goes_on && !state->config.at_once && !coord_has_replicas(state) &&
           state->wish == COORD_WISH_MOVE && coord_copies(state) == 1 &&
           state->ticket.state == COORD_TICKET_NONE && coord_round_is_over(state) &&
           !bspz_snapshot_same(state->ahead.name, state->committed);
}

bool coord_ahead_say(struct coord *state, struct coord_effects *effects)
{
    struct coord_ahead *ahead = &state->ahead;

    if (ahead->missing > 0 || !is_due(state))
        return false;
    list_moves(state);
    if (ahead->missing == 0)
        return false;
    ahead->name = state->committed;
    ahead->begun_ns = state->now_ns;
    if (state->rounds == 0)
        state->rounds = 1; /* a snapshot that was there already counts as the first */
    struct wire_message *message = coord_say(state, effects, WIRE_AHEAD);
    message->envelope.superstep = ahead->name.superstep;
    message->ahead.from = ahead->name.term;
    message->ahead.moves = (struct wire_move_list){ahead->moves, ahead->move_count};
    return true;
}

int coord_take_ahead_ready(struct coord *state, struct coord_host *host,
                           const struct wire_message *message, struct coord_effects *effects)
{
    struct coord_ahead *ahead = &state->ahead;
    const struct wire_ahead_ready *ready = &message->ahead_ready;

    if (host->ahead == 0 && state->takeover.any) {
        effects->dropped = true; /* the former Processor Zero had told it to */
        return 0;
    }
    if (host->ahead == 0)
        return coord_broken(effects, "host %u restores ahead what it was not told to", host->id);
    if (!bspz_snapshot_same(ready->name, ahead->name)) {
        effects->dropped = true;
        return 0;
    }
    if (host->ahead_ready)
        return coord_broken(effects, "host %u has restored ahead twice", host->id);
    if (ready->count > host->ahead)
        return coord_broken(effects, "host %u has restored %u processes ahead instead of %u",
                            host->id, ready->count, host->ahead);
    host->ahead_ready = true;
    if (--ahead->missing > 0)
        return 0;
    ahead->took_ns = state->now_ns - ahead->begun_ns;
    /* A snapshot that the policy wanted may be known to all meanwhile. */
    if (!coord_ahead_say(state, effects) && state->wish == COORD_WISH_MOVE)
        coord_plan_next(state, effects);
    return 0;
}
