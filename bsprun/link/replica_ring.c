/* replica_ring.c - see replica_ring.h. */
#include "bsprun/link/replica_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int replica_ring_begin(struct replica_ring *ring, unsigned room, uint64_t most)
{
    *ring = (struct replica_ring){
        .entries = calloc(room, sizeof *ring->entries), .room = room, .most = most};
    return ring->entries ? 0 : -ENOMEM;
}

/* The i-th from the newest on, which is the first. */
static struct replica_recent *entry(const struct replica_ring *ring, unsigned i)
{
    return &ring->entries[(ring->newest + ring->room - i) % ring->room];
}

static void forget_oldest(struct replica_ring *ring)
{
    struct replica_logged *oldest = &entry(ring, ring->count)->logged;

    ring->bytes -= oldest->kept.size;
    free(oldest->kept.bytes);
    ring->count--;
}

void replica_ring_end(struct replica_ring *ring)
{
    while (ring->count > 0)
        forget_oldest(ring);
    free(ring->entries);
    ring->entries = NULL;
}

bool replica_ring_keep(struct replica_ring *ring, uint32_t pid, const struct replica_logged *logged)
{
    uint64_t size = logged->kept.size;

    if (size > ring->most)
        return false;
    while (ring->count == ring->room || ring->bytes > ring->most - size)
        forget_oldest(ring);
    ring->entries[ring->newest] = (struct replica_recent){pid, *logged};
    ring->newest = (ring->newest + 1) % ring->room;
    ring->count++;
    ring->bytes += size;
    return true;
}

const struct replica_logged *replica_ring_find(const struct replica_ring *ring, uint32_t pid,
                                               uint64_t key)
{
    for (unsigned i = 1; i <= ring->count; i++)
        if (entry(ring, i)->pid == pid && entry(ring, i)->logged.key == key)
            return &entry(ring, i)->logged;
    return NULL;
}

void replica_ring_copy(struct replica_ring *ring, const struct replica_ring *from, uint32_t pid,
                       uint64_t key)
{
    const struct replica_logged *found = replica_ring_find(from, pid, key);
    struct replica_logged copy;

    if (!found || replica_ring_find(ring, pid, key))
        return;
    copy = *found;
    copy.kept.bytes = malloc(found->kept.size + 1);
    if (!copy.kept.bytes)
        return;
    if (found->kept.size > 0)
        memcpy(copy.kept.bytes, found->kept.bytes, found->kept.size);
    if (!replica_ring_keep(ring, pid, &copy))
        free(copy.kept.bytes);
}
