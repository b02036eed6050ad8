/* stacks.h - the C stacks of the processes of this host, for bsprun: by eu-stack or gdb, whichever
 * is in PATH. */
#ifndef BSPRUN_AGENT_STACKS_H
#define BSPRUN_AGENT_STACKS_H

#include "lib/wire/wire.h"

struct agent;

/* Answers the question with one STACK for each process of this host, within its time; a process is
 * stopped for as long as the tool reads its stack.  Drops an older question. */
void agent_stacks_take(struct agent *agent, const struct wire_query_stacks *query);

/* The agent ends: kills the tools.  When the loop has ended: frees the memory. */
void agent_stacks_close(struct agent *agent);
void agent_stacks_free(struct agent *agent);

#endif
