/* input.h - the input of process 0, which is sent again after a rollback.
 *
 * Where it has replicas each of them is a reader of its own, at a position of its own: it is read
 * as fast as the first of them takes it, and kept until the last one has got it.
 *
 * Every byte of the input has a position: the number of bytes before it.  Bytes are kept from the
 * position of the oldest retained snapshot on, sent as fast as the agent takes them, and sent again
 * from an earlier position after a rollback.
 *
 * A restarted job has read some of its input already: these bytes are skipped, and must be the same
 * as before.
 *
 * feed.h reads, the launcher sends.
 */
#ifndef BSPRUN_INPUT_H
#define BSPRUN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/launcher/spool.h"
#include "lib/base/snapshot.h"
#include "lib/wire/wire.h"

#define INPUT_AHEAD     65536u /* bytes read ahead of the agent */
#define INPUT_MARKS_MAX 16u

struct input_mark {
    struct bspz_snapshot_name name;
    uint64_t position;
    bool committed;
};

/* One that is sent it. */
struct input_reader {
    uint64_t sent;  /* position up to which input was sent in this term */
    uint64_t taken; /* position up to which the agent has taken it */
    bool open;      /* it has said where to begin */
    bool end_sent;
};

struct input {
    struct spool *spool;
    struct spool_log log;
    uint32_t keep;      /* snapshots; 0: all */
    uint64_t kept_from; /* bytes before may be dropped */
    uint64_t skip;      /* bytes still to be skipped ... */
    uint64_t expected;  /* ... with this digest; unknown: any */
    uint64_t skipped;   /* digest of the skipped bytes so far */
    bool ended;
    struct input_reader readers[WIRE_REPLICAS_MAX];
    struct input_mark marks[INPUT_MARKS_MAX];
    uint32_t mark_count;
    struct bspz_snapshot_name spared; /* term 0: none */
    char piece[WIRE_CHUNK_MAX];
};

/* Initially nothing has been read, and there is no reader.  memory, file, context: as for
 * spool_new.  False: no memory. */
bool input_init(struct input *input, uint32_t keep, size_t memory, spool_file *file, void *context);
void input_free(struct input *input); /* also when all is zero */

/* The number of bytes to read now. */
size_t input_room(const struct input *input);
/* Adds bytes that were read. 0, or -errno: they are lost; -EILSEQ: the skipped input differs from
 * that of the earlier run. */
int input_add(struct input *input, const char *data, size_t size);
/* The end of the input.  False: there were fewer bytes than to be skipped. */
bool input_end(struct input *input);

/* Whether some reader has said where to begin. */
bool input_is_open(const struct input *input);
/* The next piece to send to that reader, which stays valid until the next call about this input;
 * false: none. */
bool input_next(struct input *input, unsigned reader, struct wire_input *piece);

/* The term is over: the next readers will say where to begin. */
void input_close(struct input *input);
/* That reader is lost. */
void input_leave(struct input *input, unsigned reader);
/* INPUT_TAKEN: the first one of a term also says where to begin.  False: that position is no longer
 * kept. */
bool input_taken(struct input *input, unsigned reader, uint64_t position);
/* The skipped input must have this digest (lib/base/digest.h).  To be called before input_add. */
void input_expect(struct input *input, uint64_t digest);
/* Nothing is skipped: the input continues the earlier one. */
void input_continue(struct input *input);

/* There will be no rollback to input that was taken. */
void input_forget_taken(struct input *input);

/* A snapshot is being taken, with input read up to position, which each replica of the reader tells
 * of; it is committed. */
void input_mark(struct input *input, struct bspz_snapshot_name name, uint64_t position);
void input_commit(struct input *input, struct bspz_snapshot_name name);
/* The job goes on from that snapshot: newer ones do not count any more. */
void input_begin_at(struct input *input, struct bspz_snapshot_name name);
/* There may be a rollback to that snapshot however old it is, which may be older than the first
 * mark; term 0: to none. */
void input_spare(struct input *input, struct bspz_snapshot_name name);

#endif
