/* guard.h - work that uses a library which ends the program when it meets something wrong.
 *
 * The work is done in a child process.  What the library says on the standard error goes nowhere,
 * unless it ends the child: then the user gets one line of it. */
#ifndef BSPSIM_GUARD_H
#define BSPSIM_GUARD_H

#include "tools/bspsim/machine.h"

struct guard_shared {
    char doing[MACHINE_DOING]; /* what the child is about to do, and cannot when it ends there */
};

typedef int guard_work(void *context, struct guard_shared *shared);

/* Does the work, which returns a status and may write to the standard output, and to the standard
 * error lines by bspsim_command_fail.  Returns its status, or STATUS_BAD after a message when it
 * did not come to its end.  If this process is ended, so is the child. */
int guard_run(guard_work *work, void *context);

#endif
