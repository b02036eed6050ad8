/* exchange.h - the communication of ranks, as laid out in the shared memory after the board.
 *
 * Ranks write and read it; agents copy it to the boards of other hosts, and interpret only what
 * this header defines.  Offsets count from the start of the board and are multiples of 8.
 */
#ifndef BSPZ_SHM_EXCHANGE_H
#define BSPZ_SHM_EXCHANGE_H

#include "lib/base/exact.h"
#include "lib/shm/board.h"

enum bspz_kind { BSPZ_PUTS, BSPZ_REQUESTS, BSPZ_REPLIES, BSPZ_MESSAGES, BSPZ_KINDS };

BSPZ_EXACT_BEGIN

/* The records for one destination and of one kind form a chain of chunks in the sender's outbox
 * half. */
struct bspz_chunk {
    uint64_t next; /* offset of the next chunk, 0 = last */
    uint64_t used; /* bytes of records after this header */
    /* Totals of the chain; in its first chunk. */
    uint64_t count; /* messages, as for cursors */
    uint64_t bytes; /* payload */
};

/* The records of a chain of requests are of one size, and end with an address in the process that
 * asks, which is another one in each replica. */
#define BSPZ_REQUEST_BYTES  32u
#define BSPZ_REQUEST_SHARED 24u

/* The directory: what one rank wrote for another; layout.entry_bytes from one to the next. */
struct bspz_entry {
    _Atomic uint64_t stamp;     /* superstep + 1 this content belongs to */
    uint64_t first[BSPZ_KINDS]; /* offset of the first chunk, 0 = nothing of this kind */
};
_Static_assert(sizeof(struct bspz_entry) == BSPZ_ENTRY_BYTES, "the directory is laid out for it");

/* A registered area, in its rank's table. */
struct bspz_area {
    uint64_t base;
    uint64_t bytes;
    bspz_position position;
    uint32_t state; /* enum bspz_slot_state */
    uint64_t age;   /* number of the push, to find the newest of several */
};
#define BSPZ_AREAS_MAX ((uint32_t)(BSPZ_TABLE_BYTES / sizeof(struct bspz_area)))

/* One call of the collective sequence (push, pop, tag size) of a superstep.  Published in an
 * outbox, so that other ranks can compare the calls and learn of the sender's new areas. */
enum bspz_operation_kind { BSPZ_OP_PUSH, BSPZ_OP_POP, BSPZ_OP_TAG_SIZE };
struct bspz_operation {
    uint32_t kind;
    uint32_t slot; /* POP: BSPZ_SLOT_WILDCARD for NULL */
    int64_t value; /* TAG_SIZE: the size; POP: the address; in an outbox also PUSH: the address */
    bspz_position position;
    uint32_t open; /* POP: which registration of the address depends on an earlier pop of NULL */
};
#define BSPZ_SLOT_WILDCARD UINT32_MAX

struct bspz_calls {
    uint64_t count;
    struct bspz_operation operations[];
};

BSPZ_EXACT_END

/* All entries for one destination are adjacent, in the order of reading. */
static inline struct bspz_entry *bspz_entry_at(const struct bspz_board *board, int nprocs, int from,
                                               int to, uint64_t superstep)
{
    uint64_t row = (uint64_t)to * 2 + (superstep & 1);

    return (struct bspz_entry *)((char *)board + board->layout.directory +
                                 (row * (uint64_t)nprocs + (uint64_t)from) *
                                     board->layout.entry_bytes);
}

static inline struct bspz_area *bspz_areas_at(const struct bspz_board *board, int pid)
{
    return (struct bspz_area *)((char *)board + board->layout.tables +
                                (uint64_t)pid * BSPZ_TABLE_BYTES);
}

/* Where stretch k of a rank's half of the superstep's parity begins. */
static inline uint64_t bspz_stretch_offset(const struct bspz_layout *layout, int nprocs, int pid,
                                           uint64_t superstep, unsigned k)
{
    uint64_t index = (superstep & 1) * (uint64_t)nprocs + (uint64_t)pid;

    return layout->stretch[k] + index * bspz_stretch_bytes(layout, k);
}

#endif
