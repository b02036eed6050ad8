/* debug.h - debuggers for processes of this host (--debug, --attach-on-error): gdb in the terminal
 * of bsprun, or each in a window. */
#ifndef BSPRUN_AGENT_DEBUG_H
#define BSPRUN_AGENT_DEBUG_H

#include <stdbool.h>

#include "lib/wire/wire.h"

struct agent;

/* START: which processes get a debugger, and when.  0 or -ENOMEM. */
int agent_debug_open(struct agent *agent, const struct wire_start *start);

/* All processes are ready to run.  True: debuggers are started, and `let_run` is called from the
 * loop when each has its process, or has ended without.  False: no process here gets one; or one
 * that the job does not have was asked for, which ends the job. */
bool agent_debug_begin(struct agent *agent, const struct wire_run *order,
                       void (*let_run)(struct agent *agent, const struct wire_run *order));

/* Attends to processes that fail and wait for a debugger: each gets one, or its stack is printed.
 * They go on when no debugger is left; while one has the terminal, others get none. */
void agent_debug_scan(struct agent *agent);

/* Whether a debugger uses the terminal: Ctrl-C is for it alone. */
bool agent_debug_in_terminal(const struct agent *agent);
/* Whether a debugger runs, for which the agent of a job that has ended well waits; when the last
 * one ends the agent continues by itself. */
bool agent_debug_runs(const struct agent *agent);

/* The agent ends: does not wait any more.  When the loop has ended: frees the memory. */
void agent_debug_close(struct agent *agent);
void agent_debug_free(struct agent *agent);

#endif
