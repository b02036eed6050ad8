/* replica_out.c - what is sent to other hosts: notes and copies of contents; see replica_set.h.
 *
 * A copy is due at each host that needs the content and was not known to have it when it was made.
 * All copies are in one list, in the order they were made; each host has a cursor in it.  One that
 * is held back (replica_turn.c) holds back those behind it as well. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/replica_inside.h"

#define GATHERED 32u /* notes that wait, at most, while contents are held back */

/* ---- Notes --------------------------------------------------------------------------------- */

static void clear_given(struct replica_set *set, struct replica_other *other)
{
    if (!other->notes_given)
        return;
    set->told -= replica_bounded_notes(other);
    bspz_buffer_clear(&other->notes, 1u << 16);
    other->unbounded = 0;
    other->notes_given = false;
}

int replica_add_note(struct replica_set *set, uint32_t home, const struct replica_note *note,
                     bool urgent)
{
    struct replica_other *other = &set->others[home];

    if (other->lost)
        return 0;
    clear_given(set, other);
    if (!bspz_buffer_add(&other->notes, note, sizeof *note))
        return -ENOMEM;
    if (note->word == REPLICA_WORD_WAS_MADE || note->word == REPLICA_WORD_ALL)
        other->unbounded += sizeof *note;
    else
        set->told += sizeof *note;
    other->urgent |= urgent;
    return 0;
}

void replica_unsay(struct replica_set *set, uint32_t home, uint32_t pid, uint64_t key,
                   const struct replica_digest *digest)
{
    struct replica_other *other = &set->others[home];
    struct replica_note *notes = (struct replica_note *)(void *)other->notes.data;
    size_t count = other->notes_given ? 0 : other->notes.size / sizeof *notes, at = count;

    while (at > 0 && !(notes[at - 1].word == REPLICA_WORD_HAS && notes[at - 1].pid == pid &&
                       notes[at - 1].key == key))
        at--;
    if (at == 0 || !replica_same(&notes[at - 1].digest, digest))
        return;
    memmove(&notes[at - 1], &notes[at], (count - at) * sizeof *notes);
    other->notes.size -= sizeof *notes;
    set->told -= sizeof *notes;
}

/* Gives up hosts that do not even take notes. */
static void bound_notes(struct replica_set *set, uint64_t key)
{
    for (uint32_t home = 0; home < set->home_count; home++)
        if (replica_bounded_notes(&set->others[home]) > set->told_most / 2)
            replica_give_up(set, home, key);
}

static int tell_digest(struct replica_set *set, uint32_t home, uint32_t pid, uint64_t key,
                       const struct replica_digest *digest, bool urgent)
{
    const struct replica_note note = {
        .pid = pid, .about = set->own, .key = key, .digest = *digest, .word = REPLICA_WORD_MADE};

    return replica_add_note(set, home, &note, urgent);
}

/* ---- Copies -------------------------------------------------------------------------------- */

static bool has_bit(const uint64_t *bits, uint32_t home)
{
    return bits[home / 64] >> home % 64 & 1;
}

static bool is_due(const struct replica_copy *copy, uint32_t home)
{
    return has_bit(copy->due, home);
}

static void set_due(struct replica_copy *copy, uint32_t home)
{
    copy->due[home / 64] |= UINT64_C(1) << home % 64;
    copy->left++;
}

static void free_copy(struct replica_set *set, struct replica_copy *copy)
{
    replica_store_drop(&set->copies, &copy->kept);
    free(copy->due);
    free(copy);
}

/* Frees the bytes that nobody needs, and the copies at the beginning of the list. */
static void not_needed(struct replica_set *set, struct replica_copy *copy)
{
    if (copy->left == 0 && copy->flying == 0)
        replica_store_drop(&set->copies, &copy->kept);
}

static void free_front(struct replica_set *set)
{
    while (set->first && set->first->left == 0 && set->first->flying == 0) {
        struct replica_copy *copy = set->first;

        for (uint32_t home = 0; home < set->home_count; home++)
            if (set->others[home].cursor == copy)
                set->others[home].cursor = copy->next;
        set->first = copy->next;
        if (!set->first)
            set->tail = &set->first;
        free_copy(set, copy);
    }
}

