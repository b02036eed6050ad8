/* life.c - how far bsprun is with its job; see life.h. */
#include "bsprun/launcher/life.h"

#include <assert.h>

#define IN(state) (1u << (state))

/* Straight to SAID: an agent that cannot be told what to run, or was lost where nothing is rolled
 * back, ends the job without a word of Processor Zero. */
static const unsigned next[LIFE_STATE_COUNT] = {
    [LIFE_WORKING] = IN(LIFE_OVER) | IN(LIFE_SAID),
    [LIFE_OVER] = IN(LIFE_FLUSHED),
    [LIFE_FLUSHED] = IN(LIFE_SAID),
    [LIFE_SAID] = IN(LIFE_CLOSED),
    [LIFE_CLOSED] = 0,
};

void life_move(struct life *life, enum life_state to)
{
    assert(next[life->state] & IN(to));
    life->state = to;
}
