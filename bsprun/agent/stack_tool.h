/* stack_tool.h - the command that prints the C stack of a process: eu-stack, or gdb. */
#ifndef BSPRUN_AGENT_STACK_TOOL_H
#define BSPRUN_AGENT_STACK_TOOL_H

#include <sys/types.h>

#include "bsprun/agent/core/tool.h"

#define STACK_TOOL_MS 5000u /* for one process */

struct stack_tool {
    char *path; /* owned; NULL: there is none */
    bool is_gdb;
};

/* Looks for it in PATH, anew. */
void stack_tool_find(struct stack_tool *tool);
void stack_tool_free(struct stack_tool *tool);
/* "eu-stack" or "gdb". */
const char *stack_tool_name(const struct stack_tool *tool);
/* As tool_start; there must be one. */
struct tool *stack_tool_start(const struct stack_tool *tool, struct agent *agent, pid_t ospid,
                              tool_done *done, void *context);

#endif
