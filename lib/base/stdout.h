/* stdout.h - the end of a command's standard output. */
#ifndef BSPZ_BASE_STDOUT_H
#define BSPZ_BASE_STDOUT_H

#include <stdbool.h>

/* Flushes the standard output.  False: some of it is lost (a full disk), now or before, and a line
 * on stderr, "COMMAND: standard output: REASON", says so, once. */
bool bspz_stdout_flushed(const char *command);

/* Writes a text to the standard output, which may be longer than its buffer.  False: it cannot be
 * written, which has been said as above; what is left in the buffer is dropped. */
bool bspz_stdout_text(const char *command, const char *text);

#endif
