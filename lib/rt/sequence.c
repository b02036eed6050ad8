/* sequence.c - do all ranks push, pop and set tag sizes alike?
 *
 * Each rank publishes a digest of its calls with its arrival.  Only when two digests differ, or
 * somebody popped NULL ("whatever the others pop"), the calls themselves are read, from the
 * senders' outboxes, and matched one by one.  All ranks come to the same verdict; pid 0 prints it.
 */
#include <stdlib.h>

#include "lib/rt/outbox.h"
#include "lib/rt/registration.h"

struct view {
    const struct bspz_operation *operations;
    size_t count;
};

static struct view view_of(int pid, uint64_t superstep)
{
    const struct bspz_line *line = &bspz_rank_of(bspz_rt.board, pid)->line[superstep & 1];
    const struct bspz_calls *calls;

    if (!(line->flags & BSPZ_HAS_SEQUENCE))
        return (struct view){NULL, 0};
    calls = (const void *)((const char *)bspz_rt.board + line->sequence);
    return (struct view){calls->operations, calls->count};
}

static size_t count_kind(struct view view, enum bspz_operation_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < view.count; i++)
        count += view.operations[i].kind == (uint32_t)kind;
    return count;
}

/* pid 0 speaks for all; the others wait for the end it brings. */
static void only_first(void)
{
    if (bspz_rt.pid != 0)
        bspz_leave_when_stopped();
}

static BSPZ_NORETURN void fail_counts(int pid, struct view first, struct view other, int line,
                                      const char *file)
{
    static const char *const verbs[] = {"registered", "popped", "set the tag size"};
    static const char *const nouns[] = {"area(s)", "area(s)", "time(s)"};
    enum bspz_operation_kind kind = BSPZ_OP_PUSH;

    while (kind < BSPZ_OP_TAG_SIZE && count_kind(first, kind) == count_kind(other, kind))
        kind++;
    only_first();
    bspz_fail("bsp_sync", line, file,
              "in this superstep process 0 %s %zu %s, but process %d %s %zu; every process must make "
              "the same number of calls in the same order",
              verbs[kind], count_kind(first, kind), nouns[kind], pid, verbs[kind],
              count_kind(other, kind));
}

static BSPZ_NORETURN void fail_order(int pid, size_t index, const struct bspz_operation *first,
                                     const struct bspz_operation *other, int line,
                                     const char *file)
{
    static const char *const names[] = {"bsp_push_reg", "bsp_pop_reg", "bsp_set_tagsize"};
    char here[512], there[512];

    only_first();
    bspz_fail("bsp_sync", line, file,
              "call %zu of this superstep's registrations is %s (at %s) on process 0 and %s (at "
              "%s) on process %d; the order must be the same everywhere",
              index + 1, names[first->kind], bspz_place(0, first->position, here, sizeof here),
              names[other->kind], bspz_place(pid, other->position, there, sizeof there), pid);
}

static BSPZ_NORETURN void fail_tag_size(int pid, const struct bspz_operation *first,
                                        const struct bspz_operation *other, int line,
                                        const char *file)
{
    char here[512], there[512];

    only_first();
    bspz_fail("bsp_set_tagsize", line, file,
              "process 0 set the tag size to %lld (at %s), process %d to %lld (at %s); it must be "
              "the same everywhere",
              (long long)first->value, bspz_place(0, first->position, here, sizeof here), pid,
              (long long)other->value, bspz_place(pid, other->position, there, sizeof there));
}

static BSPZ_NORETURN void fail_slots(int one, uint32_t one_slot, int other, uint32_t other_slot,
                                     bspz_position pop, int line, const char *file)
{
    char pop_place[512], one_place[512], other_place[512];

    only_first();
    bspz_fail("bsp_pop_reg", line, file,
              "process %d pops (at %s) what it registered at %s, process %d what it registered at "
              "%s; all must pop the same registration",
              one, bspz_place(one, pop, pop_place, sizeof pop_place),
              bspz_place(one, bspz_areas_of(one)[one_slot].position, one_place, sizeof one_place),
              other,
              bspz_place(other, bspz_areas_of(other)[other_slot].position, other_place,
                         sizeof other_place));
}