static void not_due(struct replica_set *set, struct replica_copy *copy, uint32_t home)
{
    if (!is_due(copy, home))
        return;
    copy->due[home / 64] &= ~(UINT64_C(1) << home % 64);
    copy->left--;
    not_needed(set, copy);
}

/* Who has something else is sent this as well, to compare it. */
static bool lacks(const struct replica_set *set, uint32_t home, const struct replica_copy *copy)
{
    const struct replica_other *other = &set->others[home];

    return (other->have[copy->pid] < copy->key && other->past < copy->key) || copy->differs;
}

void replica_out_differs(struct replica_set *set, uint32_t pid, uint64_t key)
{
    for (struct replica_copy *copy = set->first; copy; copy = copy->next)
        if (copy->pid == pid && copy->key == key)
            copy->differs = true;
}

/* Tells one host of a content that was made: at once, or by a copy in the list. */
static int offer(struct replica_set *set, uint32_t home, struct replica_copy *copy, bool *needed)
{
    struct replica_other *other = &set->others[home];
    bool lacked = lacks(set, home, copy);

    if (replica_set_is_home(set, home, copy->pid) || (!other->cursor && !lacked))
        return tell_digest(set, home, copy->pid, copy->key, &copy->digest, true);
    *needed |= lacked;
    set_due(copy, home);
    return 0;
}

static int put_content(struct replica_set *set, uint32_t pid, uint64_t key,
                       const struct replica_digest *digest, bool *needed)
{
    struct replica_copy *copy = calloc(1, sizeof *copy);
    size_t words = set->home_count / 64 + 1;
    int error;

    *needed = false;
    if (!copy)
        return -ENOMEM;
    *copy = (struct replica_copy){.pid = pid, .key = key, .digest = *digest};
    copy->due = calloc(2 * words, sizeof *copy->due);
    copy->told = copy->due + words;
    set->pids[pid].last = key;
    bound_notes(set, key);
    copy->differs = !replica_agree(set, pid, key, digest); /* may be forgotten once it is told */
    error = copy->due ? replica_tell(set, pid, set->own, key, digest, true, NULL) : -ENOMEM;
    for (uint32_t home = 0; home < set->home_count && !error; home++)
        if (home != set->own && !set->others[home].lost)
            error = offer(set, home, copy, needed);
    if (error || copy->left == 0) {
        free_copy(set, copy);
        *needed = false;
        return error;
    }
    set->making = copy;
    return 0;
}

int replica_set_put(struct replica_set *set, uint32_t pid, uint64_t key,
                    const struct replica_digest *digest, bool *needed)
{
    int error = put_content(set, pid, key, digest, needed);

    if (!error)
        replica_check(set);
    return error;
}

/* The host for which most of the copies are kept: the first one to which the oldest is due.  False:
 * none trails.  Whose content this host had to have to make that of the key has all of what was
 * made two supersteps before, but maybe not of one. */
static bool give_up_slowest(struct replica_set *set, uint64_t key)
{
    for (const struct replica_copy *copy = set->first;
         copy && replica_superstep(copy->key) + 1 < replica_superstep(key); copy = copy->next)
        for (uint32_t home = 0; copy->left > 0 && home < set->home_count; home++)
            if (is_due(copy, home)) {
                replica_give_up(set, home, copy->key);
                replica_out_drop(set, home);
                return true;
            }
    return false;
}

/* Room for its bytes, at the cost of hosts that trail, or else of memory. */
static void make_room(struct replica_set *set, struct replica_copy *copy, void *bytes,
                      uint64_t size)
{
    bool kept;

    do
        kept = replica_store_keep(&set->copies, bytes, size, &copy->kept) == 0;
    while (!kept && give_up_slowest(set, copy->key));
    if (!kept)
        replica_store_keep_in_memory(&set->copies, bytes, size, &copy->kept);
    for (uint32_t home = 0; home < set->home_count; home++)
        if (home != set->own && set->others[home].lost)
            not_due(set, copy, home);
}

static void keep_content(struct replica_set *set, void *bytes, uint64_t size)
{
    struct replica_copy *copy = set->making;

    set->making = NULL;
    if (!copy) {
        free(bytes);
        return;
    }
    copy->large = set->turn_bytes > 0 && size >= set->turn_bytes;
    if (bytes)
        make_room(set, copy, bytes, size);
    if (copy->left == 0) {
        free_copy(set, copy);
        return;
    }
    *set->tail = copy;
    set->tail = &copy->next;
    for (uint32_t home = 0; home < set->home_count; home++)
        if (is_due(copy, home) && !set->others[home].cursor)
            set->others[home].cursor = copy;
}

