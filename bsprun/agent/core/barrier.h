/* barrier.h - releases the ranks of a host as Processor Zero decides. */
#ifndef BSPRUN_AGENT_BARRIER_H
#define BSPRUN_AGENT_BARRIER_H

#include <stdint.h>

#include "lib/shm/barrier.h"
#include "lib/shm/board.h"

struct agent;

/* All processes of this host are set up: enables supersteps between hosts, and tells Processor
 * Zero. */
void agent_all_ready(struct agent *agent);
/* Tells Processor Zero so again, or another one. */
void agent_say_all_ready(struct agent *agent);
/* Answers the ranks that wait at the barrier that ends the superstep; they consult again from
 * superstep `consult` on. */
void agent_answer(struct agent *agent, uint64_t superstep, enum bspz_decision decision,
                  uint64_t consult);

#endif
