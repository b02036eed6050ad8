/* registration.c - bsp_push_reg and bsp_pop_reg. */
#include "lib/rt/registration.h"
#include "lib/rt/outbox.h"

#include <stdlib.h>

#include "include/bsp.h"

#define NO_SLOT UINT32_MAX

/* Private view of a slot; `older` chains the slots of one address, newest first. */
struct slot {
    uint32_t older;
};

/* Open-addressing table: address -> newest slot. */
struct bucket {
    const void *base;
    uint32_t newest;
    bool used;
};

struct bspz_sequence bspz_sequence;
struct bspz_area *bspz_areas;
struct bspz_lookup_cache bspz_last_lookup;

static struct slot *slots;
static uint32_t slots_used, slots_room;
static uint32_t *free_slots; /* stack; same order on every rank, as the sequence is */
static uint32_t free_count, free_room;
static struct bucket *buckets;
static size_t bucket_count, buckets_used;
static uint64_t pushes;

struct bspz_area *bspz_areas_of(int pid)
{
    return bspz_areas_at(bspz_rt.board, pid);
}

void bspz_registration_begin(void)
{
    bspz_areas = bspz_areas_of(bspz_rt.pid);
}

static BSPZ_NORETURN void out_of_memory(size_t bytes, const char *function, int line,
                                        const char *file)
{
    bspz_fail(function, line, file, "no memory for %zu bytes of registrations", bytes);
}

