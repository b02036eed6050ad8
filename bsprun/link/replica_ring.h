/* replica_ring.h - the newest contents that have come here, or were made here, whoever needs them:
 * to see where one that differs does. */
#ifndef BSPRUN_REPLICA_RING_H
#define BSPRUN_REPLICA_RING_H

#include "bsprun/link/replica_set.h"
#include "bsprun/link/replica_store.h"

/* A content that has come, or was made here. */
struct replica_logged {
    uint64_t key;
    struct replica_digest digest;
    uint32_t home;
    struct replica_kept kept;
};

struct replica_recent {
    uint32_t pid;
    struct replica_logged logged; /* in memory */
};

/* Of at most `room` contents with `most` bytes. */
struct replica_ring {
    struct replica_recent *entries; /* `count` before place `newest` */
    unsigned room, newest, count;
    uint64_t bytes, most;
};

/* 0 or -ENOMEM. */
int replica_ring_begin(struct replica_ring *ring, unsigned room, uint64_t most);
void replica_ring_end(struct replica_ring *ring);

/* Takes the bytes over, of malloc, in place of older ones, if the result is true; else they are too
 * many. */
bool replica_ring_keep(struct replica_ring *ring, uint32_t pid,
                       const struct replica_logged *logged);
/* Keeps there a copy of what is in the other one, if it is, and if there is memory. */
void replica_ring_copy(struct replica_ring *ring, const struct replica_ring *from, uint32_t pid,
                       uint64_t key);
/* NULL: it is not there any more.  Valid until the next is kept. */
const struct replica_logged *replica_ring_find(const struct replica_ring *ring, uint32_t pid,
                                               uint64_t key);

#endif
