/* input.h - what process 0 is given to read, and again after a rollback.
 *
 * Every byte of the input has a position: how many there are before it.  Bytes are kept from where
 * the oldest snapshot that is kept had read to, are given as fast as the agent takes them, and once
 * more from an earlier position when the job goes back.
 *
 * A job that is restarted has read some of its input already: so many bytes are left out, and must
 * be those that were read then.
 *
 * feed.h reads, the launcher sends.
 */
#ifndef BSPRUN_INPUT_H
#define BSPRUN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/launcher/spool.h"
#include "coordinator/core/lineage.h"
#include "lib/wire/wire.h"

#define INPUT_AHEAD     65536u /* bytes that are read before anybody has taken those before */
#define INPUT_MARKS_MAX 16u

struct input_mark {
    struct coord_name name;
    uint64_t position;
    bool committed;
};

struct input {
    struct spool *spool;
    struct spool_log log;
    uint32_t keep;      /* snapshots; 0: all */
    uint64_t kept_from; /* what is before may be forgotten */
    uint64_t skip;      /* bytes to be read and thrown away before the next one that counts ... */
    uint64_t expected;  /* ... which are to have that digest; unknown: any */
    uint64_t skipped;   /* digest of those so far */
    uint64_t sent;      /* up to which all was given in this term */
    uint64_t taken;     /* up to which the agent has taken it */
    bool open;          /* it has said from where on it wants it */
    bool ended, end_sent;
    struct input_mark marks[INPUT_MARKS_MAX];
    uint32_t mark_count;
    char piece[WIRE_CHUNK_MAX];
};

/* Nothing has been read, nobody takes anything.  memory, file, context: as for spool_new.  False:
 * no memory. */
bool input_init(struct input *input, uint32_t keep, size_t memory, spool_file *file, void *context);
void input_free(struct input *input); /* also when all is zero */

/* How many bytes are to be read now; 0: none. */
size_t input_room(const struct input *input);
/* They were read.  0, or -errno: they are lost; -EILSEQ: what was left out is not what was read
 * when the job ran before. */
int input_add(struct input *input, const char *data, size_t size);
/* There are no more.  False: fewer than are to be left out, so what follows is the end. */
bool input_end(struct input *input);

/* The next piece to send, which stays valid until the next call about this input; false: none. */
bool input_next(struct input *input, struct wire_input *piece);

/* The term is over: whoever comes next will say where to begin. */
void input_close(struct input *input);
/* INPUT_TAKEN: the first one of a term also says where to begin.  False: what it asks for is not
 * kept any more. */
bool input_taken(struct input *input, uint64_t position);
/* What is left out is to have that digest (lib/base/digest.h).  Before anything is added. */
void input_expect(struct input *input, uint64_t digest);
/* Nothing is left out: what comes is what follows. */
void input_continue(struct input *input);

/* Nobody goes back to what was taken. */
void input_forget_taken(struct input *input);

/* The snapshot of that name is being taken, with so much read; it is committed. */
void input_mark(struct input *input, struct coord_name name, uint64_t position);
void input_commit(struct input *input, struct coord_name name);

#endif
