/* replica_state.c - homes, what they have told, and which of them are left; see replica_inside.h.
 *
 * Happy path: replica_tell enters a digest -> `mismatch` where it differs -> replica_settle when
 * all homes have come past a key.  What can fail: memory, and the bound of what is remembered,
 * which gives up the home for which most of it is. */
#include <string.h>

#include "bsprun/link/replica_inside.h"

/* ---- Homes --------------------------------------------------------------------------------- */

unsigned replica_slot(const struct replica_pid *pid, uint32_t home)
{
    unsigned slot = 0;

    while (slot < pid->count && pid->homes[slot] != home)
        slot++;
    return slot < pid->count ? slot : REPLICA_MOST;
}

/* Bits of the slots whose homes are left. */
static uint32_t slots_left(const struct replica_set *set, const struct replica_pid *pid)
{
    uint32_t left = 0;

    for (unsigned slot = 0; slot < pid->count; slot++)
        if (!set->others[pid->homes[slot]].lost)
            left |= 1u << slot;
    return left;
}

unsigned replica_needed(const struct replica_set *set, const struct replica_pid *pid)
{
    if (set->majority)
        return pid->count / 2 + 1;
    return pid->count > 2 ? set->agree : 1;
}

bool replica_turns_small(const struct replica_set *set, const struct replica_pid *pid)
{
    return pid->count == 2 && replica_needed(set, pid) == 1;
}

unsigned replica_chosen(const struct replica_set *set, const struct replica_pid *pid,
                        const struct replica_entry *entry)
{
    uint32_t left = slots_left(set, pid);
    unsigned leader = replica_entry_leader(entry);

    /* What fewer have said may be of a home that was lost because it does not count. */
    if (leader < REPLICA_MOST &&
        ((left & ~entry->spoken) == 0 ||
         replica_entry_alike(entry, &entry->digests[leader]) >= replica_needed(set, pid)))
        return leader;
    return REPLICA_MOST;
}

bool replica_may_come(const struct replica_set *set, const struct replica_pid *pid,
                      const struct replica_entry *entry, const struct replica_digest *digest)
{
    uint32_t left = slots_left(set, pid) & entry->spoken;

    for (unsigned slot = 0; slot < pid->count; slot++)
        if (left & 1u << slot && replica_same(&entry->digests[slot], digest))
            return true;
    return false;
}

bool replica_set_is_in_vain(const struct replica_set *set, uint64_t key, uint32_t *pid)
{
    for (*pid = 0; *pid < set->nprocs; ++*pid) {
        const struct replica_pid *of = &set->pids[*pid];

        if (!of->here && of->last < key && slots_left(set, of) == 0)
            return true;
    }
    return false;
}

bool replica_set_is_home(const struct replica_set *set, uint32_t home, uint32_t pid)
{
    return replica_slot(&set->pids[pid], home) < REPLICA_MOST;
}

/* The ledger holds less for it from now on; the rest is dropped by replica_set_lost. */
void replica_give_up(struct replica_set *set, uint32_t home, uint64_t key)
{
    bool *gone = home == set->own ? &set->given_up : &set->others[home].lost;

    if (*gone)
        return;
    *gone = true;
    replica_said_look(set);
    set->calls.behind(set->context, home, key);
}

void replica_fail(struct replica_set *set, uint64_t key, int error)
{
    if (!set->given_up)
        set->error = error;
    replica_give_up(set, set->own, key);
}

int replica_set_error(const struct replica_set *set, uint32_t home)
{
    return home == set->own ? set->error : 0;
}

/* ---- What homes have told ------------------------------------------------------------------- */

/* Copies of it are then sent to hosts that have something else. */
static void mark_copies(struct replica_set *set, uint32_t pid, uint64_t key)
{
    for (struct replica_copy *copy = set->first; copy; copy = copy->next)
        if (copy->pid == pid && copy->key == key)
            copy->differs = true;
}

static void note_mismatch(struct replica_set *set, uint32_t number, uint64_t key, unsigned first,
                          unsigned slot, bool open, const struct link_place *place)
{
    const struct replica_pid *pid = &set->pids[number];
    const struct replica_entry *entry = replica_ledger_of(&pid->ledger, key);
    struct replica_mismatch mismatch = {
        .pid = number,
        .key = key,
        .homes = {pid->homes[first], pid->homes[slot]},
        .alike = {replica_entry_alike(entry, &entry->digests[first]),
                  replica_entry_alike(entry, &entry->digests[slot])},
        .open = open};

    if (place)
        mismatch.place = *place;
    set->pids[number].differs = true;
    mark_copies(set, number, key);
    set->calls.mismatch(set->context, &mismatch);
}

