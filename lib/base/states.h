/* states.h - state machines: a table of named states and permitted transitions, and the function
 * that changes the state. */
#ifndef BSPZ_BASE_STATES_H
#define BSPZ_BASE_STATES_H

#include <stdbool.h>

/* A set of states, for `next`. */
#define BSPZ_STATES_TO(state) (1u << (state))

struct bspz_states {
    const char *what; /* "a job" */
    unsigned count;   /* at most 32 */
    const struct bspz_states_row {
        const char *name;
        unsigned next; /* set of permitted next states */
    } * rows;          /* by state */
};

/* "unknown": the table has no such state. */
const char *bspz_states_name(const struct bspz_states *states, unsigned state);
/* Whether the table allows the move. */
bool bspz_states_allow(const struct bspz_states *states, unsigned from, unsigned to);
/* Returns the new state.  A transition that the table does not allow is a defect and ends the
 * program with a line on stderr and SIGABRT. */
unsigned bspz_states_move(const struct bspz_states *states, unsigned from, unsigned to);

#endif