void replica_set_keep(struct replica_set *set, void *bytes, uint64_t size)
{
    keep_content(set, bytes, size);
    replica_check(set);
}

static struct replica_copy *next_due(struct replica_set *set, uint32_t home)
{
    struct replica_other *other = &set->others[home];

    while (other->cursor && !is_due(other->cursor, home))
        other->cursor = other->cursor->next;
    return other->cursor;
}

static bool hand_out_notes(struct replica_other *other, struct replica_order *order)
{
    if (other->notes.size == 0)
        return false;
    order->notes = (const struct replica_note *)(const void *)other->notes.data;
    order->note_count = other->notes.size / sizeof *order->notes;
    other->notes_given = true;
    other->urgent = false;
    return true;
}

/* Passes what the host has got from others.  The copy that it lacks; NULL: none. */
static struct replica_copy *next_lacked(struct replica_set *set, uint32_t home)
{
    struct replica_other *other = &set->others[home];
    struct replica_copy *copy;

    while ((copy = next_due(set, home)) != NULL) {
        if (copy->kept.size > 0 && lacks(set, home, copy))
            break;
        if (!has_bit(copy->told, home) &&
            tell_digest(set, home, copy->pid, copy->key, &copy->digest,
                        copy->large || !replica_turns_small(set, &set->pids[copy->pid])) != 0)
            break; /* no memory: the content says it as well */
        replica_turn_spared(&other->turn, copy->key);
        other->cursor = copy->next;
        not_due(set, copy, home);
    }
    free_front(set);
    return next_due(set, home);
}

/* Where several must agree a host waits for the digests of what is held back. */
static void tell_ahead(struct replica_set *set, uint32_t home)
{
    for (struct replica_copy *copy = set->others[home].cursor; copy; copy = copy->next) {
        if (!is_due(copy, home) || has_bit(copy->told, home) ||
            replica_needed(set, &set->pids[copy->pid]) == 1)
            continue;
        if (tell_digest(set, home, copy->pid, copy->key, &copy->digest, true) != 0)
            return;
        copy->told[home / 64] |= UINT64_C(1) << home % 64;
    }
}

/* Where two homes take turns, what one says to those to which the other one sends would be all that
 * it sends there: it says it together with what comes later. */
static bool may_gather(const struct replica_set *set, const struct replica_other *other)
{
    return !other->urgent && other->account_count == 0 &&
           other->notes.size < GATHERED * sizeof(struct replica_note) &&
           set->told < set->told_most / 4;
}

static bool find_next(struct replica_set *set, uint32_t home, struct replica_order *order)
{
    struct replica_other *other = &set->others[home];
    struct replica_copy *copy;
    bool waits;

    *order = (struct replica_order){0};
    if (other->lost)
        return false;
    clear_given(set, other);
    other->account_given = false;
    copy = next_lacked(set, home);
    waits = copy && replica_turn_waits(set, home, copy, &order->wait);
    if (waits)
        tell_ahead(set, home);
    if (waits && !copy->large && may_gather(set, other))
        return false;
    /* Notes of what was made before go first. */
    if (hand_out_notes(other, order) || replica_account_next(set, other, &order->account))
        return true;
    if (!copy || waits)
        return false;
    other->cursor = copy->next;
    copy->flying++;
    order->copy = copy;
    return true;
}

bool replica_set_owes(const struct replica_set *set)
{
    for (const struct replica_copy *copy = set->first; copy; copy = copy->next)
        if (copy->differs && (copy->left > 0 || copy->flying > 0))
            return true;
    for (uint32_t home = 0; home < set->home_count; home++)
        if (!set->others[home].lost &&
            (set->others[home].account_given || set->others[home].account_count > 0))
            return true;
    return false;
}

bool replica_set_next(struct replica_set *set, uint32_t home, struct replica_order *order)
{
    bool result = find_next(set, home, order);

    replica_check(set);
    return result;
}

static void forget_sent(struct replica_set *set, uint32_t home, struct replica_copy *copy)
{
    copy->flying--;
    not_due(set, copy, home);
    not_needed(set, copy);
    free_front(set);
}