/* Where some named an address and others NULL, two pops can come to mean one registration. */
static BSPZ_NORETURN void fail_popped_twice(int pid, uint32_t slot, bspz_position pop, int line,
                                            const char *file)
{
    char pop_place[512], place[512];

    only_first();
    bspz_fail("bsp_pop_reg", line, file,
              "process %d pops (at %s) what it registered at %s, which an earlier call in this "
              "superstep pops already: where one process names an area and another gives NULL, "
              "NULL means that area",
              pid, bspz_place(pid, pop, pop_place, sizeof pop_place),
              bspz_place(pid, bspz_areas_of(pid)[slot].position, place, sizeof place));
}

/* The slot that the index-th call pops: what the ranks that named an address agree on. */
static uint32_t agreed_slot(uint64_t superstep, size_t index, const bool *taken, int line,
                            const char *file)
{
    uint32_t slot = BSPZ_SLOT_WILDCARD;
    int namer = 0;

    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        const struct bspz_operation *operation = &view_of(pid, superstep).operations[index];

        if (operation->slot == BSPZ_SLOT_WILDCARD)
            continue;
        if (slot != BSPZ_SLOT_WILDCARD && slot != operation->slot)
            fail_slots(namer, slot, pid, operation->slot,
                       view_of(namer, superstep).operations[index].position, line, file);
        if (slot == BSPZ_SLOT_WILDCARD) {
            slot = operation->slot;
            namer = pid;
        }
    }
    if (slot != BSPZ_SLOT_WILDCARD && taken[slot])
        fail_popped_twice(namer, slot, view_of(namer, superstep).operations[index].position, line,
                          file);
    return slot;
}

static bool is_registered(uint32_t state)
{
    return state == BSPZ_SLOT_LIVE || state == BSPZ_SLOT_PUSHED;
}

/* All popped NULL: the newest slot that is NULL everywhere and not popped yet. */
static uint32_t newest_null_slot(const bool *taken)
{
    uint32_t used = atomic_load(&bspz_rt.self->slot_count);
    uint32_t newest = BSPZ_SLOT_WILDCARD;

    for (uint32_t slot = 0; slot < used; slot++) {
        bool everywhere =
            !taken[slot] && is_registered(bspz_areas[slot].state) && bspz_areas[slot].base == 0;

        for (int pid = 0; pid < bspz_rt.nprocs && everywhere; pid++)
            everywhere = bspz_areas_of(pid)[slot].base == 0;
        if (everywhere && (newest == BSPZ_SLOT_WILDCARD ||
                           bspz_areas[slot].age > bspz_areas[newest].age))
            newest = slot;
    }
    return newest;
}

static void compare_calls(uint64_t superstep, int line, const char *file)
{
    struct view first = view_of(0, superstep);

    for (int pid = 1; pid < bspz_rt.nprocs; pid++) {
        struct view other = view_of(pid, superstep);

        if (first.count != other.count)
            fail_counts(pid, first, other, line, file);
        for (size_t i = 0; i < first.count; i++) {
            const struct bspz_operation *a = &first.operations[i], *b = &other.operations[i];

            if (a->kind != b->kind) {
                if (count_kind(first, BSPZ_OP_PUSH) != count_kind(other, BSPZ_OP_PUSH) ||
                    count_kind(first, BSPZ_OP_POP) != count_kind(other, BSPZ_OP_POP))
                    fail_counts(pid, first, other, line, file);
                fail_order(pid, i, a, b, line, file);
            }
            if (a->kind == BSPZ_OP_TAG_SIZE && a->value != b->value)
                fail_tag_size(pid, a, b, line, file);
        }
    }
}

void bspz_sequence_match(uint64_t superstep, int line, const char *file)
{
    struct bspz_sequence *own = &bspz_sequence;
    bool *taken = calloc(atomic_load(&bspz_rt.self->slot_count) + 1, sizeof *taken);

    if (!taken)
        bspz_fail("bsp_sync", line, file, "no memory to match %zu registrations", own->count);
    compare_calls(superstep, line, file);
    for (size_t i = 0; i < own->count; i++) {
        uint32_t slot;

        if (own->operations[i].kind != BSPZ_OP_POP)
            continue;
        slot = agreed_slot(superstep, i, taken, line, file);
        if (slot == BSPZ_SLOT_WILDCARD)
            slot = newest_null_slot(taken);
        if (slot == BSPZ_SLOT_WILDCARD) {
            only_first();
            bspz_fail("bsp_pop_reg", line, file,
                      "every process pops NULL, but no registration is NULL on all of them");
        }
        taken[slot] = true;
        own->operations[i].slot = slot;
    }
    free(taken);
}
