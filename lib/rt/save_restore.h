/* save_restore.h - what a restoring process hands over to the one it becomes. */
#ifndef BSPZ_RT_SAVE_RESTORE_H
#define BSPZ_RT_SAVE_RESTORE_H

#include <stdint.h>

#include "lib/rt/rt.h"

#define BSPZ_HANDOVER_BOARD 3 /* which of its job descriptors is the board; 0 to 2 come before */

struct bspz_handover {
    int32_t pid; /* the rank: snapshot 0 is where all of them begin */
};

/* Tells the agent why and ends this process. */
BSPZ_HIDDEN BSPZ_NORETURN void bspz_restore_failed(int error, const char *why);

#endif
