/* life.h - the phases of bsprun's job, visible to all modules, and their common clock.
 */
#ifndef BSPRUN_LIFE_H
#define BSPRUN_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/clock.h"

enum life_state {
    LIFE_WORKING,
    LIFE_OVER,    /* the job has ended: waits for the rest of the output */
    LIFE_FLUSHED, /* all output has arrived: waits for slow readers */
    LIFE_SAID,    /* the cause has been reported: the agents leave */
    LIFE_CLOSED,  /* everything is closed */
    LIFE_STATE_COUNT
};

struct life {
    enum life_state state; /* changed by life_move alone */
    int signals;           /* requests of the end so far */
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
