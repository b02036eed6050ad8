/* replay.h - output is shown once, however often processes go back to a snapshot.
 *
 * What each process writes to each stream has a position: how many bytes came before.  A mark says
 * where all streams stood when a snapshot was taken.  After going back to a mark, what comes is
 * compared with what was shown from there on, and is shown only from where the first execution had
 * got to, or where the two differ.  What was shown before the newest committed snapshot is not
 * remembered any more, only how much it was.
 *
 * Pure but for the file of the spool.
 */
#ifndef BSPRUN_REPLAY_H
#define BSPRUN_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/launcher/spool.h"
#include "coordinator/core/lineage.h"

#define REPLAY_MARKS_MAX 16u /* the oldest are forgotten */

/* Shows bytes; 0 or -errno. */
typedef int replay_show(void *context, int pid, int stream, const char *data, size_t size);

struct replay;

/* What is remembered lies in the spool, which must stay.  NULL: no memory. */
struct replay *replay_new(struct spool *spool, replay_show *show, void *context);
void replay_free(struct replay *replay); /* NULL is fine */

/* A piece of output of process pid (-1: unknown), stream 1 or 2.  0; or what show said, or why it
 * cannot be remembered (then it has been shown). */
int replay_piece(struct replay *replay, int pid, int stream, const char *data, size_t size);

/* The snapshot of that name is being taken: all streams stand where it will begin from.  0 or
 * -ENOMEM: going back there will be impossible. */
int replay_mark(struct replay *replay, struct coord_name name);
/* That snapshot is committed: nobody goes back to where an older one began. */
void replay_commit(struct replay *replay, struct coord_name name);
/* The job goes on from that snapshot.  False: it is not known where that was; then nothing that was
 * shown before is recognized. */
bool replay_back(struct replay *replay, struct coord_name name);
/* Nothing has been shown yet, and that snapshot is where it begins. */
int replay_begin(struct replay *replay, struct coord_name name);

/* Whether the output of a process has differed from what it had been, since the last call of this:
 * it was shown from the beginning of the line on. */
bool replay_differed(struct replay *replay, int *pid, int *stream);
/* Whether a process has written less than before: to be asked when all have come to their end. */
bool replay_behind(const struct replay *replay, int *pid, int *stream);

#endif
