/* debugger.h - whether the agent can start debuggers here, and the terminal they leave behind. */
#ifndef BSPRUN_DEBUGGER_H
#define BSPRUN_DEBUGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "bsprun/options/options.h"

/* The command that opens a window and executes the words behind it: $BSPZERO_XTERM, or "xterm -e".
 */
const char *debugger_window(const struct options *options);

/* What --attach-on-error does here: without a terminal or windows it prints the stack. */
enum wire_attach debugger_attaches(const struct options *options);

/* Whether --debug and --attach-on-error are possible here: there is gdb, and a terminal in whose
 * foreground bsprun runs, or a command that opens windows.  False: `error` says what is missing. */
bool debugger_possible(const struct options *options, char *error, size_t size);

/* The terminal of bsprun, and how it was set. */
struct debugger_terminal {
    int fd; /* 0: none is kept */
    struct termios settings;
};

/* Remembers how the terminal is set, if there is one; sets it so again, as a debugger that was
 * killed does not. */
void debugger_keep_terminal(struct debugger_terminal *terminal);
void debugger_reset_terminal(struct debugger_terminal *terminal);

#endif
