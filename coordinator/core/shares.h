/* shares.h - the availability of hosts over time: the share of its cores that others leave a job.
 *
 * Sums over seconds can be added up: those of a term, of a job, and of earlier jobs, from which
 * each job begins.  What earlier jobs have seen of a host counts as a few looks of this one, so
 * this job's own measurements soon outweigh it, and a change that this job confirms replaces it.
 *
 * No clock, no I/O.  Numbers that are negative, not finite, or contradict each other count as
 * nothing known.
 */
#ifndef COORD_SHARES_H
#define COORD_SHARES_H

#include <stdbool.h>
#include <stddef.h>

#define SHARE_LOOKS_MOST   4.0 /* looks as which earlier jobs count, at most ... */
#define SHARE_LOOK_SECONDS 5.0 /* ... one for each of so many seconds */

struct share_sums {
    double seconds;
    double sum, squares; /* of the share and of its square, by seconds */
};

/* What is expected of a host. */
struct share {
    double mean, spread; /* 0 to 1, and the standard deviation */
    double looks;        /* what it counts as; 0: nothing is known */
};

/* The host has left the job that share, 0 to 1, for so long. */
void share_add(struct share_sums *sums, double share, double seconds);

/* Whether the sums are of shares from 0 to 1 in a time that is not 0. */
bool share_is_known(const struct share_sums *sums);

/* What earlier jobs have seen of a host, as the beginning of its past in this job. */
struct share share_prior(const struct share_sums *earlier);

#endif
