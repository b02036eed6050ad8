/* replay_inside.h - the state of replay.h.
 *
 *   replay.c         what is shown, and marks
 *   replay_record.c  what was shown beyond a mark, in a file
 */
#ifndef BSPRUN_REPLAY_INSIDE_H
#define BSPRUN_REPLAY_INSIDE_H

#include "bsprun/launcher/replay.h"
#include "bsprun/launcher/unattributed.h"

struct stream {
    int pid, number;
    uint64_t at;          /* position of the present execution, never beyond the log's end */
    uint64_t kept_from;   /* bytes before are dropped, or irrelevant */
    struct spool_log log; /* its end: the total shown */
};

struct mark {
    struct bspz_snapshot_name name;
    bool committed;
    uint32_t count; /* number of streams at that time */
    uint64_t *positions;
    uint64_t unattributed;
};

struct replay {
    struct spool *spool;
    replay_show *show;
    void *context;
    struct stream *streams;
    uint32_t stream_count;
    struct unattributed unattributed;
    struct mark marks[REPLAY_MARKS_MAX];
    struct bspz_snapshot_name spared; /* term 0: none */
    uint32_t mark_count;
    bool differed;
    int differed_pid, differed_stream;
};

/* ---- replay.c ---- */

/* The stream, made if there is none; NULL: no memory. */
struct stream *replay_stream(struct replay *replay, int pid, int number);
/* NULL: there is no such mark. */
struct mark *replay_find(struct replay *replay, struct bspz_snapshot_name name);

#endif
