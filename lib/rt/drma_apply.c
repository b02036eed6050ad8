/* drma_apply.c - puts and gets at the barrier: the owner of an area checks bounds and moves data.
 *
 * The order is part of the contract: replies are read from the areas before anything is written;
 * get results are written before puts, in the order issued (get_order.c); puts ascending by their
 * source, in the order issued.
 */
#include "lib/rt/drma.h"
#include "lib/rt/outbox.h"

const char *bspz_drma_function(uint32_t slot_flags, bool get)
{
    if (get)
        return slot_flags & BSPZ_PUT_HP ? "bsp_hpget" : "bsp_get";
    return slot_flags & BSPZ_PUT_HP ? "bsp_hpput" : "bsp_put";
}

/* A record exceeds the area.  Ends the job with the first of its calls that does; returns if none
 * does, as with BSP_COMPAT=oxford, where together they may reach two areas. */
static BSPZ_COLD void check_each(const char *function, int caller, bspz_position position,
                                 const struct bspz_area *area, uint64_t offset, uint64_t size)
{
    uint64_t end = offset + bspz_bytes_of(size);
    uint64_t each = size >> BSPZ_EACH_SHIFT;

    if (each == 0)
        bspz_fail_bounds(function, caller, position, bspz_rt.pid, area, offset,
                         bspz_bytes_of(size));
    for (; offset != end; offset += each)
        if (!bspz_fits(bspz_rt.pid, area, offset, each))
            bspz_fail_bounds(function, caller, position, bspz_rt.pid, area, offset, each);
}

static void serve_reader(int reader, const struct bspz_chunk *chunk)
{
    struct bspz_cursor *cursor = &bspz_cursors[BSPZ_REPLIES][reader];

    for (; chunk; chunk = bspz_next_chunk(chunk)) {
        const struct bspz_request_record *record = (const void *)(chunk + 1);
        const struct bspz_request_record *end =
            (const void *)((const char *)(chunk + 1) + chunk->used);

        for (; record < end; record++) {
            const struct bspz_area *area = &bspz_areas[record->slot_flags & BSPZ_SLOT_MASK];
            const uint64_t bytes = bspz_bytes_of(record->size);
            char *reply;

            if (!(record->slot_flags & BSPZ_DISPLACED) &&
                !bspz_fits(bspz_rt.pid, area, record->offset, bytes))
                check_each(bspz_drma_function(record->slot_flags, true), reader, record->position,
                           area, record->offset, record->size);
            reply =
                bspz_outbox_take(BSPZ_REPLIES, reader, 8 + bspz_pad(bytes, 8), "bsp_sync", 0, NULL);
            memcpy(reply, &bytes, 8);
            bspz_copy_in(reply + 8, (const char *)(uintptr_t)(area->base + record->offset), bytes);
            cursor->tail = reply + 8 + bspz_pad(bytes, 8);
            cursor->bytes += bytes;
        }
    }
}

void bspz_serve_gets(void)
{
    for (int reader = 0; reader < bspz_rt.nprocs; reader++) {
        const struct bspz_chunk *requests = bspz_incoming(reader, bspz_rt.superstep, BSPZ_REQUESTS);

        if (requests)
            serve_reader(reader, requests);
    }
    bspz_outbox_seal_replies(bspz_rt.superstep);
}

static void apply_scatter(int source, const struct bspz_put_record *record,
                          const struct bspz_area *area)
{
    const char *at = (const char *)(record + 1);
    const char *end = at + record->size;
    const uint64_t bytes = record->offset;
    const uint64_t stride = 8 + bspz_pad(bytes, 8);

    for (; at < end; at += stride) {
        uint64_t offset;

        memcpy(&offset, at, 8);
        if (bspz_unlikely(!(record->slot_flags & BSPZ_DISPLACED) &&
                          !bspz_fits(bspz_rt.pid, area, offset, bytes)))
            bspz_fail_bounds(bspz_drma_function(record->slot_flags, false), source,
                             record->position, bspz_rt.pid, area, offset, bytes);
        bspz_copy((char *)(uintptr_t)(area->base + offset), at + 8, bytes);
    }
}

static void apply_chunk(int source, const struct bspz_chunk *chunk)
{
    const char *at = (const char *)(chunk + 1);
    const char *end = at + chunk->used;

    while (at < end) {
        const struct bspz_put_record *record = (const void *)at;
        const struct bspz_area *area = &bspz_areas[record->slot_flags & BSPZ_SLOT_MASK];
        const uint64_t bytes = bspz_bytes_of(record->size);

        if (record->slot_flags & BSPZ_PUT_SCATTER) {
            apply_scatter(source, record, area);
        } else {
            if (bspz_unlikely(!(record->slot_flags & BSPZ_DISPLACED) &&
                              !bspz_fits(bspz_rt.pid, area, record->offset, bytes)))
                check_each(bspz_drma_function(record->slot_flags, false), source, record->position,
                           area, record->offset, record->size);
            bspz_copy_out((char *)(uintptr_t)(area->base + record->offset), record + 1, bytes);
        }
        at = (const char *)(record + 1) + bspz_pad(bytes, 8);
    }
}

void bspz_apply_puts(void)
{
    uint64_t superstep = bspz_rt.superstep;

    for (int source = 0; source < bspz_rt.nprocs; source++) {
        const struct bspz_chunk *chunk = bspz_incoming(source, superstep, BSPZ_PUTS);

        if (!chunk)
            continue;
        if (source != bspz_rt.pid)
            bspz_rt.received_bytes += chunk->bytes;
        for (; chunk; chunk = bspz_next_chunk(chunk))
            apply_chunk(source, chunk);
    }
}