void replica_note_seen(struct replica_set *set, uint32_t number, uint64_t key, uint32_t first,
                       uint32_t second, const struct link_place *place)
{
    const struct replica_mismatch mismatch = {
        .pid = number, .key = key, .homes = {first, second}, .seen = true, .place = *place};

    if (key <= set->pids[number].seen)
        return;
    set->pids[number].seen = key;
    set->calls.mismatch(set->context, &mismatch);
}

void replica_note_in_vain(struct replica_set *set, uint32_t number, uint64_t key, unsigned chosen,
                          uint32_t home)
{
    struct replica_pid *pid = &set->pids[number];
    const struct replica_entry *entry = replica_ledger_of(&pid->ledger, key);
    unsigned slot = replica_slot(pid, home);
    const struct replica_mismatch mismatch = {
        .pid = number,
        .key = key,
        .homes = {pid->homes[chosen], home},
        .alike = {replica_entry_alike(entry, &entry->digests[chosen]),
                  replica_entry_alike(entry, &entry->digests[slot])},
        .in_vain = true};

    if (pid->in_vain)
        return;
    pid->in_vain = true;
    set->calls.mismatch(set->context, &mismatch);
}

/* Where the first counts. */
static void note_new(struct replica_set *set, uint32_t number, uint64_t key, unsigned slot,
                     const struct link_place *place)
{
    const struct replica_pid *pid = &set->pids[number];
    const struct replica_entry *entry = replica_ledger_of(&pid->ledger, key);
    unsigned first = replica_entry_alike(entry, &entry->digests[entry->first]);
    unsigned own = replica_entry_alike(entry, &entry->digests[slot]);

    note_mismatch(set, number, key, entry->first, slot,
                  first == own && (slots_left(set, pid) & ~entry->spoken) != 0, place);
}

/* One more agrees with the first: those that have been as many are not any more. */
static void note_majority(struct replica_set *set, uint32_t number, uint64_t key)
{
    const struct replica_entry *entry = replica_ledger_of(&set->pids[number].ledger, key);

    for (unsigned slot = 0; entry && slot < REPLICA_MOST; slot++) {
        const struct replica_digest *first = &entry->digests[entry->first];
        const struct replica_digest *other = &entry->digests[slot];

        if (entry->spoken & 1u << slot && !replica_same(first, other) &&
            replica_entry_alike(entry, first) == replica_entry_alike(entry, other) + 1)
            note_mismatch(set, number, key, entry->first, slot, false, NULL);
    }
}

/* Where several must agree: reports those that do not count, once it is known which these are.
 * `slot`: the one that has just spoken; REPLICA_MOST: none. */
static void judge(struct replica_set *set, uint32_t number, uint64_t key, unsigned slot,
                  const struct link_place *place)
{
    struct replica_pid *pid = &set->pids[number];
    const struct replica_entry *entry = replica_ledger_of(&pid->ledger, key);
    unsigned chosen;

    if (!entry || !replica_entry_differs(entry))
        return;
    chosen = replica_chosen(set, pid, entry);
    if (chosen == REPLICA_MOST) {
        if (slot < REPLICA_MOST &&
            !replica_same(&entry->digests[entry->first], &entry->digests[slot]))
            note_mismatch(set, number, key, entry->first, slot, true, place);
        return;
    }
    for (unsigned other = 0; other < pid->count; other++) {
        const struct replica_digest *counts = &entry->digests[chosen];
        const struct replica_digest *own = &entry->digests[other];
        bool outvoted = replica_entry_alike(entry, counts) > replica_entry_alike(entry, own);

        if (entry->spoken & 1u << other && !replica_same(counts, own) &&
            replica_ledger_judge(&pid->ledger, key, other, outvoted))
            note_mismatch(set, number, key, chosen, other, false, place);
    }
}

void replica_judge_again(struct replica_set *set, uint32_t number)
{
    const struct replica_pid *pid = &set->pids[number];
    const struct replica_ledger *ledger = &pid->ledger;

    for (size_t i = 0; replica_needed(set, pid) > 1 && i < ledger->count; i++)
        judge(set, number, ledger->list[ledger->begin + i].key, REPLICA_MOST, NULL);
}

static bool has_spoken(const struct replica_pid *pid, unsigned slot, uint64_t key)
{
    const struct replica_entry *entry = replica_ledger_of(&pid->ledger, key);

    return entry && entry->spoken & 1u << slot;
}

