/* leftovers.h - what jobs of this user that were killed have left below $TMPDIR: directories of
 * snapshots that nobody asked for (bspzero-job-*), and what was kept for such jobs on hosts that do
 * not see bsprun's (bspzero-store-UID-*).  Images of jobs with --ckpt are not among them. */
#ifndef BSPRUN_LEFTOVERS_H
#define BSPRUN_LEFTOVERS_H

#define LEFTOVERS_JOB   "bspzero-job-"
#define LEFTOVERS_STORE "bspzero-store-"
#define LEFTOVERS_MARK  "temporary" /* in the folder of a job that is kept as long as it runs */

/* $TMPDIR, or /tmp. */
const char *leftovers_root(void);

/* Removes them, where the lock of their owner is free.  Says nothing, and takes about as long as a
 * listing of $TMPDIR. */
void leftovers_sweep(void);

/* Removes a folder and all in it, on one file system. */
void leftovers_remove(const char *path);

#endif
