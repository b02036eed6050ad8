/* replica_invariants.c - what is true of a set of replicas after every call; see
 * replica_inside.h.
 *
 * After an error, that is without memory, the caller ends the term, and nothing is promised of what
 * is left. */
#include <assert.h>
#include <stdlib.h>

#include "bsprun/link/replica_inside.h"

#define CHECK_EVERY 8u /* calls, as there may be much to look at */

/* Adds up what the store has to have. */
static void add(struct replica_store *sum, const struct replica_kept *kept)
{
    *(kept->bytes ? &sum->memory : &sum->file) += kept->size;
}

/* ---- What homes have told ------------------------------------------------------------------- */

static void check_ledger(const struct replica_pid *pid)
{
    const struct replica_ledger *ledger = &pid->ledger;
    uint64_t before = ledger->settled;

    assert(ledger->begin + ledger->count <= ledger->room);
    for (size_t i = 0; i < ledger->count; i++) {
        const struct replica_entry *entry = &ledger->list[ledger->begin + i];

        assert(entry->key > before);
        before = entry->key;
        assert(entry->spoken != 0 && entry->spoken < 1u << pid->count);
        assert((entry->judged & ~entry->spoken) == 0);
        assert((entry->outvoted & ~entry->judged) == 0);
        assert(entry->spoken & 1u << entry->first);
    }
}

/* ---- What comes ----------------------------------------------------------------------------- */

static void check_log(const struct replica_pid *pid, struct replica_store *sum)
{
    uint64_t before = pid->applied + 1;

    assert(pid->begin + pid->logged <= pid->room);
    assert(pid->applied <= pid->last);
    assert(!pid->here || (pid->logged == 0 && pid->applied == 0));
    for (size_t i = 0; i < pid->logged; i++) {
        const struct replica_logged *logged = &pid->log[pid->begin + i];

        assert(logged->key >= before && logged->key <= pid->last);
        before = logged->key;
        assert(replica_slot(pid, logged->home) < REPLICA_MOST);
        add(sum, &logged->kept);
    }
}

static uint64_t last_of(const struct replica_pid *pid)
{
    return pid->here ? pid->last : pid->applied;
}

static void check_ring(const struct replica_set *set, const struct replica_ring *ring)
{
    uint64_t bytes = 0;

    assert(ring->count <= ring->room && ring->newest < ring->room);
    for (unsigned i = 1; i <= ring->count; i++) {
        const struct replica_recent *recent =
            &ring->entries[(ring->newest + ring->room - i) % ring->room];

        assert(recent->logged.kept.bytes);
        assert(set->pids[recent->pid].here == (ring == &set->made));
        assert(recent->logged.key <= last_of(&set->pids[recent->pid]));
        bytes += recent->logged.kept.size;
    }
    assert(bytes == ring->bytes && bytes <= ring->most);
}

static void check_pid(const struct replica_set *set, const struct replica_pid *pid)
{
    assert(pid->count > 0 && pid->count <= REPLICA_MOST);
    for (unsigned slot = 0; slot < pid->count; slot++) {
        assert(pid->homes[slot] < set->home_count);
        assert(slot == 0 || pid->homes[slot - 1] < pid->homes[slot]);
    }
    assert(pid->here == (replica_slot(pid, set->own) < REPLICA_MOST));
    check_ledger(pid);
}

/* ---- What goes ------------------------------------------------------------------------------ */

/* What is due at a home lies at its cursor or behind it, or has been handed out: nothing is passed
 * over. */
static void check_cursors(const struct replica_set *set, const struct replica_copy *copy,
                          bool *passed)
{
    for (uint32_t home = 0; home < set->home_count; home++) {
        bool due = copy->due[home / 64] >> home % 64 & 1;

        passed[home] = passed[home] || set->others[home].cursor == copy;
        assert(!due || home != set->own);
        assert(!due || passed[home] || copy->flying > 0 || set->others[home].lost);
    }
}

static void check_copies(const struct replica_set *set, struct replica_store *sum)
{
    const struct replica_copy *copy = set->first;
    struct replica_copy *const *at = &set->first;
    bool *passed = calloc(set->home_count, sizeof *passed);

    assert(passed);
    assert(!copy || copy->left > 0 || copy->flying > 0);
    for (; copy; copy = copy->next) {
        uint32_t due = 0;

        for (uint32_t word = 0; word <= set->home_count / 64; word++)
            due += (uint32_t)__builtin_popcountll(copy->due[word]);
        assert(due == copy->left);
        assert(copy->pid < set->nprocs && set->pids[copy->pid].here);
        assert(copy->key > 0 && copy->key <= set->pids[copy->pid].last);
        assert(copy->left > 0 || copy->flying > 0 || copy->kept.size == 0);
        check_cursors(set, copy, passed);
        add(sum, &copy->kept);
        at = &copy->next;
    }
    assert(set->tail == at);
    for (uint32_t home = 0; home < set->home_count; home++)
        assert(passed[home] || !set->others[home].cursor); /* it is in the list */
    free(passed);
}

static void check_other(const struct replica_set *set, const struct replica_other *other)
{
    bool own = other == &set->others[set->own];

    assert(!own || (!other->lost && !other->cursor && other->notes.size == 0));
    assert(!other->have == own);
    assert(other->notes.size % sizeof(struct replica_note) == 0);
    assert(!other->notes_given || other->notes.size > 0);
    assert(other->turn.place < REPLICA_MOST);
    assert(other->account_count <= REPLICA_ACCOUNTS);
}

static void check_all(const struct replica_set *set)
{
    struct replica_store logged = {0}, copied = {0};
    uint64_t told = 0, early = 0;

    assert(set->own < set->home_count && set->agree > 0);
    for (uint32_t number = 0; number < set->nprocs; number++) {
        const struct replica_pid *pid = &set->pids[number];

        check_pid(set, pid);
        check_log(pid, &logged);
        told += pid->ledger.count * sizeof(struct replica_entry);
    }
    for (uint32_t home = 0; home < set->home_count; home++) {
        for (struct replica_early *at = set->others[home].early; at; at = at->next)
            early += sizeof *at + at->size;
        check_other(set, &set->others[home]);
        told += replica_bounded_notes(&set->others[home]);
    }
    check_ring(set, &set->recent);
    check_ring(set, &set->made);
    check_copies(set, &copied);
    assert(told == set->told && early == set->early);
    assert(logged.memory == set->log.memory && logged.file == set->log.file);
    assert(copied.memory == set->copies.memory && copied.file == set->copies.file);
    for (unsigned stage = 0; stage < REPLICA_STAGES; stage++)
        assert(set->ahead[stage] == 0 ||
               (replica_stage(set->ahead[stage]) == stage && set->ahead[stage] <= set->captured));
}

void replica_check(struct replica_set *set)
{
    if (++set->steps % CHECK_EVERY == 0)
        check_all(set);
}
