/* save_restore.h - what a restoring process passes to the restored one. */
#ifndef BSPZ_RT_SAVE_RESTORE_H
#define BSPZ_RT_SAVE_RESTORE_H

#include <stdint.h>

#include "lib/rt/rt.h"

#define BSPZ_HANDOVER_BOARD 3 /* index of the board among its job descriptors, after 0 to 2 */

struct bspz_handover {
    int32_t pid; /* the rank, as all ranks can start from snapshot 0 */
};

/* Reports the reason to the agent and ends this process. */
BSPZ_HIDDEN BSPZ_NORETURN void bspz_restore_failed(int error, const char *why);

#endif
