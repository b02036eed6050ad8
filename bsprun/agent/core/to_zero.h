/* to_zero.h - messages of a node agent to Processor Zero, here or on another host. */
#ifndef BSPRUN_AGENT_TO_ZERO_H
#define BSPRUN_AGENT_TO_ZERO_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/wire.h"

struct agent;
struct death; /* bsprun/process.h */

/* Sends a message; immediate answers of Processor Zero here are handled before this returns. */
void agent_tell_zero(struct agent *agent, struct wire_message *message);
/* Whether there is a Processor Zero, on any host, whose term is not over. */
bool agent_zero_decides(const struct agent *agent);
/* The other fields of ARRIVE are those of `arrive`. */
void agent_arrived(struct agent *agent, uint64_t superstep, const struct wire_arrive *arrive);
/* RANK_EXITED; past_end: that is what the text says. */
void agent_rank_exited(struct agent *agent, int pid, const struct death *death, bool past_end,
                       const char *text);

#endif
