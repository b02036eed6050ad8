/* moves.c - the states of Processor Zero and their only transition function; how effects and
 * complaints are made. */
#include "coordinator/core/state.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CUT_SHORT (IN(COORD_GIVING_UP) | IN(COORD_ABORTING) | IN(COORD_FAILED))

/* ---- States ------------------------------------------------------------------------------- */

static const struct bspz_states_row rows[COORD_PHASE_COUNT] = {
    [COORD_WAITING] = {"WAITING", IN(COORD_PLACING) | IN(COORD_CHOOSING) | CUT_SHORT},
    [COORD_PLACING] = {"PLACING", IN(COORD_RUNNING) | CUT_SHORT},
    [COORD_CHOOSING] = {"CHOOSING", IN(COORD_RESTORING) | CUT_SHORT},
    [COORD_RESTORING] = {"RESTORING", IN(COORD_PASSING) | CUT_SHORT},
    [COORD_PASSING] = {"PASSING", IN(COORD_RUNNING) | CUT_SHORT},
    [COORD_RUNNING] = {"RUNNING", IN(COORD_HELD_BACK) | IN(COORD_CAPTURING) | IN(COORD_CLOSING) |
                                      IN(COORD_ENDING) | CUT_SHORT},
    [COORD_HELD_BACK] = {"HELD_BACK", IN(COORD_RUNNING) | IN(COORD_CAPTURING) | CUT_SHORT},
    [COORD_CAPTURING] = {"CAPTURING", IN(COORD_RUNNING) | IN(COORD_SAVING) | CUT_SHORT},
    [COORD_SAVING] = {"SAVING", IN(COORD_RUNNING) | CUT_SHORT},
    [COORD_CLOSING] = {"CLOSING", IN(COORD_ENDING) | CUT_SHORT},
    [COORD_ENDING] = {"ENDING", IN(COORD_ENDED) | IN(COORD_ABORTING)},
    [COORD_ENDED] = {"ENDED", 0},
    [COORD_GIVING_UP] = {"GIVING_UP", IN(COORD_ABORTING)},
    [COORD_ABORTING] = {"ABORTING", IN(COORD_ABORTED)},
    [COORD_ABORTED] = {"ABORTED", 0},
    [COORD_FAILED] = {"FAILED", 0},
    [COORD_TAKING_OVER] = {"TAKING_OVER",
                           IN(COORD_PLACING) | IN(COORD_RUNNING) | IN(COORD_CAPTURING) |
                               IN(COORD_ENDING) | CUT_SHORT},
};
static const struct bspz_states phases = {"Processor Zero", COORD_PHASE_COUNT, rows};

/* The only function that changes the state. */
void coord_move(struct coord *state, enum coord_phase to)
{
    enum coord_phase from = state->phase;
    state->phase = (enum coord_phase)bspz_states_move(&phases, from, to);
    if (state->config.moved)
        state->config.moved(state->config.context, from, to);
}

const char *coord_phase_name(enum coord_phase phase)
{
    return bspz_states_name(&phases, phase);
}

/* ---- Effects and complaints --------------------------------------------------------------- */

void coord_address(const struct coord *state, struct wire_envelope *envelope)
{
    memcpy(envelope->job, state->config.job, WIRE_JOB_SIZE);
    envelope->term = state->config.term;
}

struct coord_effect *coord_add_effect(struct coord *state, struct coord_effects *effects,
                                      enum coord_effect_kind kind)
{
    assert(effects->count < COORD_EFFECTS_MAX);
    struct coord_effect *effect = &effects->items[effects->count++];
    /* Messages, timers, the end. */
    assert(effects->count == 1 || kind <= COORD_EFFECT_SEND || effect[-1].kind <= kind);
    *effect = (struct coord_effect){.kind = kind, .message.envelope.superstep = state->superstep};
    coord_address(state, &effect->message.envelope);
    return effect;
}

struct wire_message *coord_say(struct coord *state, struct coord_effects *effects,
                               enum wire_kind kind)
{
    bool to_bsprun = wire_way(kind) == WIRE_WAY_TO_BSPRUN;
    assert(to_bsprun || wire_way(kind) == WIRE_WAY_FROM_ZERO);
    /* No other effect may precede one that makes something durable. */
    assert((kind != WIRE_PERSIST && kind != WIRE_CHOSEN) || effects->count == 0);
    assert(effects->count == 0 || effects->items[effects->count - 1].kind <= COORD_EFFECT_SEND);
    struct coord_effect *effect =
        coord_add_effect(state, effects, to_bsprun ? COORD_EFFECT_TELL : COORD_EFFECT_SEND);
    effect->message.kind = kind;
    return &effect->message;
}

void coord_set_timer(struct coord *state, struct coord_effects *effects, enum coord_timer timer,
                     uint64_t milliseconds)
{
    struct coord_effect *effect = coord_add_effect(state, effects, COORD_EFFECT_SET_TIMER);
    effect->timer = timer;
    effect->milliseconds = milliseconds;
}

int coord_broken(struct coord_effects *effects, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(effects->complaint, sizeof(effects->complaint), format, arguments);
    va_end(arguments);
    return -EPROTO;
}
