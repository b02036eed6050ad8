/* start.h - starting the node agent. */
#ifndef BSPRUN_START_H
#define BSPRUN_START_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bsprun/process.h"

#define AGENT_NAME "bspnode"

/* The path of the agent, beside this program. */
bool start_agent_path(char *path, size_t size);

/* Starts the agent with one end of a socket pair; returns the other, or -1 with a message in
 * `failure`.  It gets the dispositions of `signals`, and keeps the descriptor `hold` open as long
 * as it lives (-1: none).  join: it is one of several, and waits for JOIN. */
int start_agent(const struct process_signals *signals, int hold, bool join, pid_t *agent,
                char *failure, size_t size);

#endif
