/* halt.c - where processes with replicas stop to be saved at their calls of the dataspace.
 *
 * Happy path: a snapshot is due -> HALT to all: no replica makes a request that is new to its
 * process -> HALTED of all: how far they are -> HALT_AT to all: the largest number of each process,
 * up to which the replicas behind go on -> all come to the barrier.
 *
 * What can fail: a host is lost before all have come: what it had made may have taken effect or
 * not, so the others are asked again, when they know of the loss.  That moves no process that has
 * stopped: what its replica there has made has taken effect.  So if all come while they are asked
 * again, it was where HALT_AT has said.
 *
 * Processes at bsp_end do not stop.  If all are there, those behind them are let go on.
 *
 * Another Processor Zero hears what the newest HALT_AT was, and says it again to those that lack
 * it.  That is the only one that any host may lack, as each had answered HALT.  If nobody is left
 * that knows it all go back.
 */
#include "coordinator/core/state.h"

#include <string.h>

static void say_where(struct coord *state, uint64_t superstep, const uint64_t *requests,
                      struct coord_effects *effects)
{
    struct wire_message *at = coord_say(state, effects, WIRE_HALT_AT);

    at->envelope.superstep = superstep;
    at->halt_at.round = state->halt.round;
    at->halt_at.requests = (struct wire_numbers){requests, state->processes};
}

static void ask(struct coord *state, struct coord_effects *effects)
{
    struct coord_halt *halt = &state->halt;

    halt->state = COORD_HALT_ASKED;
    halt->round++;
    halt->missing = 0;
    memset(halt->requests, 0, state->processes * sizeof(*halt->requests));
    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_host *host = &state->hosts[i];
        host->halted = host->count == 0 || host->lost;
        halt->missing += !host->halted;
    }
    struct wire_message *message = coord_say(state, effects, WIRE_HALT);
    message->envelope.superstep = state->superstep;
    message->halt.round = halt->round;
}

void coord_halt(struct coord *state, struct coord_effects *effects)
{
    if (!state->halts || state->halt.state != COORD_HALT_NONE || state->phase != COORD_RUNNING)
        return;
    state->consult = state->superstep;
    ask(state, effects);
}

void coord_halt_again(struct coord *state, struct coord_effects *effects)
{
    if (state->halt.state != COORD_HALT_NONE && state->phase == COORD_RUNNING)
        ask(state, effects);
}

static void let_all_go_on(struct coord *state, struct coord_effects *effects)
{
    for (uint32_t pid = 0; pid < state->processes; pid++)
        state->halt.said[pid] = WIRE_NEVER;
    say_where(state, state->superstep, state->halt.said, effects);
}

void coord_halt_decided(struct coord *state, bool end, struct coord_effects *effects)
{
    if (state->halt.state == COORD_HALT_ASKED && end)
        let_all_go_on(state, effects);
    else if (state->halt.state == COORD_HALT_ASKED)
        say_where(state, state->superstep, state->halt.said, effects);
    state->halt.state = COORD_HALT_NONE;
}

int coord_take_halted(struct coord *state, struct coord_host *host,
                      const struct wire_message *message, struct coord_effects *effects)
{
    const struct wire_numbers *requests = &message->halted.requests;
    struct coord_halt *halt = &state->halt;

    if (message->halted.round != halt->round || halt->state != COORD_HALT_ASKED || host->halted) {
        effects->dropped = true;
        return 0;
    }
    if (requests->count != state->processes)
        return coord_broken(effects, "host %u says how far %u processes are", host->id,
                            requests->count);
    host->halted = true;
    for (uint32_t pid = 0; pid < requests->count; pid++)
        if (requests->items[pid] > halt->requests[pid])
            halt->requests[pid] = requests->items[pid];
    if (--halt->missing > 0 || state->phase != COORD_RUNNING)
        return 0; /* else the end is decided */
    halt->state = COORD_HALT_SAID;
    memcpy(halt->said, halt->requests, state->processes * sizeof(*halt->said));
    say_where(state, state->superstep, halt->said, effects);
    return 0;
}

/* ---- Another Processor Zero ------------------------------------------------------------------ */

bool coord_halt_account(struct coord *state, const struct wire_account *account)
{
    struct coord_halt *halt = &state->halt;

    if (account->halt_requests.count == 0)
        return true;
    if (account->halt_requests.count != state->processes)
        return false;
    if (account->halt_round <= halt->round)
        return true;
    halt->round = account->halt_round;
    halt->said_at = account->halt_superstep;
    memcpy(halt->said, account->halt_requests.items, state->processes * sizeof(*halt->said));
    return true;
}

void coord_halt_taken_over(struct coord *state, struct coord_effects *effects)
{
    if (state->halt.round > 0 &&
        (state->halt.said_at < state->superstep || state->takeover.resumes))
        say_where(state, state->halt.said_at, state->halt.said, effects);
}

bool coord_halt_is_unknown(const struct coord *state)
{
    uint64_t known = state->halt.round > 0 ? state->halt.said_at + 1 : 0;

    return state->takeover.heard > known;
}

void coord_halt_anew(struct coord *state, struct coord_effects *effects)
{
    if (state->phase == COORD_ENDING)
        let_all_go_on(state, effects);
    if (state->phase != COORD_RUNNING)
        return;
    /* Some may have been saved under that name, too. */
    if (state->takeover.spared == COORD_NEVER)
        state->takeover.spared = state->superstep;
    coord_halt(state, effects);
}
