/* save_ahead.h - a process that is restored ahead, as bspz_restore sees it. */
#ifndef BSPZ_RT_SAVE_AHEAD_H
#define BSPZ_RT_SAVE_AHEAD_H

#include <stdbool.h>

#include "ckpt/capture/capture.h"
#include "lib/rt/rt.h"
#include "lib/shm/ahead.h"

struct bspz_ahead {
    int socket; /* -1: this process is a rank, or was never restored ahead */
};

/* Reads BSPZ_ENV_AHEAD.  False: this process is restored in the usual way. */
BSPZ_HIDDEN bool bspz_ahead_begin(struct bspz_ahead *ahead);

/* For bspz_restore_plan.more: answers the last order, and waits for the next.  Returns the number
 * of newer images in `sources`, then *name is that of the newest; 0: none, and the process goes on;
 * or a negative errno.  0 at once when it has been told to go on before. */
BSPZ_HIDDEN int bspz_ahead_more(struct bspz_ahead *ahead, struct bspz_image_source *sources,
                                struct bspz_image_name *name);

/* The restore has failed: tells the agent and ends the process, unless it is a rank already, whose
 * failure is reported on the board. */
BSPZ_HIDDEN void bspz_ahead_failed(const struct bspz_ahead *ahead, int error, const char *why);

#endif
