/* opened.h - files that ranks have opened since the snapshot of a rollback.
 *
 * Files open at a snapshot are in the images.  Writes to a file that was opened later, and is still
 * open when a process is lost, are repeated: an appended line would appear twice.  So the agent
 * periodically scans the files that its ranks have open for writing, and restores lengths that it
 * knows.  Ranks are not involved.
 *
 * A length is known if the file was scanned at the snapshot, since it had been open before; if it
 * has not changed since then; or, as 0, if it was created later.  Otherwise a warning is printed
 * for files opened for appending; others are rewritten at the same offsets.  The former contents of
 * a file that was opened and written between two scans are unknown; recording the lengths of all
 * files in a directory at each snapshot would not tell whether later data are ours: they may be
 * another program's log, and are not cut.
 *
 * A file counts as still open if two consecutive scans have found it: files opened briefly to write
 * a line are left to the program.
 */
#ifndef BSPRUN_OPENED_H
#define BSPRUN_OPENED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bsprun/agent/core/outside.h"
#include "lib/base/snapshot.h"

#define OPENED_FILES_MAX 1024u /* most known files; the newest if there are more */
#define OPENED_TEXT      512u

struct opened;

/* Ignores descriptors from before the start of bsprun; `outside` must outlive it.  NULL: no memory.
 */
struct opened *opened_new(const struct outside *outside);
void opened_free(struct opened *opened); /* NULL is fine */

/* Scans the open files of process `ospid`, rank `pid`.  For a process that has ended the last scan
 * is kept.  Cost: some 20 microseconds, and 5 for each file open for writing. */
void opened_look(struct opened *opened, int pid, pid_t ospid);

/* Whether the process had files open for writing when it was last scanned. */
bool opened_writes(const struct opened *opened, int pid);

/* Ranks pause for the snapshot of that name: records the lengths of all known files. */
void opened_snapshot(struct opened *opened, struct bspz_snapshot_name name);

/* The job rolls back to that snapshot, and no process of this host runs: restores lengths.  Calls
 * `tell` with a line for each file whose length is unknown or cannot be restored. */
void opened_back(struct opened *opened, struct bspz_snapshot_name name,
                 void (*tell)(void *context, const char *text), void *context);

#endif
