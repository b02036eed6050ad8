/* replica_in.c - what comes from other hosts: the log of contents, which are applied in order; see
 * replica_set.h.
 *
 * Happy path: a content that is new for its process -> the log, HAVE to its other homes -> applied
 * at once, or when the ranks here have come so far.  What can fail: no room in the log for a host
 * that trails, or a content that cannot be applied, which gives up this host; what makes no sense,
 * which ends the link it came by. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/replica_inside.h"

/* ---- The log of one process ---------------------------------------------------------------- */

static struct replica_logged *front(struct replica_pid *pid)
{
    return pid->log + pid->begin;
}

static bool make_room(struct replica_pid *pid)
{
    struct replica_logged *log;

    if (pid->begin + pid->logged < pid->room)
        return true;
    if (pid->begin > pid->logged) {
        memmove(pid->log, front(pid), pid->logged * sizeof *pid->log);
        pid->begin = 0;
        return true;
    }
    log = bspz_grow(pid->log, &pid->room, pid->room + 1, sizeof *log);
    if (log)
        pid->log = log;
    return log != NULL;
}

/* Whether the ranks here have not come to all of some superstep before that of the key. */
static bool trails(const struct replica_set *set, uint64_t key)
{
    for (uint32_t i = 0; i < set->nprocs; i++) {
        struct replica_pid *pid = &set->pids[i];

        if (pid->logged > 0 && replica_superstep(front(pid)->key) < replica_superstep(key))
            return true;
    }
    return false;
}

/* Behind all of the same or a lower key.  0, -ENOMEM or -ENOSPC, and the bytes are not taken. */
static int append(struct replica_set *set, struct replica_pid *pid,
                  const struct replica_logged *logged, void *bytes, uint64_t size)
{
    size_t at = pid->logged;
    int error;

    if (!make_room(pid))
        return -ENOMEM;
    while (at > 0 && front(pid)[at - 1].key > logged->key)
        at--;
    memmove(front(pid) + at + 1, front(pid) + at, (pid->logged - at) * sizeof *pid->log);
    front(pid)[at] = *logged;
    error = replica_store_keep(&set->log, bytes, size, &front(pid)[at].kept);
    if (error && !trails(set, logged->key)) {
        replica_store_keep_in_memory(&set->log, bytes, size, &front(pid)[at].kept);
        error = 0;
    }
    if (error)
        memmove(front(pid) + at, front(pid) + at + 1, (pid->logged - at) * sizeof *pid->log);
    else
        pid->logged++;
    return error;
}

/* All of the first key. */
static void drop_front(struct replica_set *set, struct replica_pid *pid)
{
    uint64_t key = front(pid)->key;

    while (pid->logged > 0 && front(pid)->key == key) {
        replica_store_drop(&set->log, &front(pid)->kept);
        pid->begin++;
        pid->logged--;
    }
}

static struct replica_logged *find(struct replica_pid *pid, uint64_t key)
{
    for (size_t i = pid->logged; i-- > 0 && front(pid)[i].key >= key;)
        if (front(pid)[i].key == key)
            return front(pid) + i;
    return NULL;
}

void replica_in_free(struct replica_set *set)
{
    for (uint32_t i = 0; i < set->nprocs; i++) {
        struct replica_pid *pid = &set->pids[i];

        while (pid->logged > 0)
            drop_front(set, pid);
        free(pid->log);
    }
}

/* ---- Applying ------------------------------------------------------------------------------ */

/* Of the contents of the first key. */
static struct replica_logged *with_digest(struct replica_pid *pid,
                                          const struct replica_digest *digest)
{
    struct replica_logged *first = front(pid);

    for (size_t i = 0; i < pid->logged && first[i].key == first->key; i++)
        if (replica_same(&first[i].digest, digest))
            return first + i;
    return NULL;
}

/* The lowest home with whose content as many agree as with that one, and whose content is here or
 * may come; REPLICA_MOST: none. */
static unsigned choose_another(const struct replica_set *set, struct replica_pid *pid,
                               const struct replica_entry *entry, unsigned chosen)
{
    unsigned alike = replica_entry_alike(entry, &entry->digests[chosen]);

    for (unsigned slot = 0; slot < pid->count; slot++) {
        const struct replica_digest *digest = &entry->digests[slot];

        if (entry->spoken & 1u << slot && replica_entry_alike(entry, digest) == alike &&
            (with_digest(pid, digest) || replica_may_come(set, pid, entry, digest)))
            return slot;
    }
    return REPLICA_MOST;
}

