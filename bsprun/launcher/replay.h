/* replay.h - shows output once, however often processes roll back.
 *
 * Output of each process on each stream has a position: the number of bytes before it.  A mark
 * records the positions of all streams at a snapshot.  After a rollback to a mark, output is
 * compared with that shown from there on, and is shown only after the end of the first execution's
 * output, or from where the two differ.  Output before the newest committed snapshot is dropped,
 * except its length.
 *
 * A restarted job has another bsprun: what was shown beyond the snapshot is read from a record.
 *
 * Pure but for the file of the spool and those of records.
 */
#ifndef BSPRUN_REPLAY_H
#define BSPRUN_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bsprun/launcher/spool.h"
#include "lib/base/snapshot.h"

#define REPLAY_MARKS_MAX 16u /* the oldest are dropped */

/* Shows bytes; 0 or -errno. */
typedef int replay_show(void *context, int pid, int stream, const char *data, size_t size);

struct replay;

/* The log is in the spool, which must outlive it.  NULL: no memory. */
struct replay *replay_new(struct spool *spool, replay_show *show, void *context);
void replay_free(struct replay *replay); /* NULL is fine */

/* A piece of output of process pid (-1: unknown), stream 1 or 2. 0; or the error of show, or of
 * logging it (it has been shown then). */
int replay_piece(struct replay *replay, int pid, int stream, const char *data, size_t size);

/* Records a mark for the snapshot that is being taken. 0, or -ENOMEM: a rollback to it will be
 * impossible. */
int replay_mark(struct replay *replay, struct bspz_snapshot_name name);
/* That snapshot is committed: there will be no rollback to older ones. */
void replay_commit(struct replay *replay, struct bspz_snapshot_name name);
/* There may be a rollback to that older snapshot all the same; term 0: to none. */
void replay_spare(struct replay *replay, struct bspz_snapshot_name name);
/* The job rolls back to that snapshot.  False: there is no such mark; repeated output will not be
 * recognised. */
bool replay_back(struct replay *replay, struct bspz_snapshot_name name);
/* The same for one process, which goes back alone. */
bool replay_back_alone(struct replay *replay, struct bspz_snapshot_name name, int pid);
/* Begins at that snapshot, with nothing shown yet. */
int replay_begin(struct replay *replay, struct bspz_snapshot_name name);

/* Whether output from beyond that mark has been shown; false if there is none. */
bool replay_exceeds(struct replay *replay, struct bspz_snapshot_name name);
/* Writes a record of it. 0 or -errno; -ENOENT: there is no such mark. */
int replay_save(struct replay *replay, struct bspz_snapshot_name name, FILE *file);
/* In place of replay_begin, and before any output: what is in the record has been shown. 0 or
 * -errno; -EBADMSG: it is damaged, or that of another snapshot. */
int replay_load(struct replay *replay, struct bspz_snapshot_name name, FILE *file);

/* Whether the output of a process has differed since the last call; it was shown from the beginning
 * of the line. */
bool replay_differed(struct replay *replay, int *pid, int *stream);
/* Whether a process has written less than before; to be called when all have ended. */
bool replay_behind(const struct replay *replay, int *pid, int *stream);

#endif
