/* replica_account.c - what a process here has made is shown to the homes that have made something
 * else: see replica_set.h.
 *
 * Happy path: a digest differs from that of this host -> the account is due at its home -> sent
 * behind the notes, ahead of all contents -> compared there with what that host has made.  What can
 * fail: one of the two is not kept any more, or too many are due: then nobody says where they
 * differ. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/replica_inside.h"

void replica_set_made(struct replica_set *set, uint32_t pid, uint64_t key,
                      const struct replica_digest *digest, void *bytes, uint64_t size)
{
    const struct replica_logged made = {
        .key = key, .digest = *digest, .home = set->own, .kept = {.bytes = bytes, .size = size}};

    if (!replica_ring_keep(&set->made, pid, &made))
        free(bytes);
}

static const struct replica_logged *find_made(const struct replica_set *set, uint32_t pid,
                                              uint64_t key)
{
    const struct replica_logged *aside = replica_ring_find(&set->aside, pid, key);

    return aside ? aside : replica_ring_find(&set->made, pid, key);
}

bool replica_account_next(struct replica_set *set, struct replica_other *other,
                          struct replica_account *account)
{
    while (other->account_count > 0) {
        const struct replica_due due = other->accounts[0];
        const struct replica_logged *made = find_made(set, due.pid, due.key);

        other->account_count--;
        memmove(other->accounts, other->accounts + 1,
                other->account_count * sizeof *other->accounts);
        if (!made)
            continue;
        *account = (struct replica_account){due.pid, due.key, made->kept.bytes, made->kept.size};
        other->account_given = true;
        return true;
    }
    return false;
}

int replica_take_account(struct replica_set *set, uint32_t home,
                         const struct replica_account *account)
{
    const struct replica_pid *pid = account->pid < set->nprocs ? &set->pids[account->pid] : NULL;
    const struct replica_logged *made;
    struct link_place place = {0};

    if (!pid || !pid->here || home == set->own || replica_slot(pid, home) == REPLICA_MOST)
        return -EPROTO;
    made = find_made(set, account->pid, account->key);
    if (made)
        set->calls.locate(set->context, made->kept.bytes, made->kept.size, account->bytes,
                          account->size, true, &place);
    if (place.what != LINK_PLACE_NONE)
        replica_note_seen(set, account->pid, account->key, set->own, home, &place);
    return 0;
}
