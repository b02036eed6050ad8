/* replica_said.c - what homes that are lost have said of the contents they had made, where a
 * majority counts: hosts agree on that before they choose; see replica_set.h.
 *
 * One host may have heard what a home said, and have applied what counts by it, while others have
 * not heard it.  So each host that learns of a loss tells all others what it has heard from any
 * lost home, and that this is all; from then on it hears nothing more from there, and chooses
 * nothing before all others that are left have told the same.  What one of them has chosen before
 * follows from what it tells.  This is the flush of virtual synchrony (K. Birman and T. Joseph,
 * Exploiting virtual synchrony in distributed systems, 1987), of what was said instead of what was
 * sent: the content that counts may be lost, and then the receiver cannot go on.
 *
 * To be able to tell it, a host remembers what homes have said for as long as some host may lack
 * it: where homes differ, or one was lost without a word, until all hosts have come past the key.
 *
 * What can fail: memory for the words, which gives up this host. */
#include <errno.h>
#include <stdlib.h>

#include "bsprun/link/replica_inside.h"

static bool is_left(const struct replica_set *set, uint32_t home)
{
    return home != set->own && !set->others[home].lost && set->others[home].homes_any;
}

int replica_said_begin(struct replica_set *set)
{
    size_t words = set->home_count / 64 + 1;

    for (uint32_t pid = 0; pid < set->nprocs; pid++)
        for (unsigned slot = 0; slot < set->pids[pid].count; slot++)
            set->others[set->pids[pid].homes[slot]].homes_any = true;
    for (uint32_t home = 0; set->majority && home < set->home_count; home++) {
        set->others[home].heard = calloc(words, sizeof *set->others[home].heard);
        if (!set->others[home].heard)
            return -ENOMEM;
    }
    return 0;
}

static bool all_heard(const struct replica_set *set, uint32_t about)
{
    const uint64_t *heard = set->others[about].heard;

    for (uint32_t home = 0; home < set->home_count; home++)
        if (is_left(set, home) && !(heard[home / 64] >> home % 64 & 1))
            return false;
    return true;
}

uint32_t replica_said_last(const struct replica_set *set)
{
    uint32_t last = set->home_count;

    for (uint32_t home = 0; home < set->home_count; home++)
        if (is_left(set, home) &&
            (last == set->home_count || set->others[home].past < set->others[last].past))
            last = home;
    return last;
}

bool replica_said_progress(struct replica_set *set)
{
    uint32_t last = replica_said_last(set);
    uint64_t before = set->past;

    set->past = last < set->home_count ? set->others[last].past : UINT64_MAX;
    return set->past > before;
}

void replica_said_look(struct replica_set *set)
{
    bool before = set->unsure;

    set->settles |= replica_said_progress(set);
    set->unsure = false;
    for (uint32_t home = 0; set->majority && home < set->home_count; home++)
        if (set->others[home].lost && set->others[home].homes_any && !all_heard(set, home))
            set->unsure = true;
    set->settles |= before && !set->unsure;
}

void replica_said_hear(struct replica_set *set, uint32_t home, uint32_t about)
{
    if (!set->majority)
        return;
    set->others[about].heard[home / 64] |= UINT64_C(1) << home % 64;
    replica_said_look(set);
}

/* ---- Remembering --------------------------------------------------------------------------- */

/* Whether all hosts choose the same without being told: those that have not spoken never will, as
 * all know. */
static bool is_plain(const struct replica_set *set, const struct replica_pid *pid,
                     const struct replica_entry *entry)
{
    if (replica_entry_differs(entry))
        return false;
    for (unsigned slot = 0; slot < pid->count; slot++)
        if (!(entry->spoken & 1u << slot) && (set->unsure || !set->others[pid->homes[slot]].lost))
            return false;
    return true;
}

bool replica_said_retains(const struct replica_set *set, const struct replica_pid *pid,
                          const struct replica_entry *entry)
{
    return set->majority && set->past < entry->key && !is_plain(set, pid, entry);
}
