/* warn.h - calls that are legal and doubtful: each place is told once per job.
 *
 * A warning waits for the next barrier, where all ranks learn of it, on whatever host they are: the
 * lowest of those that would say the same says it.  With BSP_WARN=1 or bspcc -fwarn-bsp; but
 * BSPZ_WARN_TAG_SIZE always at library level 0, and once per job whatever the place.
 */
#ifndef BSPZ_RT_WARN_H
#define BSPZ_RT_WARN_H

#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

enum bspz_warning {
    BSPZ_WARN_NONE,
    BSPZ_WARN_TAG_SIZE,   /* a send behind bsp_set_tagsize in the same superstep */
    BSPZ_WARN_TAG_UNUSED, /* a tag given while tags have no bytes */
    BSPZ_WARN_CUT,        /* bsp_move into too small an area */
    BSPZ_WARN_UNREAD, /* messages left at the end of the superstep in which they could be read */
    BSPZ_WARN_COLLECTIVE,  /* puts or gets under way at a collective operation */
    BSPZ_WARN_LOST_SENDS,  /* messages sent before it, which it may discard */
    BSPZ_WARN_LOST_UNREAD, /* messages not read before it */
};

/* Remembers what is to be said of this call.  The caller has seen that it is wanted. */
BSPZ_COLD void bspz_warn_later(enum bspz_warning kind, const char *function, int line,
                               const char *file, const char *format, ...) BSPZ_PRINTF(5, 6);

/* What the barrier `function` at this place discards. */
BSPZ_COLD void bspz_warn_unread(const char *function, int line, const char *file);
BSPZ_COLD void bspz_warn_before_collective(const char *function, int line, const char *file);

/* In the own line of the barrier to come: what is remembered; the flags for it. */
BSPZ_COLD uint32_t bspz_warnings_tell(struct bspz_line *line);
extern unsigned bspz_warnings_left;
static inline uint32_t bspz_warnings_publish(struct bspz_line *line)
{
    return bspz_likely(bspz_warnings_left == 0) ? 0 : bspz_warnings_tell(line);
}

/* At a barrier that all ranks have come to, one of them with a warning.  `last`: there is none
 * after it. */
BSPZ_COLD void bspz_warnings_settle(bool last);

#pragma GCC visibility pop

#endif
