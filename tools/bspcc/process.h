/* Running the compilers, and the private directory for generated files. */
#ifndef BSPZ_BSPCC_PROCESS_H
#define BSPZ_BSPCC_PROCESS_H

#include <stdbool.h>

#include "tools/bspcc/arguments.h"

/* Replaces this process by the command; does not return.  Only while no temporary file is in use.
 */
void become(struct arguments *command, bool show) __attribute__((noreturn));

/* Runs the command and returns its exit status; 128 + n when signal n ended it.  A HUP, INT or
 * TERM sent to this process is passed on; once the command has ended, the temporary directory is
 * removed and this process dies of the signal too. */
int run(struct arguments *command, bool show);

/* The same, with the standard output in this file. */
int run_into(struct arguments *command, bool show, const char *output);

/* The same, and nobody sees what the command prints. */
int run_unheard(struct arguments *command);

/* A path in the private directory, which is made on first use (below $TMPDIR, else /tmp). */
char *temporary_path(const char *name);

/* A directory in there, which is made. */
char *temporary_subdirectory(const char *name);

/* Makes a file outside of that directory, which is removed with it.  False: there is one already,
 * or it cannot be made. */
bool temporary_elsewhere(const char *path);

/* Removes the private directory, its contents, and the files elsewhere; harmless when there are
 * none. */
void remove_temporary_directory(void);

#endif
