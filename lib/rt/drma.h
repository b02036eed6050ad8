/* drma.h - what the calls of drma.c and their execution at the barrier (drma_apply.c) share. */
#ifndef BSPZ_RT_DRMA_H
#define BSPZ_RT_DRMA_H

#include "lib/rt/registration.h"
#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

#define BSPZ_DISPLACED 0x20000000u /* slot flag: no bounds, see Miller library */

/* The call that wrote a record, for messages. */
const char *bspz_drma_function(uint32_t slot_flags, bool get);

#pragma GCC visibility pop

#endif
