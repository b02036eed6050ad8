/* states.c - see states.h. */
#include "lib/base/states.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const char *bspz_states_name(const struct bspz_states *states, unsigned state)
{
    return state < states->count ? states->rows[state].name : "unknown";
}

bool bspz_states_allow(const struct bspz_states *states, unsigned from, unsigned to)
{
    return from < states->count && to < states->count &&
           states->rows[from].next & BSPZ_STATES_TO(to);
}

unsigned bspz_states_move(const struct bspz_states *states, unsigned from, unsigned to)
{
    if (!bspz_states_allow(states, from, to)) {
        fprintf(stderr, "%s: internal error: %s moved from %s to %s\n",
                program_invocation_short_name, states->what, bspz_states_name(states, from),
                bspz_states_name(states, to));
        abort();
    }
    return to;
}