/* Which of the contents of the first key counts; NULL: that is not known yet, or it is still to
 * come, or it never will. */
static struct replica_logged *elect(struct replica_set *set, uint32_t number)
{
    struct replica_pid *pid = &set->pids[number];
    struct replica_logged *first = front(pid), *found;
    const struct replica_entry *entry;
    unsigned chosen, another;

    if (replica_needed(set, pid) == 1)
        return first;
    if (set->unsure)
        return NULL;
    entry = replica_ledger_of(&pid->ledger, first->key);
    chosen = entry ? replica_chosen(set, pid, entry) : REPLICA_MOST;
    if (chosen == REPLICA_MOST)
        return NULL;
    found = with_digest(pid, &entry->digests[chosen]);
    if (found || replica_may_come(set, pid, entry, &entry->digests[chosen]))
        return found;
    /* With `majority` some host may have applied it. */
    another = set->majority ? REPLICA_MOST : choose_another(set, pid, entry, chosen);
    if (another < REPLICA_MOST)
        return with_digest(pid, &entry->digests[another]);
    replica_note_in_vain(set, number, first->key, chosen, first->home);
    return NULL;
}

static int apply(struct replica_set *set, uint32_t number, struct replica_logged *logged)
{
    struct replica_pid *pid = &set->pids[number];
    void *read, *bytes = replica_store_see(&set->log, &logged->kept, &read);
    uint64_t key = logged->key;
    int error = -ENOMEM;

    if (bytes)
        error = set->calls.apply(set->context, number, key, bytes, logged->kept.size);
    free(read);
    pid->applied = key;
    if (pid->count > 1 && logged->kept.bytes && replica_ring_keep(&set->recent, number, logged))
        replica_store_release(&set->log, &logged->kept);
    drop_front(set, pid);
    return error;
}

void replica_apply_ready(struct replica_set *set, uint32_t number)
{
    struct replica_pid *pid = &set->pids[number];

    while (!set->given_up && pid->logged > 0 &&
           set->calls.ready(set->context, number, front(pid)->key)) {
        struct replica_logged *logged = elect(set, number);
        uint64_t key = front(pid)->key;
        int error;

        if (!logged)
            break;
        /* Nobody is asked for it again, whoever has sent it. */
        error = apply(set, number, logged);
        if (error)
            replica_fail(set, key, error);
        replica_settle(set, pid);
    }
}

void replica_apply_all(struct replica_set *set)
{
    for (uint32_t pid = 0; pid < set->nprocs; pid++)
        if (set->pids[pid].logged > 0)
            replica_apply_ready(set, pid);
}

/* ---- Taking -------------------------------------------------------------------------------- */

/* Of small contents they hear with the next ones of this host: those of homes that keep up are sent
 * already, and come before that, so that there is nothing to be said any more.  Where several must
 * agree, they may wait for it. */
static int tell_homes(struct replica_set *set, uint32_t number, const struct replica_logged *logged,
                      bool large)
{
    const struct replica_pid *pid = &set->pids[number];
    const struct replica_note note = {.pid = number,
                                      .about = logged->home,
                                      .key = logged->key,
                                      .digest = logged->digest,
                                      .word = REPLICA_WORD_HAS};
    int error = 0;

    for (unsigned slot = 0; slot < pid->count && !error; slot++)
        if (pid->homes[slot] != logged->home)
            error = replica_add_note(set, pid->homes[slot], &note,
                                     large || replica_needed(set, pid) > 1);
    return error;
}

/* A content that is new. */
static int keep(struct replica_set *set, uint32_t number, const struct replica_logged *logged,
                bool large, void *bytes, uint64_t size)
{
    struct replica_pid *pid = &set->pids[number];
    bool next = logged->key > pid->last;
    int error = append(set, pid, logged, bytes, size);

    if (error)
        free(bytes);
    if (error == -ENOSPC) {
        replica_give_up(set, set->own, logged->key);
        return 0;
    }
    if (error || !next)
        return error;
    pid->last = logged->key;
    return tell_homes(set, number, logged, large);
}

