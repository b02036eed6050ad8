/* replica_ledger.c - see replica_ledger.h. */
#include "bsprun/link/replica_ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

void replica_ledger_free(struct replica_ledger *ledger)
{
    free(ledger->list);
    *ledger = (struct replica_ledger){0};
}

/* The place of the first entry that is not below the key. */
static size_t place_of(const struct replica_ledger *ledger, uint64_t key)
{
    size_t low = ledger->begin, high = ledger->begin + ledger->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ledger->list[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct replica_entry *replica_ledger_of(const struct replica_ledger *ledger, uint64_t key)
{
    size_t at = place_of(ledger, key);

    if (at == ledger->begin + ledger->count || ledger->list[at].key != key)
        return NULL;
    return &ledger->list[at];
}

/* Room for one entry more at the end. */
static bool make_room(struct replica_ledger *ledger)
{
    struct replica_entry *list;

    if (ledger->begin + ledger->count < ledger->room)
        return true;
    if (ledger->begin > ledger->count) {
        memmove(ledger->list, ledger->list + ledger->begin, ledger->count * sizeof *ledger->list);
        ledger->begin = 0;
        return true;
    }
    list = bspz_grow(ledger->list, &ledger->room, ledger->room + 1, sizeof *list);
    if (list)
        ledger->list = list;
    return list != NULL;
}

static struct replica_entry *entry_for(struct replica_ledger *ledger, uint64_t key)
{
    size_t at, behind;

    if (!make_room(ledger))
        return NULL;
    at = place_of(ledger, key);
    behind = ledger->begin + ledger->count - at;
    if (behind > 0 && ledger->list[at].key == key)
        return &ledger->list[at];
    memmove(ledger->list + at + 1, ledger->list + at, behind * sizeof *ledger->list);
    ledger->list[at] = (struct replica_entry){.key = key};
    ledger->count++;
    return &ledger->list[at];
}

int replica_ledger_tell(struct replica_ledger *ledger, unsigned slot, uint64_t key,
                        const struct replica_digest *digest, bool itself)
{
    struct replica_entry *entry;

    if (itself && key > ledger->come[slot])
        ledger->come[slot] = key;
    if (key <= ledger->settled)
        return 0;
    entry = entry_for(ledger, key);
    if (!entry)
        return -ENOMEM;
    if (entry->spoken & 1u << slot)
        return 0;
    if (entry->spoken == 0)
        entry->first = slot;
    entry->spoken |= 1u << slot;
    entry->digests[slot] = *digest;
    return !replica_same(&entry->digests[entry->first], digest);
}

size_t replica_ledger_settle(struct replica_ledger *ledger, uint32_t left, uint64_t most)
{
    uint64_t least = most;
    size_t removed = 0;

    for (unsigned slot = 0; slot < REPLICA_MOST; slot++)
        if (left & 1u << slot && ledger->come[slot] < least)
            least = ledger->come[slot];
    while (ledger->count > 0 && ledger->list[ledger->begin].key <= least) {
        ledger->settled = ledger->list[ledger->begin].key;
        ledger->begin++;
        ledger->count--;
        removed++;
    }
    return removed;
}

unsigned replica_entry_alike(const struct replica_entry *entry, const struct replica_digest *digest)
{
    unsigned alike = 0;

    for (unsigned slot = 0; slot < REPLICA_MOST; slot++)
        if (entry->spoken & 1u << slot && replica_same(&entry->digests[slot], digest))
            alike++;
    return alike;
}

unsigned replica_entry_leader(const struct replica_entry *entry)
{
    unsigned leader = REPLICA_MOST, most = 0;

    for (unsigned slot = 0; slot < REPLICA_MOST; slot++) {
        unsigned alike =
            entry->spoken & 1u << slot ? replica_entry_alike(entry, &entry->digests[slot]) : 0;

        if (alike > most) {
            most = alike;
            leader = slot;
        }
    }
    return leader;
}

bool replica_ledger_judge(struct replica_ledger *ledger, uint64_t key, unsigned slot, bool outvoted)
{
    struct replica_entry *entry = &ledger->list[place_of(ledger, key)];
    uint32_t before = outvoted ? entry->outvoted : entry->judged;

    entry->judged |= 1u << slot;
    if (outvoted)
        entry->outvoted |= 1u << slot;
    return (before & 1u << slot) == 0;
}

bool replica_entry_differs(const struct replica_entry *entry)
{
    return replica_entry_alike(entry, &entry->digests[entry->first]) !=
           (unsigned)__builtin_popcount(entry->spoken);
}
