/* watch.h - bspstat --watch: a job on the whole terminal, until a key ends that. */
#ifndef BSPRUN_WATCH_H
#define BSPRUN_WATCH_H

#include <sys/types.h>

/* Shows the job, or with 0 those that there are one at a time, asking each `interval` seconds.
 * Returns the exit status: 0; 1 when a job that was named does not run, or does not answer at the
 * beginning (reported); 2 without a terminal (reported).  A signal that ends the process does so
 * when the terminal has been restored. */
int watch_job(pid_t job, double interval);

#endif
