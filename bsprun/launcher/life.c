/* life.c - the phases of bsprun's job; see life.h. */
#include "bsprun/launcher/life.h"

#include "lib/base/states.h"

#define TO BSPZ_STATES_TO

/* Directly to SAID: an agent to which START cannot be sent, or that was lost when nothing is rolled
 * back, ends the job without Processor Zero. */
static const struct bspz_states_row rows[LIFE_STATE_COUNT] = {
    [LIFE_WORKING] = {"working", TO(LIFE_OVER) | TO(LIFE_SAID)},
    [LIFE_OVER] = {"over", TO(LIFE_FLUSHED)},
    [LIFE_FLUSHED] = {"flushed", TO(LIFE_SAID)},
    [LIFE_SAID] = {"said", TO(LIFE_CLOSED)},
    [LIFE_CLOSED] = {"closed", 0},
};
static const struct bspz_states states = {"bsprun's job", LIFE_STATE_COUNT, rows};

void life_move(struct life *life, enum life_state to)
{
    life->state = (enum life_state)bspz_states_move(&states, life->state, to);
}