static size_t hash_of(const void *base)
{
    return (size_t)(((uintptr_t)base >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static struct bucket *find_bucket(const void *base)
{
    size_t mask = bucket_count - 1;

    if (bucket_count == 0)
        return NULL;
    for (size_t at = hash_of(base) & mask; buckets[at].used; at = (at + 1) & mask)
        if (buckets[at].base == base)
            return &buckets[at];
    return NULL;
}

static void insert_bucket(const void *base, uint32_t newest)
{
    size_t mask = bucket_count - 1;
    size_t at = hash_of(base) & mask;

    while (buckets[at].used)
        at = (at + 1) & mask;
    buckets[at] = (struct bucket){base, newest, true};
    buckets_used++;
}

/* Addresses without a registration remain as empty buckets until the table is rebuilt. */
static void remake_buckets(const char *function, int line, const char *file)
{
    struct bucket *old = buckets;
    size_t old_count = bucket_count, live = 0;

    for (size_t i = 0; i < old_count; i++)
        live += old[i].used && old[i].newest != NO_SLOT;
    bucket_count = 64;
    while (bucket_count < 4 * (live + 1))
        bucket_count *= 2;
    buckets = calloc(bucket_count, sizeof *buckets);
    if (!buckets)
        out_of_memory(bucket_count * sizeof *buckets, function, line, file);
    buckets_used = 0;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].used && old[i].newest != NO_SLOT)
            insert_bucket(old[i].base, old[i].newest);
    free(old);
}

static struct bucket *bucket_for(const void *base, const char *function, int line, const char *file)
{
    struct bucket *bucket = find_bucket(base);

    if (bucket)
        return bucket;
    if (2 * (buckets_used + 1) > bucket_count)
        remake_buckets(function, line, file);
    insert_bucket(base, NO_SLOT);
    return find_bucket(base);
}

static uint32_t take_slot(const char *function, int line, const char *file)
{
    if (free_count > 0)
        return free_slots[--free_count];
    if (slots_used == BSPZ_AREAS_MAX)
        bspz_fail(function, line, file, "more than %u areas are registered at once",
                  BSPZ_AREAS_MAX);
    if (slots_used == slots_room) {
        uint32_t room = slots_room ? 2 * slots_room : 64;
        struct slot *more = realloc(slots, room * sizeof *slots);

        if (!more)
            out_of_memory(room * sizeof *slots, function, line, file);
        slots = more;
        slots_room = room;
    }
    atomic_store_explicit(&bspz_rt.self->slot_count, slots_used + 1, memory_order_release);
    return slots_used++;
}

struct bspz_operation *bspz_sequence_add(enum bspz_operation_kind kind, uint32_t slot,
                                         int64_t value, bspz_position position,
                                         const char *function, int line, const char *file)
{
    struct bspz_sequence *sequence = &bspz_sequence;
    struct bspz_operation *operation;
    uint64_t word = (uint64_t)kind << 56 ^ (kind == BSPZ_OP_POP ? slot : 0) ^ (uint64_t)value << 8;

    if (sequence->count == sequence->room) {
        size_t room = sequence->room ? 2 * sequence->room : 64;
        void *more = realloc(sequence->operations, room * sizeof *sequence->operations);

        if (!more)
            out_of_memory(room * sizeof *sequence->operations, function, line, file);
        sequence->operations = more;
        sequence->room = room;
    }
    operation = &sequence->operations[sequence->count++];
    *operation =
        (struct bspz_operation){.kind = kind, .slot = slot, .value = value, .position = position};
    sequence->digest = (sequence->digest ^ word) * UINT64_C(0x9fb21c651e98df25) + 1;
    sequence->digest ^= sequence->digest >> 29;
    return operation;
}

static bool can_be_popped(uint32_t slot)
{
    return bspz_areas[slot].state == BSPZ_SLOT_LIVE || bspz_areas[slot].state == BSPZ_SLOT_PUSHED;
}

/* The newest registration of a chain that no call in this superstep popped, or NO_SLOT. */
static uint32_t newest_to_pop(uint32_t slot)
{
    while (slot != NO_SLOT && !can_be_popped(slot))
        slot = slots[slot].older;
    return slot;
}

void bsp_push_reg_cpp(const void *ident, ptrdiff_t size, int line, const char *file)
{
    static const char function[] = "bsp_push_reg";
    bspz_position position;
    struct bucket *bucket;
    uint32_t slot;

    if (bspz_unlikely(bspz_rt.life != BSPZ_LIFE_SPMD))
        bspz_fail_outside(function, line, file);
    position = bspz_here(file, line);
    bspz_note(BSPZ_CALL_PUSH_REG, position);
    if (size < 0)
        bspz_fail(function, line, file, "negative size %td for the area at %p", size, ident);
    if (!ident && size > 0)
        bspz_fail(function, line, file,
                  "NULL registered with size %td; NULL says \"no area here\" and needs size 0",
                  size);
    bucket = bucket_for(ident, function, line, file);
    slot = take_slot(function, line, file);
    slots[slot].older = bucket->newest;
    bucket->newest = slot;
    bspz_areas[slot] = (struct bspz_area){.base = (uint64_t)(uintptr_t)ident,
                                          .bytes = (uint64_t)size,
                                          .position = position,
                                          .state = BSPZ_SLOT_PUSHED,
                                          .age = ++pushes};
    bspz_sequence_add(BSPZ_OP_PUSH, slot, 0, position, function, line, file);
    if (bspz_rt.oxford) {
        bspz_last_lookup.base = NULL;
        bspz_outbox_forget_statements();
    }
}

void bsp_pop_reg_cpp(const void *ident, int line, const char *file)
{
    static const char function[] = "bsp_pop_reg";
    bspz_position position;
    struct bucket *bucket;
    struct bspz_operation *operation;
    uint32_t slot;
    bool open;

    if (bspz_unlikely(bspz_rt.life != BSPZ_LIFE_SPMD))
        bspz_fail_outside(function, line, file);
    position = bspz_here(file, line);
    bspz_note(BSPZ_CALL_POP_REG, position);
    if (!ident) {
        bspz_sequence.null_pop = true;
        bspz_sequence_add(BSPZ_OP_POP, BSPZ_SLOT_WILDCARD, 0, position, function, line, file);
        return;
    }
    bucket = find_bucket(ident);
    slot = newest_to_pop(bucket ? bucket->newest : NO_SLOT);
    if (slot == NO_SLOT)
        bspz_fail(function, line, file, "address %p is not registered here%s", ident,
                  bucket && bucket->newest != NO_SLOT ? " any more: it was popped before" : "");
    bspz_areas[slot].state =
        bspz_areas[slot].state == BSPZ_SLOT_LIVE ? BSPZ_SLOT_POPPED : BSPZ_SLOT_CANCELLED;
    /* An earlier pop of NULL may refer to the newest one; then this call refers to an older one. */
    open = bspz_sequence.null_pop && newest_to_pop(slots[slot].older) != NO_SLOT;
    operation = bspz_sequence_add(BSPZ_OP_POP, slot, 0, position, function, line, file);
    operation->value = (int64_t)(uintptr_t)ident; /* not in the digest: it may differ */
    operation->open = open;
}

static bool in_effect(uint32_t state)
{
    return state == BSPZ_SLOT_LIVE || state == BSPZ_SLOT_POPPED ||
           (bspz_rt.oxford && (state == BSPZ_SLOT_PUSHED || state == BSPZ_SLOT_CANCELLED));
}

uint32_t bspz_lookup_slow(const void *base, const char *function, int line, const char *file)
{
    struct bucket *bucket;
    uint32_t slot;

    if (!base)
        bspz_fail(function, line, file,
                  "NULL given as the registered address; give the address registered here");
    bucket = find_bucket(base);
    slot = bucket ? bucket->newest : NO_SLOT;
    while (slot != NO_SLOT && !in_effect(bspz_areas[slot].state))
        slot = slots[slot].older;
    if (slot == NO_SLOT) {
        char place[512] = "";

        if (bucket && bucket->newest != NO_SLOT) {
            bspz_place(bspz_rt.pid, bspz_areas[bucket->newest].position, place, sizeof place);
            bspz_fail(function, line, file,
                      "address %p was registered only in this superstep (at %s): it can be used "
                      "after the next bsp_sync",
                      base, place);
        }
        bspz_fail(function, line, file,
                  "address %p is not registered here; use the start of an area given to "
                  "bsp_push_reg in an earlier superstep",
                  base);
    }
    bspz_last_lookup = (struct bspz_lookup_cache){base, slot};
    return slot;
}

void bspz_check_own_area(const void *base, uint64_t bytes, const char *function, int line,
                         const char *file)
{
    const struct bucket *bucket = find_bucket(base);
    uint32_t slot = bucket ? bucket->newest : NO_SLOT;

    while (slot != NO_SLOT && !in_effect(bspz_areas[slot].state) &&
           bspz_areas[slot].state != BSPZ_SLOT_PUSHED)
        slot = slots[slot].older;
    if (slot == NO_SLOT)
        slot = bspz_lookup_slow(base, function, line, file); /* reports the error */
    if (!bspz_fits(bspz_rt.pid, &bspz_areas[slot], 0, bytes))
        bspz_fail_bounds(function, bspz_rt.pid, bspz_here(file, line), bspz_rt.pid,
                         &bspz_areas[slot], 0, bytes);
}

static void free_slot(uint32_t slot)
{
    struct bucket *bucket = find_bucket((void *)(uintptr_t)bspz_areas[slot].base);
    uint32_t *link = &bucket->newest;

    while (*link != slot)
        link = &slots[*link].older;
    *link = slots[slot].older;
    bspz_areas[slot].state = BSPZ_SLOT_FREE;
    if (free_count == free_room) {
        uint32_t room = free_room ? 2 * free_room : 64;
        uint32_t *more = realloc(free_slots, room * sizeof *free_slots);

        if (!more)
            out_of_memory(room * sizeof *free_slots, "bsp_sync", 0, NULL);
        free_slots = more;
        free_room = room;
    }
    free_slots[free_count++] = slot;
}

void bspz_registration_apply(void)
{
    struct bspz_sequence *sequence = &bspz_sequence;

    for (size_t i = 0; i < sequence->count; i++) {
        uint32_t slot = sequence->operations[i].slot;

        if (sequence->operations[i].kind == BSPZ_OP_PUSH &&
            bspz_areas[slot].state == BSPZ_SLOT_PUSHED)
            bspz_areas[slot].state = BSPZ_SLOT_LIVE;
    }
    for (size_t i = 0; i < sequence->count; i++)
        if (sequence->operations[i].kind == BSPZ_OP_POP)
            free_slot(sequence->operations[i].slot);
    sequence->count = 0;
    sequence->digest = 0;
    sequence->null_pop = false;
    bspz_last_lookup.base = NULL;
}

/* ---- Bounds of areas ------------------------------------------------------------------------ */

BSPZ_COLD BSPZ_NORETURN void bspz_fail_bounds(const char *function, int caller,
                                              bspz_position position, int owner,
                                              const struct bspz_area *area, uint64_t offset,
                                              uint64_t bytes)
{
    bool before = (int64_t)offset < 0; /* BSP_COMPAT=oxford */
    uint64_t outside = before ? -offset : offset + bytes - area->bytes;
    char place[512];

    bspz_place(owner, area->position, place, sizeof place);
    bspz_fail_for(function, caller, position,
                  "%llu bytes at offset %lld do not fit: process %d registered %llu bytes (at %s), "
                  "%s%llu %s",
                  (unsigned long long)bytes, (long long)offset, owner,
                  (unsigned long long)area->bytes, place, before ? "and the access begins " : "",
                  (unsigned long long)outside, before ? "bytes before them" : "too few");
}

BSPZ_COLD bool bspz_reaches_other_area(int owner, const struct bspz_area *area, uint64_t offset,
                                       uint64_t bytes)
{
    const struct bspz_area *other = bspz_areas_of(owner);
    const struct bspz_area *end =
        other + atomic_load(&bspz_rank_of(bspz_rt.board, owner)->slot_count);
    uint64_t start = area->base + offset;

    if (!bspz_rt.oxford || (int64_t)offset >= 0)
        return false;
    for (; other < end; other++)
        if ((other->state == BSPZ_SLOT_LIVE || other->state == BSPZ_SLOT_POPPED) &&
            start >= other->base && bytes <= other->bytes &&
            start - other->base <= other->bytes - bytes)
            return true;
    return false;
}
