/* clock.h - the clock of a node agent, which its tests replace by one of theirs. */
#ifndef BSPRUN_AGENT_CLOCK_H
#define BSPRUN_AGENT_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a clock that does not go back. */
uint64_t agent_now_ns(void);

#endif
