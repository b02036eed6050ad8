/* join.h - how a node agent comes to a job of several hosts; see join.c. */
#ifndef BSPRUN_AGENT_JOIN_H
#define BSPRUN_AGENT_JOIN_H

#include <stdbool.h>

struct agent;

/* Waits for JOIN on standard input, then calls bsprun.  False: that cannot be, which was said; then
 * the loop ends. */
bool agent_join(struct agent *agent);

#endif
