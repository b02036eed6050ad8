/* mail.h - messages from rank to rank outside of supersteps: rings in the shared memory.
 *
 * Only programs that communicate by MPI have this part of the layout.  There is a ring for each
 * ordered pair of ranks, written by one and read by the other; so messages of a pair keep their
 * order, and no word has two writers.  A rank learns by a bit in `in` that there is something to
 * read from a rank, or room for it again, and sleeps on its slot's `nudge` when there is nothing.
 *
 * Several hosts.  Both hosts of a pair have its ring, with the same positions.  The agent of the
 * sender's host copies new bytes to the other one in pieces, which the reader sees when they end
 * with a record, and the agent there reports how far they have been read; so the sender's ring is
 * full exactly when the bytes on their way and the unread ones fill it.  `out` are bits as well, of
 * a rank for its agent: the rings of ranks on other hosts that it has written or read.
 *
 * Why no wake-up is lost: whoever changes a ring does so before it sets the bit, and looks at
 * `dozing` after that; the sleeper sets `dozing` before it looks at the bits.  A bit is cleared
 * before its ring is looked at.
 *
 * Counters: a record counts as sent before it can be seen, and as received once it has been read.
 * So if every rank sleeps, and as many have been received as were sent, nothing is on its way.
 */
#ifndef BSPZ_SHM_MAIL_H
#define BSPZ_SHM_MAIL_H

#include "lib/shm/board.h"

#define BSPZ_MAIL_BYTES   4096u
#define BSPZ_MAIL_WORDS   (BSPZ_MAX_PROCS / 64)
#define BSPZ_RING_HEAD    256u /* bytes before the data of a ring */
#define BSPZ_RING_MOST    (UINT64_C(1) << 20)
#define BSPZ_RING_LEAST   UINT64_C(8192)
#define BSPZ_RING_NEAR    (UINT64_C(64) << 10) /* used of a ring between ranks of one host */
#define BSPZ_RING_REPORTS 4u  /* in a ring's length its reader is reported to have read so often */
#define BSPZ_RECORD_UNIT  32u /* records are multiples of it */

/* What a rank that spins or sleeps waits for, besides its call. */
enum bspz_mail_wait {
    BSPZ_MAIL_AWAKE,
    BSPZ_MAIL_FROM,      /* a message with `tag` from rank `peer` (below 0: any) */
    BSPZ_MAIL_TO,        /* rank `peer`, to receive one with `tag` */
    BSPZ_MAIL_COLLECTIVE /* others, in a collective operation */
};

/* The mailbox of a rank. */
struct bspz_mail {
    _Atomic uint32_t waits; /* enum bspz_mail_wait; not AWAKE only while it spins or sleeps */
    uint32_t call;          /* enum bspz_call */
    int32_t peer, tag;
    _Atomic uint64_t sent __attribute__((aligned(BSPZ_LINE))); /* records, to any rank */
    _Atomic uint64_t received;
    _Atomic uint64_t in[BSPZ_MAIL_WORDS] __attribute__((aligned(BSPZ_LINE)));
    _Atomic uint64_t out[BSPZ_MAIL_WORDS] __attribute__((aligned(BSPZ_LINE)));
};
_Static_assert(sizeof(struct bspz_mail) <= BSPZ_MAIL_BYTES, "a mailbox fits its place");

/* Positions count bytes since the beginning of the term. */
struct bspz_ring {
    _Atomic uint64_t tail; /* written up to here; by the writer */
    _Atomic uint64_t head __attribute__((aligned(BSPZ_LINE))); /* read up to here; by the reader */
    _Atomic uint32_t wants_room; /* the writer waits for room; cleared by the reader */
};
_Static_assert(sizeof(struct bspz_ring) <= BSPZ_RING_HEAD, "a ring's head fits its place");

enum bspz_record_kind {
    BSPZ_RECORD_MESSAGE, /* a message, with its bytes */
    BSPZ_RECORD_OFFER,   /* a long message, whose bytes are at `address` of the sender */
    BSPZ_RECORD_ASK,     /* the receiver of an offer wants its bytes, as DATA */
    BSPZ_RECORD_DATA,    /* the next bytes */
    BSPZ_RECORD_TAKEN    /* the message has been received; after DATA not sent */
};

struct bspz_record {
    uint8_t kind;
    uint8_t context; /* messages of different contexts do not match */
    uint8_t wants_taken;
    uint8_t unused;
    int32_t tag;
    uint64_t size;     /* of the message; of DATA of these bytes */
    uint64_t sender;   /* names the request to the sender's process */
    uint64_t receiver; /* ASK, DATA: names that of the receiver; OFFER: address of the bytes */
};
_Static_assert(sizeof(struct bspz_record) == BSPZ_RECORD_UNIT, "a record's head is never wrapped");