static const struct replica_entry *first_retained(const struct replica_set *set,
                                                  const struct replica_pid *pid, uint64_t most)
{
    for (size_t i = 0; set->majority && i < pid->ledger.count; i++) {
        const struct replica_entry *entry = &pid->ledger.list[pid->ledger.begin + i];

        if (entry->key > most)
            break;
        if (replica_said_retains(set, pid, entry))
            return entry;
    }
    return NULL;
}

void replica_settle(struct replica_set *set, struct replica_pid *pid)
{
    /* A content that is to be agreed on is looked up until it is applied, or passed here. */
    uint64_t most = replica_needed(set, pid) == 1 ? UINT64_MAX
                    : pid->here                   ? set->passed
                                                  : pid->applied;
    const struct replica_entry *retained = first_retained(set, pid, most);

    if (retained) {
        set->retains = true;
        most = retained->key - 1;
    }
    set->told -= replica_ledger_settle(&pid->ledger, slots_left(set, pid), most) *
                 sizeof(struct replica_entry);
}

/* ---- Agreement on what was made here -------------------------------------------------------- */

/* Whether no other content of the process outvotes what this host has made.  Where no majority
 * decides it goes on, too, though others take the content of a lower home. */
static bool is_agreed(const struct replica_set *set, const struct replica_pid *pid, uint64_t key)
{
    const struct replica_entry *entry = replica_ledger_of(&pid->ledger, key);
    unsigned own = replica_slot(pid, set->own), chosen;

    if (!entry)
        return true; /* all that are left have come past it */
    chosen = replica_chosen(set, pid, entry);
    return chosen < REPLICA_MOST && replica_entry_alike(entry, &entry->digests[chosen]) ==
                                        replica_entry_alike(entry, &entry->digests[own]);
}

static bool any_agrees(const struct replica_set *set)
{
    return set->agree > 1 || set->majority;
}

static bool all_agreed(const struct replica_set *set, uint64_t key)
{
    for (uint32_t pid = 0; pid < set->nprocs; pid++)
        if (set->pids[pid].here && replica_needed(set, &set->pids[pid]) > 1 &&
            !is_agreed(set, &set->pids[pid], key))
            return false;
    return true;
}

static bool is_agreed_ahead(const struct replica_set *set)
{
    for (unsigned i = 0; i < REPLICA_STAGES; i++)
        if (set->ahead[i] > 0 && !all_agreed(set, set->ahead[i]))
            return false;
    return true;
}

/* Whether all homes that are left have told what they have made up to the key. */
static bool have_come(const struct replica_set *set, const struct replica_pid *pid, uint64_t key)
{
    uint32_t left = slots_left(set, pid);

    for (unsigned slot = 0; slot < pid->count; slot++)
        if (left & 1u << slot && pid->ledger.come[slot] < key)
            return false;
    return true;
}

bool replica_set_is_compared(const struct replica_set *set, uint64_t key)
{
    for (uint32_t number = 0; number < set->nprocs; number++) {
        const struct replica_pid *pid = &set->pids[number];

        if (pid->here && replica_needed(set, pid) == 1 &&
            (pid->differs || !have_come(set, pid, key)))
            return false;
    }
    return true;
}

bool replica_set_is_sure(const struct replica_set *set)
{
    return !set->unsure && is_agreed_ahead(set) && replica_set_is_compared(set, set->captured);
}

void replica_set_pass_ahead(struct replica_set *set, uint64_t key)
{
    set->ahead[replica_stage(key)] = any_agrees(set) ? key : 0;
    set->captured = key;
}

static bool try_to_pass(struct replica_set *set, uint64_t key)
{
    if (!any_agrees(set))
        return true;
    if (set->unsure || !is_agreed_ahead(set) || !all_agreed(set, key))
        return false;
    memset(set->ahead, 0, sizeof set->ahead);
    set->passed = key;
    for (uint32_t pid = 0; pid < set->nprocs; pid++)
        if (set->pids[pid].here)
            replica_settle(set, &set->pids[pid]);
    return true;
}

bool replica_set_may_pass(struct replica_set *set, uint64_t key)
{
    bool result = try_to_pass(set, key);

    replica_check(set);
    return result;
}

/* The slot of the home that has told least of a process.  REPLICA_MOST: this host, which has none
 * of its replicas, has applied less than any home has told, or none is left. */
static unsigned laggard(const struct replica_set *set, const struct replica_pid *pid)
{
    uint32_t left = slots_left(set, pid);
    unsigned last = REPLICA_MOST;

    for (unsigned slot = 0; slot < pid->count; slot++)
        if (left & 1u << slot &&
            (last == REPLICA_MOST || pid->ledger.come[slot] < pid->ledger.come[last]))
            last = slot;
    if (last < REPLICA_MOST && !pid->here && replica_needed(set, pid) > 1 &&
        pid->applied < pid->ledger.come[last])
        return REPLICA_MOST;
    return last;
}

