/* states.c - see states.h. */
#include "bsprun/agent/core/states.h"

#include <stdio.h>
#include <stdlib.h>

static const char *name_of(const struct states *states, unsigned state)
{
    return state < states->count ? states->rows[state].name : "nowhere";
}

bool states_allow(const struct states *states, unsigned from, unsigned to)
{
    return from < states->count && to < states->count && states->rows[from].next & STATES_TO(to);
}

unsigned states_move(const struct states *states, unsigned from, unsigned to)
{
    if (!states_allow(states, from, to)) {
        fprintf(stderr, "bspnode: internal error: %s moved from %s to %s\n", states->what,
                name_of(states, from), name_of(states, to));
        abort();
    }
    return to;
}