/* The mail of a board, mapped at `at`. */
struct bspz_post {
    struct bspz_board *board;
    char *at;
    int nprocs;
    uint64_t ring_bytes;
};

static inline uint64_t bspz_post_bytes(const struct bspz_layout *layout)
{
    return layout->mail ? layout->total - layout->mail : 0;
}

static inline struct bspz_mail *bspz_mail_of(const struct bspz_post *post, int pid)
{
    return (struct bspz_mail *)(post->at + (uint64_t)pid * BSPZ_MAIL_BYTES);
}

/* The rings to a rank lie together. */
static inline struct bspz_ring *bspz_ring_of(const struct bspz_post *post, int from, int to)
{
    uint64_t p = (uint64_t)post->nprocs;

    return (struct bspz_ring *)(post->at + p * BSPZ_MAIL_BYTES +
                                ((uint64_t)to * p + (uint64_t)from) * post->ring_bytes);
}

/* Bytes of data of a ring; near: both ranks live on this host. */
static inline uint64_t bspz_ring_size(const struct bspz_post *post, bool near)
{
    uint64_t size = post->ring_bytes - BSPZ_RING_HEAD;

    return near && size > BSPZ_RING_NEAR ? BSPZ_RING_NEAR : size;
}

/* Tells rank `to` that something has changed in its rings with rank `from`. */
void bspz_mail_tell(const struct bspz_post *post, int to, int from);

/* ---- One end of a ring ------------------------------------------------------------------------
 *
 * Only ring.head and ring.tail are shared; each end keeps its own position, and what it has last
 * seen of the other's.
 */
struct bspz_ring_end {
    struct bspz_ring *ring;
    uint64_t size; /* of the data; a power of two */
    uint64_t own, seen;
};

void bspz_ring_open(struct bspz_ring_end *end, struct bspz_ring *ring, uint64_t size, bool writes);

/* Bytes that a record of so many bytes of content takes. */
static inline uint64_t bspz_record_bytes(uint64_t content)
{
    return BSPZ_RECORD_UNIT +
           ((content + BSPZ_RECORD_UNIT - 1) & ~(uint64_t)(BSPZ_RECORD_UNIT - 1));
}

/* Bytes of content that travel in the record. */
static inline uint64_t bspz_record_content(const struct bspz_record *record)
{
    return record->kind == BSPZ_RECORD_MESSAGE || record->kind == BSPZ_RECORD_DATA ? record->size
                                                                                   : 0;
}

/* Bytes that can be written. */
uint64_t bspz_ring_room(struct bspz_ring_end *end);
/* The same after the reader is asked to tell when there is more, which it does if there was less
 * than all. */
uint64_t bspz_ring_want_room(struct bspz_ring_end *end);
/* Writes a record with its content; there is room. */
void bspz_ring_write(struct bspz_ring_end *end, const struct bspz_record *record,
                     const void *content);
/* Looks what has been written: bspz_ring_peek gives that, and not what is written later. */
static inline void bspz_ring_look(struct bspz_ring_end *end)
{
    end->seen = atomic_load_explicit(&end->ring->tail, memory_order_acquire);
}
/* The next record, valid until bspz_ring_next; NULL: there is none. */
static inline const struct bspz_record *bspz_ring_peek(const struct bspz_ring_end *end)
{
    return end->seen == end->own
               ? NULL
               : (const struct bspz_record *)((const char *)end->ring + BSPZ_RING_HEAD +
                                              (end->own & (end->size - 1)));
}
/* Copies its content. */
void bspz_ring_copy(const struct bspz_ring_end *end, uint64_t content, void *to);
/* Goes past it.  True: the writer waits for room, and is to be told. */
bool bspz_ring_next(struct bspz_ring_end *end, uint64_t content);

/* ---- For agents: bytes of rings, as they are --------------------------------------------------
 */

/* Where position `at` lies; *bytes, which are wanted, is cut off at the end of the data. */
const void *bspz_ring_piece(const struct bspz_ring *ring, uint64_t size, uint64_t at,
                            uint64_t *bytes);

/* Copies bytes from position `at` on out of or into the data of a ring. */
void bspz_ring_bytes_out(const struct bspz_ring *ring, uint64_t size, uint64_t at, void *to,
                         uint64_t bytes);
void bspz_ring_bytes_in(struct bspz_ring *ring, uint64_t size, uint64_t at, const void *from,
                        uint64_t bytes);

#endif
