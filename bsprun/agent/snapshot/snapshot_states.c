/* snapshot_states.c - see snapshot_states.h. */
#include "bsprun/agent/snapshot/snapshot_states.h"

#include "lib/base/states.h"

#define TO BSPZ_STATES_TO

static const struct bspz_states_row ticket_rows[TICKET_STATES] = {
    [TICKET_NONE] = {"none", TO(TICKET_CAPTURING) | TO(TICKET_CAPTURED)},
    [TICKET_CAPTURING] = {"capturing", TO(TICKET_CAPTURED) | TO(TICKET_WITHHELD) |
                                           TO(TICKET_DOOMED) | TO(TICKET_PASSED)},
    [TICKET_DOOMED] = {"doomed", TO(TICKET_CAPTURED) | TO(TICKET_PASSED)},
    [TICKET_PASSED] = {"passed", TO(TICKET_CAPTURED)},
    [TICKET_WITHHELD] = {"withheld", TO(TICKET_FAILED)},
    [TICKET_CAPTURED] = {"captured", TO(TICKET_PERSISTED) | TO(TICKET_FAILED)},
    [TICKET_PERSISTED] = {"persisted", TO(TICKET_FAILED)},
    [TICKET_FAILED] = {"failed", 0},
};
static const struct bspz_states ticket_states = {"a snapshot", TICKET_STATES, ticket_rows};

static const struct bspz_states_row making_rows[MAKING_STATES] = {
    [MAKING_NONE] = {"none", TO(MAKING_NONE) | TO(MAKING_STAGING) | TO(MAKING_REMOTE)},
    [MAKING_STAGING] = {"staging", TO(MAKING_STAGED) | TO(MAKING_NONE)},
    [MAKING_STAGED] = {"staged", TO(MAKING_NONE)},
    [MAKING_REMOTE] = {"remote", TO(MAKING_REMOTE_SEEN) | TO(MAKING_NONE)},
    [MAKING_REMOTE_SEEN] = {"remote, seen", TO(MAKING_NONE)},
};
static const struct bspz_states making_states = {"the making of processes", MAKING_STATES,
                                                 making_rows};

bool ticket_may_move(enum ticket_state from, enum ticket_state to)
{
    return bspz_states_allow(&ticket_states, from, to);
}

void ticket_move(enum ticket_state *state, enum ticket_state to)
{
    *state = (enum ticket_state)bspz_states_move(&ticket_states, *state, to);
}

bool ticket_is_recording(enum ticket_state state)
{
    return state == TICKET_CAPTURING || state == TICKET_DOOMED || state == TICKET_PASSED;
}

void making_move(enum making_state *state, enum making_state to)
{
    *state = (enum making_state)bspz_states_move(&making_states, *state, to);
}

bool making_is_remote(enum making_state state)
{
    return state == MAKING_REMOTE || state == MAKING_REMOTE_SEEN;
}
