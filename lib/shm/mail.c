/* mail.c - see mail.h. */
#include "lib/shm/mail.h"

#include <string.h>

static char *data_of(const struct bspz_ring *ring)
{
    return (char *)ring + BSPZ_RING_HEAD;
}

void bspz_mail_tell(const struct bspz_post *post, int to, int from)
{
    struct bspz_rank *rank = bspz_rank_of(post->board, to);

    atomic_fetch_or(&bspz_mail_of(post, to)->in[from / 64], UINT64_C(1) << from % 64);
    if (atomic_load(&rank->dozing) && atomic_exchange(&rank->dozing, 0))
        bspz_word_add(&rank->nudge);
}

void bspz_ring_open(struct bspz_ring_end *end, struct bspz_ring *ring, uint64_t size, bool writes)
{
    *end = (struct bspz_ring_end){.ring = ring, .size = size};
    end->own = atomic_load(writes ? &ring->tail : &ring->head);
    end->seen = atomic_load(writes ? &ring->head : &ring->tail);
}

uint64_t bspz_ring_room(struct bspz_ring_end *end)
{
    end->seen = atomic_load_explicit(&end->ring->head, memory_order_acquire);
    return end->size - (end->own - end->seen);
}

uint64_t bspz_ring_want_room(struct bspz_ring_end *end)
{
    atomic_store(&end->ring->wants_room, 1);
    end->seen = atomic_load(&end->ring->head);
    return end->size - (end->own - end->seen);
}

const void *bspz_ring_piece(const struct bspz_ring *ring, uint64_t size, uint64_t at,
                            uint64_t *bytes)
{
    uint64_t start = at & (size - 1);

    if (*bytes > size - start)
        *bytes = size - start;
    return (const char *)ring + BSPZ_RING_HEAD + start;
}

void bspz_ring_bytes_out(const struct bspz_ring *ring, uint64_t size, uint64_t at, void *to,
                         uint64_t bytes)
{
    uint64_t start = at & (size - 1), first = size - start < bytes ? size - start : bytes;

    memcpy(to, data_of(ring) + start, first);
    if (bytes > first)
        memcpy((char *)to + first, data_of(ring), bytes - first);
}

void bspz_ring_bytes_in(struct bspz_ring *ring, uint64_t size, uint64_t at, const void *from,
                        uint64_t bytes)
{
    uint64_t start = at & (size - 1), first = size - start < bytes ? size - start : bytes;

    memcpy(data_of(ring) + start, from, first);
    if (bytes > first)
        memcpy(data_of(ring), (const char *)from + first, bytes - first);
}

void bspz_ring_write(struct bspz_ring_end *end, const struct bspz_record *record,
                     const void *content)
{
    uint64_t bytes = bspz_record_content(record);

    memcpy(data_of(end->ring) + (end->own & (end->size - 1)), record, sizeof *record);
    if (bytes > 0)
        bspz_ring_bytes_in(end->ring, end->size, end->own + sizeof *record, content, bytes);
    end->own += bspz_record_bytes(bytes);
    atomic_store_explicit(&end->ring->tail, end->own, memory_order_release);
}

void bspz_ring_copy(const struct bspz_ring_end *end, uint64_t content, void *to)
{
    if (content > 0)
        bspz_ring_bytes_out(end->ring, end->size, end->own + BSPZ_RECORD_UNIT, to, content);
}

bool bspz_ring_next(struct bspz_ring_end *end, uint64_t content)
{
    end->own += bspz_record_bytes(content);
    /* Before wants_room is looked at, which the writer sets before it looks at the position. */
    atomic_store(&end->ring->head, end->own);
    return atomic_load_explicit(&end->ring->wants_room, memory_order_relaxed) &&
           atomic_exchange(&end->ring->wants_room, 0);
}
