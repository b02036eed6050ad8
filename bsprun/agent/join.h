/* join.h - how a node agent joins a job of several hosts; see join.c. */
#ifndef BSPRUN_AGENT_JOIN_H
#define BSPRUN_AGENT_JOIN_H

#include <stdbool.h>

struct agent;

/* Waits for JOIN on standard input, then connects to bsprun.  False: failed, after a message; then
 * the loop ends. */
bool agent_join(struct agent *agent);

#endif
