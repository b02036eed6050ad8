/* states.h - machines of named states: a table of the moves that are allowed, one function that moves. */
#ifndef BSPRUN_AGENT_STATES_H
#define BSPRUN_AGENT_STATES_H

#include <stdbool.h>

/* A set of states, for `next`. */
#define STATES_TO(state) (1u << (state))

struct states {
    const char *what; /* "a job" */
    unsigned count;
    const struct states_row {
        const char *name;
        unsigned next; /* those that may follow */
    } *rows;           /* by state */
};

/* Whether the table allows the move. */
bool states_allow(const struct states *states, unsigned from, unsigned to);
/* The new state.  A move that the table does not allow is a defect of the agent and ends it. */
unsigned states_move(const struct states *states, unsigned from, unsigned to);

#endif
