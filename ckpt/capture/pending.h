/* pending.h - pending signals: taken out of the kernel's queues, and put back.
 *
 * The struct is part of images as it is; a change of it is a new BSPZ_PENDING_VERSION. */
#ifndef CKPT_CAPTURE_PENDING_H
#define CKPT_CAPTURE_PENDING_H

#include <stdint.h>

#include "ckpt/capture/arena.h"
#include "ckpt/format/image.h"

#define BSPZ_PENDING_VERSION 1u
#define BSPZ_PENDING_INFO    128 /* bytes of the kernel's siginfo */

struct bspz_pending {
    uint8_t info[BSPZ_PENDING_INFO];
    uint32_t to_thread; /* 1: sent to the thread, 0: to the process */
    uint32_t reserved;
};

#define BSPZ_PENDING_MOST (BSPZ_IMAGE_OPAQUE_MAX / sizeof(struct bspz_pending))

struct bspz_pendings {
    struct bspz_pending *list; /* in the order in which they would be delivered */
    uint32_t count;
};

/* Lists the pending signals of `blocked`; all are still pending afterwards.  All signals must be
 * blocked. 0 or a negative errno: -ENOMEM when there are more than the arena can take; nothing has
 * been touched then.  -EAGAIN when the kernel refuses to take one back, which is lost then
 * (processes of this user have more pending signals than RLIMIT_SIGPENDING allows).  Cost: one
 * system call when none is pending. */
int bspz_pendings_read(struct bspz_pendings *pendings, uint64_t blocked, struct bspz_arena *arena);

/* Makes them pending in this process; all signals must be blocked. 0 or a negative errno. */
int bspz_pendings_put(const struct bspz_pending *list, uint32_t count);

/* Drops all pending signals. */
void bspz_pendings_drop(void);

#endif