int replica_take_content(struct replica_set *set, uint32_t home,
                         const struct replica_copy_facts *facts, void *bytes, uint64_t size)
{
    uint32_t number = facts->pid;
    uint64_t key = facts->key;
    const struct replica_digest *digest = &facts->digest;
    struct replica_pid *pid = number < set->nprocs ? &set->pids[number] : NULL;
    const struct replica_logged logged = {.key = key, .digest = *digest, .home = home};
    struct link_place place = {0};
    const struct replica_logged *same;
    bool wanted;
    int error;

    if (!pid || pid->here || key == 0 || replica_slot(pid, home) == REPLICA_MOST || set->given_up) {
        free(bytes);
        return set->given_up ? 0 : -EPROTO;
    }
    if (pid->count == 2)
        replica_note_past(set, pid->homes[pid->homes[0] == home ? 1 : 0], facts->twin);
    same = key > pid->applied ? find(pid, key) : replica_ring_find(&set->recent, number, key);
    if (same && !replica_same(&same->digest, digest)) {
        void *read, *first = replica_store_see(&set->log, &same->kept, &read);

        if (first)
            set->calls.locate(set->context, first, same->kept.size, bytes, size, false, &place);
        free(read);
    }
    wanted = key > pid->last || (replica_needed(set, pid) > 1 && key > pid->applied && same &&
                                 !replica_same(&same->digest, digest));
    error = replica_tell(set, number, home, key, digest, true, &place);
    if (place.what != LINK_PLACE_NONE && replica_needed(set, pid) > 1)
        replica_note_seen(set, number, key, same->home, home, &place);
    if (!wanted && replica_needed(set, pid) == 1)
        replica_unsay(set, home, number, key, digest);
    if (!wanted || error)
        free(bytes);
    else
        error = keep(set, number, &logged, facts->large, bytes, size);
    if (!error)
        replica_apply_ready(set, number);
    return error;
}

/* Whether this host has another content, as it has told its homes: the home that sends the note is
 * about to send its own, too, which shows where the two differ.  Where several must agree what each
 * says counts at once, as its host may be lost before. */
static bool is_to_come(struct replica_set *set, struct replica_pid *pid,
                       const struct replica_note *note)
{
    const struct replica_logged *logged;

    if (note->word != REPLICA_WORD_MADE || pid->here || replica_needed(set, pid) > 1)
        return false;
    if (note->key <= pid->applied) {
        logged = replica_ring_find(&set->recent, note->pid, note->key);
        return logged && !replica_same(&logged->digest, &note->digest);
    }
    logged = find(pid, note->key);
    for (const struct replica_logged *at = logged; at; at = at > front(pid) ? at - 1 : NULL)
        if (at->key == note->key && replica_same(&at->digest, &note->digest))
            return false;
    return logged != NULL;
}

static bool makes_sense(const struct replica_set *set, uint32_t home,
                        const struct replica_note *note)
{
    const struct replica_pid *pid;

    if (note->pid >= set->nprocs || note->about >= set->home_count)
        return false;
    if (note->word == REPLICA_WORD_ALL)
        return true;
    pid = &set->pids[note->pid];
    if (note->key == 0 || replica_slot(pid, note->about) == REPLICA_MOST)
        return false;
    if (note->word == REPLICA_WORD_WAS_MADE)
        return true;
    return note->about != set->own && (note->word == REPLICA_WORD_HAS    ? pid->here
                                       : note->word == REPLICA_WORD_MADE ? note->about == home
                                                                         : false);
}

static void hear_all(struct replica_set *set, uint32_t home, uint32_t about)
{
    replica_said_hear(set, home, about);
    if (!set->unsure)
        replica_apply_all(set);
}

int replica_take_note(struct replica_set *set, uint32_t home, const struct replica_note *note)
{
    struct replica_pid *pid;
    int error;

    if (!makes_sense(set, home, note))
        return -EPROTO;
    if (note->about == set->own)
        return 0; /* it takes this host for lost */
    if (note->word == REPLICA_WORD_ALL) {
        hear_all(set, home, note->about);
        return 0;
    }
    pid = &set->pids[note->pid];
    if (note->word == REPLICA_WORD_HAS && note->key > set->others[home].have[note->pid])
        set->others[home].have[note->pid] = note->key;
    if (is_to_come(set, pid, note))
        return 0;
    if (pid->here && replica_turns_small(set, pid) &&
        !replica_agree(set, note->pid, note->key, &note->digest))
        replica_out_differs(set, note->pid, note->key);
    error = replica_tell(set, note->pid, note->about, note->key, &note->digest,
                         note->word == REPLICA_WORD_MADE, NULL);
    if (!error && !pid->here)
        replica_apply_ready(set, note->pid);
    return error;
}
