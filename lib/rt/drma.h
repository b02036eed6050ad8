/* drma.h - what the calls of drma.c and their execution at the barrier (drma_apply.c) share. */
#ifndef BSPZ_RT_DRMA_H
#define BSPZ_RT_DRMA_H

#include "lib/rt/registration.h"
#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

#define BSPZ_DISPLACED 0x20000000u /* slot flag: no bounds, see Miller library */

/* The call that wrote a record, for messages. */
const char *bspz_drma_function(uint32_t slot_flags, bool get);

/* Ends the job: an access of rank `caller` leaves the area that `owner` registered. */
BSPZ_COLD BSPZ_NORETURN void bspz_fail_bounds(const char *function, int caller,
                                              bspz_position position, int owner,
                                              const struct bspz_area *area, uint64_t offset,
                                              uint64_t bytes);

/* BSP_COMPAT=oxford: a negative offset is good where it reaches another area of the owner. */
BSPZ_COLD bool bspz_reaches_other_area(int owner, const struct bspz_area *area, uint64_t offset,
                                       uint64_t bytes);

/* Does [offset, offset + bytes) lie inside the area?  `bytes` up to 2^63 - 1. */
static inline bool bspz_fits(int owner, const struct bspz_area *area, uint64_t offset,
                             uint64_t bytes)
{
    return bspz_likely(bytes <= area->bytes && offset <= area->bytes - bytes) ||
           bspz_reaches_other_area(owner, area, offset, bytes);
}

#pragma GCC visibility pop

#endif
