/* clock.h - the clock of a node agent, which tests replace. */
#ifndef BSPRUN_AGENT_CLOCK_H
#define BSPRUN_AGENT_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a monotonic clock. */
uint64_t agent_now_ns(void);

#endif