void replica_set_sent(struct replica_set *set, uint32_t home, struct replica_copy *copy)
{
    forget_sent(set, home, copy);
    replica_check(set);
}

/* False: it is another home's turn to send that one, or it is not lacked. */
static bool is_worth_looking(const struct replica_set *set, uint32_t home,
                             const struct replica_copy *copy)
{
    if (copy->large || !replica_turns_small(set, &set->pids[copy->pid]))
        return true;
    return is_due(copy, home) && copy->kept.size > 0 && lacks(set, home, copy) &&
           !replica_turn_holds(set, home, copy);
}

bool replica_set_is_urgent(const struct replica_set *set, uint32_t home)
{
    const struct replica_other *other = &set->others[home];
    const struct replica_copy *copy = other->cursor;

    while (copy && !is_worth_looking(set, home, copy))
        copy = copy->next;
    return other->urgent || other->account_count > 0 || copy;
}

struct replica_copy_facts replica_set_facts(const struct replica_set *set,
                                            const struct replica_copy *copy)
{
    const struct replica_pid *pid = &set->pids[copy->pid];
    uint64_t twin = 0;

    if (pid->count == 2)
        twin = pid->ledger.come[pid->homes[0] == set->own ? 1 : 0];
    return (struct replica_copy_facts){copy->pid, copy->key, copy->digest, copy->large, twin};
}

void *replica_set_see(const struct replica_set *set, const struct replica_copy *copy,
                      uint64_t *size, void **read)
{
    *size = copy->kept.size;
    return replica_store_see(&set->copies, &copy->kept, read);
}

/* ---- What homes have said that are lost ----------------------------------------------------- */

static int tell_entry(struct replica_set *set, uint32_t to, uint32_t number,
                      const struct replica_entry *entry)
{
    const struct replica_pid *pid = &set->pids[number];
    int error = 0;

    for (unsigned slot = 0; slot < pid->count && !error; slot++) {
        const struct replica_note note = {.pid = number,
                                          .about = pid->homes[slot],
                                          .key = entry->key,
                                          .digest = entry->digests[slot],
                                          .word = REPLICA_WORD_WAS_MADE};

        if (entry->spoken & 1u << slot && set->others[note.about].lost &&
            set->others[to].past < entry->key)
            error = replica_add_note(set, to, &note, true);
    }
    return error;
}

static int tell_one(struct replica_set *set, uint32_t to, uint32_t home)
{
    const struct replica_note last = {.about = home, .word = REPLICA_WORD_ALL};
    int error = 0;

    for (uint32_t number = 0; number < set->nprocs; number++) {
        const struct replica_ledger *ledger = &set->pids[number].ledger;

        for (size_t i = 0; i < ledger->count && !error; i++)
            error = tell_entry(set, to, number, &ledger->list[ledger->begin + i]);
    }
    return error ? error : replica_add_note(set, to, &last, true);
}

void replica_out_tell_lost(struct replica_set *set, uint32_t home)
{
    int error = 0;

    if (!set->majority || !set->others[home].homes_any || set->others[home].said)
        return;
    set->others[home].said = true;
    for (uint32_t to = 0; to < set->home_count && !error; to++)
        if (to != set->own)
            error = tell_one(set, to, home);
    if (error)
        replica_fail(set, 0, error);
}

/* ---- Hosts that are lost ------------------------------------------------------------------- */

void replica_out_drop(struct replica_set *set, uint32_t home)
{
    struct replica_other *other = &set->others[home];

    set->told -= replica_bounded_notes(other);
    bspz_buffer_free(&other->notes);
    other->unbounded = 0;
    other->notes_given = false;
    other->account_count = 0;
    other->account_given = false;
    other->cursor = NULL;
    for (struct replica_copy *copy = set->first; copy; copy = copy->next)
        not_due(set, copy, home);
    free_front(set);
}

void replica_out_free(struct replica_set *set)
{
    while (set->first) {
        struct replica_copy *copy = set->first;

        set->first = copy->next;
        free_copy(set, copy);
    }
    if (set->making)
        free_copy(set, set->making);
    for (uint32_t home = 0; home < set->home_count; home++) {
        bspz_buffer_free(&set->others[home].notes);
        free(set->others[home].have);
        free(set->others[home].heard);
    }
}
