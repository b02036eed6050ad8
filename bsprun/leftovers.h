/* leftovers.h - leftovers of killed jobs of this user below $TMPDIR: private directories of
 * snapshots (bspzero-job-*), and those kept for such jobs on hosts that do not share bsprun's
 * (bspzero-store-UID-*).  Images of jobs with --ckpt are not among them. */
#ifndef BSPRUN_LEFTOVERS_H
#define BSPRUN_LEFTOVERS_H

#define LEFTOVERS_JOB   "bspzero-job-"
#define LEFTOVERS_STORE "bspzero-store-"
#define LEFTOVERS_MARK  "temporary" /* in the directory of a job that is kept as long as it runs */

/* Removes those whose owner's lock is free, without messages.  Cost: a listing of $TMPDIR. */
void leftovers_sweep(void);

/* Removes a directory and its contents, on one file system. */
void leftovers_remove(const char *path);

#endif
