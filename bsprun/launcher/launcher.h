/* launcher.h - runs a job: starts the agents, elects Processor Zero, shows the output, returns a
 * status.
 */
#ifndef BSPRUN_LAUNCHER_H
#define BSPRUN_LAUNCHER_H

#include "bsprun/options/options.h"
#include "bsprun/process.h"

/* Runs one job by the options; returns the exit status of bsprun.  Completes the options from the
 * program, the environment and the job to restart. */
int launcher_run(struct options *options, const struct process_signals *signals);

#endif
