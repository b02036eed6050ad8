/* opened.h - files that ranks have opened since the snapshot to which the job goes back.
 *
 * What is open at a snapshot is in the images.  What is opened later, written and still open when a
 * process is lost is executed again on top of what is there: a line that is appended would be there
 * twice.  So the agent looks now and then what its ranks have open for writing, and puts lengths
 * back where it knows them.  Ranks do nothing for it.
 *
 * A length is known when the file was looked at when the snapshot was taken, as it had been open
 * before; when it has not been changed since then; or, as 0, when it was made later.  Else there is
 * a warning for files that are appended to; others are written in the same places again.  What a
 * file had in it when it was opened and written between two looks nobody knows any more; the lengths
 * of all files in a folder at each snapshot would tell, but not whether what came behind is ours: it
 * may be another program's log, and is not cut.
 *
 * A file counts as still open when two looks in a row have found it: one that is opened for a
 * moment to write a line is the program's own affair.
 */
#ifndef BSPRUN_OPENED_H
#define BSPRUN_OPENED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bsprun/agent/core/outside.h"
#include "coordinator/core/lineage.h"

#define OPENED_FILES_MAX 1024u /* that are known; of more, the newest */
#define OPENED_TEXT      512u

struct opened;

/* What was open before bsprun was started is not looked at; `outside` must stay.  NULL: no memory. */
struct opened *opened_new(const struct outside *outside);
void opened_free(struct opened *opened); /* NULL is fine */

/* Looks at what the process `ospid`, rank `pid`, has open.  Of one that has ended nothing can be
 * seen: then what was seen last stays.  Some 20 microseconds, and 5 for each file open for writing.
 */
void opened_look(struct opened *opened, int pid, pid_t ospid);

/* The ranks stand still for the snapshot of that name: every known file's length now is that of it.
 */
void opened_snapshot(struct opened *opened, struct coord_name name);

/* The job goes back to that snapshot, and no process of this host runs: puts lengths back.  `tell`
 * is called with a line for each file of which the length is not known, or cannot be put back. */
void opened_back(struct opened *opened, struct coord_name name,
                 void (*tell)(void *context, const char *text), void *context);

#endif
