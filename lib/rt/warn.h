/* warn.h - warnings of calls that are legal but doubtful, once per place and job.
 *
 * A warning is delayed to the next barrier, where all ranks of all hosts learn of it: the lowest of
 * those with the same warning prints it.  Enabled by BSP_WARN=1 or bspcc -fwarn-bsp; but
 * BSPZ_WARN_TAG_SIZE always at library level 0, and once per job whatever the place.
 */
#ifndef BSPZ_RT_WARN_H
#define BSPZ_RT_WARN_H

#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

enum bspz_warning {
    BSPZ_WARN_NONE,
    BSPZ_WARN_TAG_SIZE,   /* a send after bsp_set_tagsize in the same superstep */
    BSPZ_WARN_TAG_UNUSED, /* a tag passed while tags have no bytes */
    BSPZ_WARN_CUT,        /* bsp_move into too small an area */
    BSPZ_WARN_UNREAD, /* messages unread at the end of the superstep in which they could be read */
    BSPZ_WARN_COLLECTIVE,  /* puts or gets pending at a collective operation */
    BSPZ_WARN_LOST_SENDS,  /* messages sent before it, which it may discard */
    BSPZ_WARN_LOST_UNREAD, /* messages not read before it */
};

/* Records a warning of this call.  The caller has checked that it is enabled. */
BSPZ_COLD void bspz_warn_later(enum bspz_warning kind, const char *function, int line,
                               const char *file, const char *format, ...) BSPZ_PRINTF(5, 6);

/* Records a warning of the messages that the barrier `function` at this place discards. */
BSPZ_COLD void bspz_warn_unread(const char *function, int line, const char *file);
BSPZ_COLD void bspz_warn_before_collective(const char *function, int line, const char *file);

/* Writes the recorded warning to this rank's line of the next barrier; returns the flags for it. */
BSPZ_COLD uint32_t bspz_warnings_tell(struct bspz_line *line);
extern unsigned bspz_warnings_left;
static inline uint32_t bspz_warnings_publish(struct bspz_line *line)
{
    return bspz_likely(bspz_warnings_left == 0) ? 0 : bspz_warnings_tell(line);
}

/* At a barrier that all ranks have reached, one of them with a warning.  `last`: it is the last
 * barrier. */
BSPZ_COLD void bspz_warnings_settle(bool last);

#pragma GCC visibility pop

#endif
