/* tool.h - runs a command of the system for the agent, such as a debugger, while the loop goes on.
 *
 * The command gets /dev/null as its stdin, a process group of its own, and dies with the agent.
 * What it writes to stdout and stderr is kept up to TOOL_OUTPUT_MAX bytes; one that writes more, or
 * takes longer than its time, is killed with its group.
 */
#ifndef BSPRUN_AGENT_TOOL_H
#define BSPRUN_AGENT_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TOOL_OUTPUT_MAX 262144u

struct agent;
struct tool;

enum tool_end {
    TOOL_ENDED, /* by itself */
    TOOL_CUT,   /* it wrote too much */
    TOOL_SLOW   /* its time was over */
};

/* Called once, from the loop.  `output` ends with a NUL, and is valid during the call. */
typedef void tool_done(void *context, enum tool_end end, const char *output, size_t size);

/* The path of a command by PATH of the agent, for free(); NULL: there is none. */
char *tool_find(const char *name);

/* Starts the command `arguments`, of which the first is its path, with the agent's environment but
 * for what would make a debugger ask servers.  NULL: it could not be started, for errno. */
struct tool *tool_start(struct agent *agent, char **arguments, unsigned limit_ms, tool_done *done,
                        void *context);

/* Kills it, if it still runs; `done` is not called any more, and `tool` not valid. */
void tool_cancel(struct tool *tool);

/* Whether a child of the agent is a tool, which this module reaps. */
bool tool_owns(const struct agent *agent, pid_t ospid);

#endif
