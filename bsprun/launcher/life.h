/* life.h - how far bsprun is with its job, for all its modules to see, and the clock that they
 * share.
 */
#ifndef BSPRUN_LIFE_H
#define BSPRUN_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/clock.h"

enum life_state {
    LIFE_WORKING,
    LIFE_OVER,    /* the job has ended: the rest of the output is awaited */
    LIFE_FLUSHED, /* no more output will come: what waits for a slow reader is awaited */
    LIFE_SAID,    /* why it ended has been said: the agents leave */
    LIFE_CLOSED,  /* nothing is left to do */
    LIFE_STATE_COUNT
};

struct life {
    enum life_state state; /* changed by life_move alone */
    int signals;           /* asking for the end, so far */
};

void life_move(struct life *life, enum life_state to);

static inline bool life_is_over(const struct life *life)
{
    return life->state >= LIFE_OVER;
}

static inline bool life_is_said(const struct life *life)
{
    return life->state >= LIFE_SAID;
}

/* Milliseconds of CLOCK_MONOTONIC. */
static inline uint64_t launcher_now_ms(void)
{
    return bspz_now_ns() / BSPZ_NS_PER_MS;
}

#endif
