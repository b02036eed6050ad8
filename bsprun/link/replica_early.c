/* replica_early.c - the way in for what other homes send, and what has come before this host knows
 * of the stop at which it was made; see replica_set.h.
 *
 * Processor Zero says where processes stop at their calls, and each host hears that at a moment of
 * its own: contents may come before it.  If Processor Zero's host is lost, and no other has heard
 * it, its successor decides anew, maybe otherwise.  What was made at the former stop then must not
 * be compared, nor applied.  Once a host has heard of a stop it tells the successor, so that the
 * same one is decided: what counts on a host is final.
 *
 * Happy path: a note or content at a stop -> it waits in the list of its home, as does all that
 * comes behind it of the same process -> the stop is known (replica_set_advance) -> it is taken, in
 * order. What can fail: no room, which gives up this host; the home is lost: the list is dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/replica_inside.h"

void replica_early_begin(struct replica_set *set)
{
    for (uint32_t home = 0; home < set->home_count; home++)
        set->others[home].early_tail = &set->others[home].early;
}

/* ---- The lists ----------------------------------------------------------------------------- */

static uint64_t size_of(const struct replica_early *early)
{
    return sizeof *early + early->size;
}

static struct replica_early *take_out(struct replica_set *set, struct replica_other *other,
                                      struct replica_early **at)
{
    struct replica_early *early = *at;

    *at = early->next;
    if (!*at)
        other->early_tail = at;
    set->early -= size_of(early);
    return early;
}

void replica_early_drop(struct replica_set *set, uint32_t home)
{
    while (set->others[home].early) {
        struct replica_other *other = &set->others[home];
        struct replica_early *first = take_out(set, other, &other->early);

        free(first->bytes);
        free(first);
    }
}

/* Takes the bytes over. */
static int wait(struct replica_set *set, uint32_t home, const struct replica_early *what)
{
    struct replica_other *other = &set->others[home];
    struct replica_early *early = malloc(sizeof *early);

    if (!early || set->given_up) {
        bool memory = early != NULL;

        free(what->bytes);
        free(early);
        return memory ? 0 : -ENOMEM;
    }
    *early = *what;
    early->next = NULL;
    *other->early_tail = early;
    other->early_tail = &early->next;
    set->early += size_of(early);
    if (set->early > set->early_most)
        replica_give_up(set, set->own, 0);
    return 0;
}

/* ---- What waits ---------------------------------------------------------------------------- */

static bool is_early(const struct replica_set *set, const struct replica_digest *digest,
                     uint64_t key)
{
    unsigned stop = (unsigned)(digest->words[1] & REPLICA_STOP);

    return set->calls.knows_stop && key > 0 && stop > 0 &&
           !set->calls.knows_stop(set->context, replica_superstep(key), stop);
}

static bool still_waits(const struct replica_set *set, const struct replica_early *early)
{
    if (early->kind == EARLY_NOTE)
        return is_early(set, &early->note.digest, early->note.key);
    return early->kind == EARLY_CONTENT && is_early(set, &early->facts.digest, early->facts.key);
}

/* In any case the bytes are taken over. */
static int take(struct replica_set *set, uint32_t home, const struct replica_early *what)
{
    int error;

    if (what->kind == EARLY_NOTE)
        return replica_take_note(set, home, &what->note);
    if (what->kind == EARLY_CONTENT)
        return replica_take_content(set, home, &what->facts, what->bytes, what->size);
    error = replica_take_account(set, home, &what->account);
    free(what->bytes);
    return error;
}

static uint32_t pid_of(const struct replica_early *early)
{
    return early->kind == EARLY_NOTE      ? early->note.pid
           : early->kind == EARLY_ACCOUNT ? early->account.pid
                                          : early->facts.pid;
}

static uint64_t key_of(const struct replica_early *early)
{
    return early->kind == EARLY_NOTE      ? early->note.key
           : early->kind == EARLY_ACCOUNT ? early->account.key
                                          : early->facts.key;
}

/* That a home has told all comes behind all that it has told. */
static bool is_last(const struct replica_early *early)
{
    return early->kind == EARLY_NOTE && early->note.word == REPLICA_WORD_ALL;
}

/* Of each process it is taken in the order of keys: without lower ones, which notes may be ahead
 * of, and without other processes this host may not come so far that it knows of the stop. */
static bool is_behind(const struct replica_set *set, uint32_t home,
                      const struct replica_early *what)
{
    const struct replica_early *early = set->others[home].early;

    while (early &&
           (is_last(early) || pid_of(early) != pid_of(what) || key_of(early) > key_of(what)))
        early = early->next;
    return early != NULL;
}

static int take_or_wait(struct replica_set *set, uint32_t home, const struct replica_early *what)
{
    if (pid_of(what) >= set->nprocs) /* that makes no sense */
        return take(set, home, what);
    if (is_last(what) ? set->others[home].early != NULL
                      : still_waits(set, what) || is_behind(set, home, what))
        return wait(set, home, what);
    return take(set, home, what);
}

/* The link by which it came cannot be told any more that something makes no sense. */
static void take_late(struct replica_set *set, uint32_t home, const struct replica_early *what)
{
    uint64_t key = key_of(what);
    int error = take(set, home, what);

    if (error == -ENOMEM)
        replica_fail(set, key, error);
    else if (error)
        replica_give_up(set, home, key);
}

static void go_on(struct replica_set *set, uint32_t home)
{
    struct replica_early **at = &set->others[home].early;

    memset(set->waits, 0, set->nprocs * sizeof *set->waits);
    while (*at) {
        struct replica_early *early = *at;
        uint64_t *waits = &set->waits[pid_of(early)], key = key_of(early);
        bool last = is_last(early),
             behind = last ? at != &set->others[home].early : *waits > 0 && *waits <= key;

        if (behind || still_waits(set, early)) {
            if (!last)
                *waits = *waits > 0 && *waits < key ? *waits : key;
            at = &early->next;
            continue;
        }
        early = take_out(set, &set->others[home], at);
        take_late(set, home, early);
        free(early);
    }
}

/* ---- What comes ---------------------------------------------------------------------------- */

int replica_set_take(struct replica_set *set, uint32_t home, const struct replica_copy_facts *facts,
                     void *bytes, uint64_t size)
{
    const struct replica_early what = {
        .kind = EARLY_CONTENT, .facts = *facts, .bytes = bytes, .size = size};
    int error = take_or_wait(set, home, &what);

    if (!error)
        replica_check(set);
    return error;
}

int replica_set_note(struct replica_set *set, uint32_t home, const struct replica_note *note)
{
    const struct replica_early what = {.kind = EARLY_NOTE, .note = *note};
    int error = take_or_wait(set, home, &what);

    if (!error)
        replica_check(set);
    return error;
}

int replica_set_compare(struct replica_set *set, uint32_t home,
                        const struct replica_account *account)
{
    struct replica_early what = {.kind = EARLY_ACCOUNT, .account = *account};

    if (account->pid >= set->nprocs || !is_behind(set, home, &what))
        return replica_take_account(set, home, account);
    what.bytes = malloc(account->size + 1);
    if (!what.bytes)
        return -ENOMEM;
    memcpy(what.bytes, account->bytes, account->size);
    what.account.bytes = what.bytes;
    what.size = account->size;
    return wait(set, home, &what);
}

void replica_set_advance(struct replica_set *set)
{
    for (uint32_t home = 0; home < set->home_count; home++)
        if (set->others[home].early)
            go_on(set, home);
    replica_apply_all(set);
    replica_check(set);
}
