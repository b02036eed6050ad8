/* stack_lines.h - what the output of eu-stack and gdb says; pure. */
#ifndef BSPRUN_AGENT_STACK_LINES_H
#define BSPRUN_AGENT_STACK_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* The frames in the output: lines that begin with '#', what continues them, and the headings of
 * threads when there are several.  Bytes that a terminal might obey are replaced.  At most
 * most - 1 bytes, of whole lines; when some were left out, or `cut` says so, the last line does,
 * too.  For free(); NULL: there are none, or no memory. */
char *stack_lines(const char *output, size_t size, size_t most, bool cut);

/* Whether the output says that the kernel has refused ptrace. */
bool stack_refused(const char *output);

/* What would permit ptrace, for a host with this value of kernel.yama.ptrace_scope; -1: it has
 * none. */
const char *stack_advice(int scope);

#endif
