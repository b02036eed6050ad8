/* clock.h - the clock of a node agent. */
#ifndef BSPRUN_AGENT_CLOCK_H
#define BSPRUN_AGENT_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a clock that does not go back. */
uint64_t agent_now_ns(void);

#endif
