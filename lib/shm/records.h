/* records.h - the records of chains (exchange.h): written by one rank and read by another.  Agents
 * look into them only to say in which of them two replicas differ. */
#ifndef BSPZ_SHM_RECORDS_H
#define BSPZ_SHM_RECORDS_H

#include "lib/shm/exchange.h"

BSPZ_EXACT_BEGIN

/* A put: header, data padded to 8.  Puts of one size and statement that continue each other share a
 * record: its data are theirs, `size` says how long each was.  SCATTER: `offset` is the size of one
 * element and the data are pairs (offset, element padded to 8): runs of small puts of one size to
 * scattered places. */
struct bspz_put_record {
    uint32_t slot_flags;
    bspz_position position;
    uint64_t offset;
    uint64_t size; /* of the data, and of each put, see bspz_size */
};
#define BSPZ_SLOT_MASK   0x00ffffffu
#define BSPZ_PUT_SCATTER 0x80000000u
#define BSPZ_PUT_HP      0x40000000u

/* A get, or several of one size that continue each other on both sides: written by the reader,
 * served by the owner of the area. */
struct bspz_request_record {
    uint32_t slot_flags;
    bspz_position position;
    uint64_t offset;
    uint64_t size;
    uint64_t destination; /* address in the reader */
};
_Static_assert(sizeof(struct bspz_request_record) == BSPZ_REQUEST_BYTES &&
                   offsetof(struct bspz_request_record, destination) == BSPZ_REQUEST_SHARED,
               "agents compare requests");

/* A message: header, tag padded to 16, payload padded to 16. */
struct bspz_message_record {
    uint64_t bytes;
    uint64_t tag_bytes; /* BSP_COMPAT=oxford: may differ from message to message */
};

BSPZ_EXACT_END

/* The bytes of a record together with those of each call in it; 0 = the record is one call. */
#define BSPZ_EACH_SHIFT 48
#define BSPZ_EACH_LIMIT (UINT64_C(1) << 16) /* calls of more bytes have a record each */

static inline uint64_t bspz_size(uint64_t bytes, uint64_t each)
{
    return bytes | (each < BSPZ_EACH_LIMIT ? each << BSPZ_EACH_SHIFT : 0);
}

static inline uint64_t bspz_bytes_of(uint64_t size)
{
    return size & ((UINT64_C(1) << BSPZ_EACH_SHIFT) - 1);
}

static inline uint64_t bspz_pad(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) & ~(unit - 1);
}

#endif
