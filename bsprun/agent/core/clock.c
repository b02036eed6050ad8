/* clock.c - see clock.h. */
#include "bsprun/agent/core/clock.h"

#include "lib/base/clock.h"

uint64_t agent_now_ns(void)
{
    return bspz_now_ns();
}