/* The process of which most is remembered: of others only what is on its way may be there. */
static struct replica_pid *fullest(const struct replica_set *set)
{
    struct replica_pid *most = set->pids;

    for (uint32_t number = 1; number < set->nprocs; number++)
        if (set->pids[number].ledger.count > most->ledger.count)
            most = &set->pids[number];
    return most;
}

/* Less is to be remembered. */
static void give_up_laggard(struct replica_set *set)
{
    struct replica_pid *pid = fullest(set);
    const struct replica_entry *first = &pid->ledger.list[pid->ledger.begin];
    unsigned last = laggard(set, pid);

    if (last < REPLICA_MOST && pid->ledger.come[last] >= first->key &&
        replica_said_retains(set, pid, first))
        replica_give_up(set, replica_said_last(set), first->key);
    else if (last < REPLICA_MOST)
        replica_give_up(set, pid->homes[last], pid->ledger.come[last]);
    else
        replica_give_up(set, set->own, pid->applied);
    replica_settle(set, pid);
}

/* For that it needed all contents of the superstep before, up to the same stage at least. */
void replica_note_past(struct replica_set *set, uint32_t home, uint64_t key)
{
    struct replica_other *other = &set->others[home];

    bool last = set->majority && other->past <= set->past;

    if (key <= other->past + REPLICA_STAGES)
        return;
    other->past = key - REPLICA_STAGES;
    set->settles |= last && replica_said_progress(set);
}

/* What was made here is shown to the homes that have made something else (replica_account.c). Until
 * it is sent, and theirs has come, it is kept beside what is made from now on. */
static void show_account(struct replica_set *set, uint32_t number, uint64_t key)
{
    struct replica_pid *pid = &set->pids[number];
    const struct replica_entry *entry = replica_ledger_of(&pid->ledger, key);
    unsigned own = replica_slot(pid, set->own);

    if (!entry || !(entry->spoken & 1u << own))
        return;
    for (unsigned slot = 0; slot < pid->count; slot++) {
        struct replica_other *other = &set->others[pid->homes[slot]];

        if (slot == own || !(entry->spoken & 1u << slot) || pid->shown[slot] >= key ||
            replica_same(&entry->digests[slot], &entry->digests[own]))
            continue;
        pid->shown[slot] = key;
        replica_ring_copy(&set->aside, &set->made, number, key);
        if (!other->lost && other->account_count < REPLICA_ACCOUNTS)
            other->accounts[other->account_count++] = (struct replica_due){number, key};
    }
}

/* What is retained of other processes may have been so for a host that has come further now. */
static void settle_all(struct replica_set *set)
{
    set->settles = set->retains = false;
    for (uint32_t number = 0; number < set->nprocs; number++)
        replica_settle(set, &set->pids[number]);
}

static void settle_after(struct replica_set *set, uint32_t told)
{
    if (set->settles && set->retains)
        settle_all(set);
    else
        replica_settle(set, &set->pids[told]);
}

int replica_tell(struct replica_set *set, uint32_t number, uint32_t home, uint64_t key,
                 const struct replica_digest *digest, bool itself, const struct link_place *place)
{
    struct replica_pid *pid = &set->pids[number];
    unsigned slot = replica_slot(pid, home);
    size_t before = pid->ledger.count;
    bool again = has_spoken(pid, slot, key);
    int differs = replica_ledger_tell(&pid->ledger, slot, key, digest, itself);

    if (differs < 0)
        return differs;
    if (itself)
        replica_note_past(set, home, key);
    set->told += (pid->ledger.count - before) * sizeof(struct replica_entry);
    if (replica_needed(set, pid) > 1) {
        if (!again)
            judge(set, number, key, slot, place);
    } else if (differs) {
        note_new(set, number, key, slot, place);
    } else if (!again) {
        note_majority(set, number, key);
    }
    if (pid->here && pid->differs)
        show_account(set, number, key);
    settle_after(set, number);
    if (set->told > set->told_most && set->retains)
        settle_all(set);
    while (set->told > set->told_most && pid->ledger.count > 0 && !set->given_up)
        give_up_laggard(set);
    return 0;
}

bool replica_agree(const struct replica_set *set, uint32_t pid, uint64_t key,
                   const struct replica_digest *digest)
{
    const struct replica_entry *entry = replica_ledger_of(&set->pids[pid].ledger, key);

    return !entry ||
           replica_entry_alike(entry, digest) == (unsigned)__builtin_popcount(entry->spoken);
}
