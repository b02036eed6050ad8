/* program.h - starts the user's program, which becomes process 0. */
#ifndef BSPRUN_AGENT_PROGRAM_H
#define BSPRUN_AGENT_PROGRAM_H

#include "bsprun/verdict.h"
#include "lib/wire/wire.h"

struct agent;

/* Starts and watches it; on failure fills *verdict and returns false. */
bool agent_start_program(struct agent *agent, const struct wire_start *start,
                         struct verdict *verdict);

#endif
