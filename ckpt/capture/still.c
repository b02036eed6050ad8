/* still.c - memory that changes while its image is written.
 *
 * Signals are blocked and there is no other thread, so the saved memory does not change, with three
 * exceptions.  Upon each migration the kernel writes the number of the processor into the area for
 * restartable sequences, which lies beside libc's data of the thread; in forked writers, too.
 * Others may write to shared mappings: a child that the user's rules exclude.  And where memory is
 * scarce the kernel takes pages that the program has given up by MADV_FREE: they are zero then.
 *
 * A page is hashed and stored in two steps.  A change between them would make the image invalid, so
 * such pages are copied first, and the copy is hashed and stored. */
#include <errno.h>
#include <string.h>

#include "ckpt/capture/snapshot.h"

/* The pages of the kernel's area; empty when libc has none. */
static struct bspz_range restless_area(const struct bspz_snapshot *snapshot)
{
    uint64_t sizes[4] = {0}, most = 0, page = ~(uint64_t)(BSPZ_PAGE - 1);
    uint64_t address = bspz_rseq_area(snapshot->thread.pointers.fs_base, sizes);

    for (int i = 0; sizes[i]; i++)
        most = sizes[i] > most ? sizes[i] : most;
    return address ? (struct bspz_range){address & page, (address + most + BSPZ_PAGE - 1) & page}
                   : (struct bspz_range){0, 0};
}

/* Whether the pages from `start` on may change; *end is reduced to where the answer differs. */
static bool is_restless(const struct bspz_still *still, const struct bspz_piece *piece,
                        uint64_t start, uint64_t *end)
{
    const struct bspz_range *area = &still->area;

    if (piece->map->flags & BSPZ_MAP_SHARED && piece->now_at == piece->start)
        return true;
    if (piece->map->flags & BSPZ_MAP_TAKEN)
        return true;
    if (start >= area->end || *end <= area->start)
        return false;
    if (start < area->start) {
        *end = area->start;
        return false;
    }
    *end = *end < area->end ? *end : area->end;
    return true;
}

int bspz_still_begin(struct bspz_still *still, struct bspz_snapshot *snapshot)
{
    still->area = restless_area(snapshot);
    still->copy = bspz_arena_take(&snapshot->arena, BSPZ_IMAGE_RECORD_MAX);
    return still->copy ? 0 : -ENOMEM;
}

const void *bspz_still_bytes(const struct bspz_still *still, const struct bspz_piece *piece,
                             uint64_t start, uint64_t *end)
{
    if (!is_restless(still, piece, start, end))
        return (const void *)start;
    if (*end - start > BSPZ_IMAGE_RECORD_MAX)
        *end = start + BSPZ_IMAGE_RECORD_MAX;
    memcpy(still->copy, (const void *)start, *end - start);
    return still->copy;
}
