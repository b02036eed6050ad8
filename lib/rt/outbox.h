/* outbox.h - where a rank writes its communication, and how others read it.
 *
 * Each rank has two outbox halves, used by parity of the superstep: what was written in superstep
 * s is read during the sync of s and (messages, in place) during superstep s+1, and overwritten
 * not before s+2, when everybody has arrived at barrier s+1.  So no barrier ends a superstep.
 *
 * A half holds chunks.  Records for one destination and of one kind form a chain of chunks, in the
 * order issued; the directory, sorted by destination, has an entry for every pair of ranks that
 * says where the chains begin.  Offsets count from the start of the board.
 */
#ifndef BSPZ_RT_OUTBOX_H
#define BSPZ_RT_OUTBOX_H

#include <string.h>

#include "lib/rt/registration.h"
#include "lib/rt/reserve.h"
#include "lib/rt/rt.h"
#include "lib/shm/records.h"

#pragma GCC visibility push(hidden)

/* The writing end of one channel, private to the rank.  A put record that is being extended is
 * *open*: its size, and with it the channel's, is written when it is closed. */
struct bspz_cursor {
    char *tail;  /* next free byte */
    char *limit; /* end of the chunk */
    uint64_t
        next_offset;  /* offset that would continue the record; of an open put: minus its tail */
    const void *base; /* of the statement that opened it: its area argument, */
    union {
        const char *file; /* its file */
        uint64_t lowest;  /* for requests: range of the results, up to `highest`, */
    };
    int statement;    /* its line, see PUT_AT in drma.c; slot and position follow from these */
    uint32_t element; /* size of the elements of an open scatter run, or BSPZ_RUN_OF */
    union {
        uint64_t where;   /* of the statement, for bspz_note */
        uint64_t highest; /* without the last record */
    };
    void *last; /* last record, to be extended; NULL = none in this chunk */
    uint64_t next_destination;
    struct bspz_chunk *chunk;
    uint64_t count, bytes;
    uint64_t first;
    uint64_t next_room; /* size of the next chunk */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct bspz_cursor) == 128, "found by a shift");

/* cursor->element of puts of n bytes that continue each other: 0 for the most common size, for
 * which bsp_put has a fast path. */
#define BSPZ_RUN_OF(n) ((n) == 8 ? 0 : (n) < BSPZ_EACH_LIMIT ? 0x80000000u | (uint32_t)(n) : ~0u)
static inline bool bspz_is_scatter(uint32_t element)
{
    return (int32_t)element > 0;
}

extern struct bspz_cursor *bspz_cursors[BSPZ_KINDS]; /* [kind][destination] */

void bspz_outbox_begin(void);
/* Begins again on an empty board, with an empty outbox; 0 or an errno value. */
int bspz_outbox_begin_again(uint64_t superstep);

static inline struct bspz_entry *bspz_entry_of(int from, int to, uint64_t superstep)
{
    return bspz_entry_at(bspz_rt.board, bspz_rt.nprocs, from, to, superstep);
}

/* Invalidates what statements have looked up, so that no put extends an open record by it. */
void bspz_outbox_forget_statements(void);

/* Makes room for `bytes` at an address that is a multiple of 16 (`align16`) or 8, in the current
 * chunk or a new one, and returns it; the caller moves tail.  Ends the job when there is no
 * memory. */
char *bspz_outbox_room(enum bspz_kind kind, int to, uint64_t bytes, const char *function, int line,
                       const char *file);

/* The same, inline as long as there is room, for kinds whose records keep the tail aligned. */
static inline char *bspz_outbox_take(enum bspz_kind kind, int to, uint64_t bytes,
                                     const char *function, int line, const char *file)
{
    struct bspz_cursor *cursor = &bspz_cursors[kind][to];

    if (bspz_likely(bytes <= (uint64_t)(cursor->limit - cursor->tail)))
        return cursor->tail;
    return bspz_outbox_room(kind, to, bytes, function, line, file);
}

/* A piece of the current half for this rank's own use until the end of the superstep; sizes as with
 * bspz_half_take. */
void *bspz_outbox_memory(uint64_t least, uint64_t *bytes, const char *function, int line,
                         const char *file);

/* Publishes what was written in `superstep` in this rank's half; returns BSPZ_HAS_* flags. */
uint32_t bspz_outbox_seal(uint64_t superstep);
/* Publishes the replies only. */
void bspz_outbox_seal_replies(uint64_t superstep);
/* Clears the padding in what was sealed: of the replies, or of all else. */
void bspz_outbox_blank(uint64_t superstep, bool replies);
/* Clears what calls have left on the stack below the caller's frame: what a program communicates
 * without having set it is then the same in all replicas of a process. */
void bspz_clear_stack(void);
/* The first chunk that this rank wrote for `to` in this superstep, NULL when there is none. */
const struct bspz_chunk *bspz_outbox_first(enum bspz_kind kind, int to);
/* Payload written for other ranks in this superstep so far. */
uint64_t bspz_outbox_bytes_out(void);
/* Adds the payload of this superstep's puts and messages, own ones included. */
void bspz_outbox_count(struct bspz_counters *counters);
/* Switches to the other half; frees memory that was not needed for a while. */
void bspz_outbox_flip(uint64_t next_superstep);

static inline struct bspz_chunk *bspz_chunk_at(uint64_t offset)
{
    if (__builtin_expect(offset >= bspz_reserve_from, 0))
        return bspz_reserve_show_chunk(offset);
    return offset ? (struct bspz_chunk *)((char *)bspz_rt.board + offset) : NULL;
}

static inline const struct bspz_chunk *bspz_next_chunk(const struct bspz_chunk *chunk)
{
    return bspz_chunk_at(chunk->next);
}

/* The chain that `from` wrote for this rank in `superstep`, NULL when it wrote none of this kind.
 * Acquire: an owner of areas may store replies while its requests are read. */
static inline const struct bspz_chunk *bspz_incoming(int from, uint64_t superstep,
                                                     enum bspz_kind kind)
{
    const struct bspz_entry *entry = bspz_entry_of(from, bspz_rt.pid, superstep);

    if (atomic_load_explicit(&entry->stamp, memory_order_acquire) != superstep + 1)
        return NULL;
    return bspz_chunk_at(entry->first[kind]);
}

/* memcpy, fast for the size of an element of a numerical array. */
static inline void bspz_copy(void *to, const void *from, uint64_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

/* copy.c: memcpy that is fast for any two addresses; memcpy by non-temporal stores, followed by a
 * fence; and the choice between the two for a block that goes to an outbox. */
void bspz_copy_cached(void *to, const void *from, uint64_t bytes);
void bspz_copy_streaming(void *to, const void *from, uint64_t bytes);
void bspz_copy_block_in(void *to, const void *from, uint64_t bytes);

#define BSPZ_BLOCK_MINIMUM (4u << 10)
#define BSPZ_STREAM_ALWAYS (4u << 20)

/* Copies into an outbox. */
static inline void bspz_copy_in(void *to, const void *from, uint64_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes < BSPZ_BLOCK_MINIMUM)
        memcpy(to, from, bytes);
    else
        bspz_copy_block_in(to, from, bytes);
}

/* Copies out of an outbox: large data would leave the cache before they are used. */
static inline void bspz_copy_out(void *to, const void *from, uint64_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes < BSPZ_BLOCK_MINIMUM)
        memcpy(to, from, bytes);
    else if (bytes < BSPZ_STREAM_ALWAYS)
        bspz_copy_cached(to, from, bytes);
    else
        bspz_copy_streaming(to, from, bytes);
}

#pragma GCC visibility pop

#endif
