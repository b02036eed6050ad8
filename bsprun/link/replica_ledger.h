/* replica_ledger.h - the digests that the replicas of one process have told, key by key; pure.
 *
 * A replica is named by its slot, its place among the homes of the process. */
#ifndef BSPRUN_REPLICA_LEDGER_H
#define BSPRUN_REPLICA_LEDGER_H

#include "bsprun/link/replica_set.h"

struct replica_entry {
    uint64_t key;
    uint32_t spoken;   /* bits of slots */
    uint32_t judged;   /* of these, those of which it was reported that they do not count, */
    uint32_t outvoted; /* ... and that more agree on another content */
    uint32_t first;    /* slot that was heard of first */
    struct replica_digest digests[REPLICA_MOST];
};

/* All zero: empty. */
struct replica_ledger {
    struct replica_entry *list; /* ascending keys, from `begin` on */
    size_t begin, count, room;
    uint64_t settled;            /* keys up to here are done with */
    uint64_t come[REPLICA_MOST]; /* the last key that the replica told itself */
};

static inline bool replica_same(const struct replica_digest *one, const struct replica_digest *two)
{
    return one->words[0] == two->words[0] && ((one->words[1] ^ two->words[1]) & ~REPLICA_STOP) == 0;
}

void replica_ledger_free(struct replica_ledger *ledger);

/* NULL: nothing was told of it, or it is settled. */
const struct replica_entry *replica_ledger_of(const struct replica_ledger *ledger, uint64_t key);

/* A digest is told; by the replica itself, or of it.  1: it is new, and differs from the first; 0:
 * it does not, or was told before, or is settled; -ENOMEM. */
int replica_ledger_tell(struct replica_ledger *ledger, unsigned slot, uint64_t key,
                        const struct replica_digest *digest, bool itself);

/* Removes what all these replicas have come to, up to that key, and says how many entries that
 * were. */
size_t replica_ledger_settle(struct replica_ledger *ledger, uint32_t left, uint64_t most);

/* Enters that it was reported; false: it was before.  What was reported while no majority decided
 * is reported once more when it is outvoted: what lost replicas had made may become known later. */
bool replica_ledger_judge(struct replica_ledger *ledger, uint64_t key, unsigned slot,
                          bool outvoted);

/* How many replicas have told that digest. */
unsigned replica_entry_alike(const struct replica_entry *entry,
                             const struct replica_digest *digest);
/* The lowest replica of those with whose digest most agree; REPLICA_MOST: none has spoken. */
unsigned replica_entry_leader(const struct replica_entry *entry);
/* Whether two have told different ones. */
bool replica_entry_differs(const struct replica_entry *entry);

#endif
