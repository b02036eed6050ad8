/* launcher.h - bsprun at work: starts the agent, elects, shows what comes back, returns a status.
 */
#ifndef BSPRUN_LAUNCHER_H
#define BSPRUN_LAUNCHER_H

#include "bsprun/options/options.h"
#include "bsprun/process.h"

/* Runs one job as the options say; the exit status of bsprun.  The options are completed by what
 * the program, the environment and the job to restart say. */
int launcher_run(struct options *options, const struct process_signals *signals);

#endif
