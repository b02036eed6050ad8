/* follow.h - the status of jobs again and again, for programs that read. */
#ifndef BSPRUN_FOLLOW_H
#define BSPRUN_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FOLLOW_LEAST 0.1 /* seconds */
#define FOLLOW_MOST  86400.0

/* Prints a line of JSON for each of the jobs, now and after each interval in seconds, and for one
 * that ends {"pid": N, "ended": true}; without jobs (count 0), for all that there are, also those
 * that begin meanwhile.  Returns when none is left, or when standard output cannot be written
 * (false, reported), or a named job does not run or does not answer at the beginning (false,
 * reported). */
bool follow_jobs(const pid_t *jobs, size_t count, double interval);

#endif
