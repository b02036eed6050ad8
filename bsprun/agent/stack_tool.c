/* stack_tool.c - see stack_tool.h. */
#include "bsprun/agent/stack_tool.h"

#include <stdio.h>
#include <stdlib.h>

void stack_tool_find(struct stack_tool *tool)
{
    free(tool->path);
    tool->path = tool_find("eu-stack");
    tool->is_gdb = !tool->path;
    if (tool->is_gdb)
        tool->path = tool_find("gdb");
}

void stack_tool_free(struct stack_tool *tool)
{
    free(tool->path);
    tool->path = NULL;
}

const char *stack_tool_name(const struct stack_tool *tool)
{
    return tool->is_gdb ? "gdb" : "eu-stack";
}

struct tool *stack_tool_start(const struct stack_tool *tool, struct agent *agent, pid_t ospid,
                              tool_done *done, void *context)
{
    char number[16];
    char *eu_stack[] = {tool->path, "-s", "-n", "256", "-p", number, NULL};
    char *gdb[] = {tool->path, "-nx",
                   "-nh",      "-batch",
                   "-iex",     "set auto-load off",
                   "-p",       number,
                   "-ex",      "thread apply all backtrace 256",
                   NULL};

    snprintf(number, sizeof number, "%d", (int)ospid);
    return tool_start(agent, tool->is_gdb ? gdb : eu_stack, STACK_TOOL_MS, done, context);
}
