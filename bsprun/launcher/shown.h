/* shown.h - records of what was shown beyond a snapshot, in the job's directory: where a job is
 * saved before it has come again to where its output was, a bsprun that restarts it does not show
 * that output again.
 *
 * Each record belongs to one snapshot and is used only when the job goes on from that.  Blocking.
 * Functions return 0 or -errno.
 */
#ifndef BSPRUN_SHOWN_H
#define BSPRUN_SHOWN_H

#include "bsprun/launcher/replay.h"

/* Makes the record of that snapshot durable, in place of an earlier one; where nothing was shown
 * beyond it, there is none. */
int shown_save(const char *job_directory, struct replay *replay, struct bspz_snapshot_name name);
/* The job goes on from that snapshot: to be called when nothing has been shown.  -ENOENT: there is
 * no record; -EBADMSG: it is damaged. */
int shown_load(const char *job_directory, struct replay *replay, struct bspz_snapshot_name name);
/* Removes records whose snapshots are gone; none may be in the making. */
void shown_sweep(const char *job_directory);

#endif
