/* launcher.h - bsprun at work: starts the agent, hands out terms, shows what comes. */
#ifndef BSPRUN_LAUNCHER_H
#define BSPRUN_LAUNCHER_H

#include "bsprun/options.h"
#include "bsprun/process.h"

/* Runs the job; the exit status of bsprun.  `signals`: as bsprun was started. */
int launcher_run(const struct options *options, const struct process_signals *signals);

#endif
