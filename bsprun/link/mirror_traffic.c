/* mirror_traffic.c - what the ranks of this host send in one superstep; see mirror.h.
 *
 * Each chain of records in a rank's outbox begins with totals (lib/shm/exchange.h).  Puts and
 * messages are of the superstep that ends.  What others get is counted as replies, which are made
 * when it has ended: those of the superstep before are still in the other half of the outbox.
 */
#include "bsprun/link/mirror.h"

#include "bsprun/link/mirror_inside.h"
#include "lib/wire/wire.h"

/* The pairs of one rank, the greatest first. */
struct greatest {
    struct wire_traffic *pairs; /* room for WIRE_TRAFFIC_EACH */
    uint32_t count;
};

static void keep(struct greatest *greatest, struct wire_traffic pair)
{
    uint32_t at = greatest->count;

    while (at > 0 && greatest->pairs[at - 1].bytes < pair.bytes)
        at--;
    if (pair.bytes == 0 || at == WIRE_TRAFFIC_EACH)
        return;
    if (greatest->count < WIRE_TRAFFIC_EACH)
        greatest->count++;
    for (uint32_t i = greatest->count - 1; i > at; i--)
        greatest->pairs[i] = greatest->pairs[i - 1];
    greatest->pairs[at] = pair;
}

/* 0 also for a chain outside the board, which only a program that has gone wild makes. */
static uint64_t total(const struct bspz_board *board, uint64_t offset)
{
    if (offset == 0 || offset % 8 != 0 || offset > board->layout.total - sizeof(struct bspz_chunk))
        return 0;
    return ((const struct bspz_chunk *)((const char *)board + offset))->bytes;
}

/* The entry from one rank for the other if it is of that superstep, else NULL. */
static const struct bspz_entry *entry_of(const struct mirror *mirror, uint64_t superstep, int pid,
                                         int other)
{
    const struct bspz_entry *entry =
        bspz_entry_at(mirror->board, mirror->nprocs, pid, other, superstep);

    return atomic_load_explicit(&entry->stamp, memory_order_acquire) == superstep + 1 ? entry
                                                                                      : NULL;
}

static uint64_t bytes_to(const struct mirror *mirror, uint64_t superstep, int pid, int other)
{
    const struct bspz_entry *now = entry_of(mirror, superstep, pid, other), *before = NULL;
    uint64_t bytes = 0;

    if (superstep > 0)
        before = entry_of(mirror, superstep - 1, pid, other);
    if (now)
        bytes += total(mirror->board, now->first[BSPZ_PUTS]) +
                 total(mirror->board, now->first[BSPZ_MESSAGES]);
    if (before)
        bytes += total(mirror->board, before->first[BSPZ_REPLIES]);
    return bytes;
}

uint32_t mirror_traffic(const struct mirror *mirror, uint64_t superstep, struct wire_traffic *pairs)
{
    const struct mirror_peer *own = &mirror->own;
    uint32_t count = 0;

    if ((uint64_t)own->count * (uint64_t)mirror->nprocs > MIRROR_TRAFFIC_PAIRS)
        return 0;
    for (int i = 0; i < own->count; i++) {
        struct greatest greatest = {.pairs = pairs + count};
        int pid = own->pids[i];

        for (int other = 0; other < mirror->nprocs; other++)
            if (other != pid)
                keep(&greatest, (struct wire_traffic){(uint32_t)pid, (uint32_t)other,
                                                      bytes_to(mirror, superstep, pid, other)});
        count += greatest.count;
    }
    return count;
}

uint32_t mirror_traffic_most(const struct mirror *mirror)
{
    return (uint32_t)mirror->own.count * WIRE_TRAFFIC_EACH;
}
