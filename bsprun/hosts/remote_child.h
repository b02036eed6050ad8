/* remote_child.h - one child that starts a program on another host: without a terminal, with pipes
 * as its standard streams. */
#ifndef BSPRUN_REMOTE_CHILD_H
#define BSPRUN_REMOTE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "bsprun/process.h"

struct remote_child {
    pid_t pid;
    int pidfd;
    int in, out, err; /* our ends, non-blocking; out -1: same as err */
};

/* Executes the command, looked up in PATH, in a session of its own.  `signals`: its dispositions,
 * NULL: inherited.  It gets SIGTERM when this process dies. 0 or the error, including that of
 * exec. */
int remote_child_start(struct remote_child *child, char *const *command, bool own_output,
                       const struct process_signals *signals);

#endif
