/* sequence.c - checks that all ranks push, pop and set tag sizes alike.
 *
 * Each rank publishes a digest of its calls with its arrival.  Only when two digests differ, or a
 * rank popped NULL ("whatever the others pop"), the calls themselves are read from the senders'
 * outboxes and matched one by one.  All ranks reach the same verdict; pid 0 prints it.
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
    calls = bspz_reserve_show(line->sequence, sizeof *calls);
    bspz_reserve_show(line->sequence, sizeof *calls + calls->count * sizeof *calls->operations);
    return (struct view){calls->operations, calls->count};
}

static size_t count_kind(struct view view, enum bspz_operation_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < view.count; i++)
        count += view.operations[i].kind == (uint32_t)kind;
    return count;
}

/* pid 0 prints the error; the others wait for the end of the job. */
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
    bspz_fail(
        "bsp_sync", line, file,
        "in this superstep process 0 %s %zu %s, but process %d %s %zu; every process must make "
        "the same number of calls in the same order",
        verbs[kind], count_kind(first, kind), nouns[kind], pid, verbs[kind],
        count_kind(other, kind));
}

static BSPZ_NORETURN void fail_order(int pid, size_t index, const struct bspz_operation *first,
                                     const struct bspz_operation *other, int line, const char *file)
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
                                        const struct bspz_operation *other)
{
    char there[512];

    only_first();
    bspz_fail_for("bsp_set_tagsize", 0, first->position,
                  "process 0 set the tag size to %lld here, process %d to %lld (at %s); it must be "
                  "the same everywhere",
                  (long long)first->value, pid, (long long)other->value,
                  bspz_place(pid, other->position, there, sizeof there));
}

static BSPZ_NORETURN void fail_slots(int one, uint32_t one_slot, bspz_position one_pop, int other,
                                     uint32_t other_slot, bspz_position other_pop)
{
    char other_place[512], one_area[512], other_area[512];

    only_first();
    bspz_fail_for(
        "bsp_pop_reg", one, one_pop,
        "process %d pops here what it registered at %s, process %d pops (at %s) what it registered "
        "at %s; all must pop the same registration",
        one, bspz_place(one, bspz_areas_of(one)[one_slot].position, one_area, sizeof one_area),
        other, bspz_place(other, other_pop, other_place, sizeof other_place),
        bspz_place(other, bspz_areas_of(other)[other_slot].position, other_area,
                   sizeof other_area));
}

/* If some ranks pop an address and others NULL, two pops can refer to one registration. */
static BSPZ_NORETURN void fail_popped_twice(int pid, uint32_t slot, bspz_position pop)
{
    char place[512];

    only_first();
    bspz_fail_for("bsp_pop_reg", pid, pop,
                  "process %d pops here what it registered at %s, which an earlier call in this "
                  "superstep pops already: where one process names an area and another gives NULL, "
                  "NULL means that area",
                  pid, bspz_place(pid, bspz_areas_of(pid)[slot].position, place, sizeof place));
}

/* The state of a slot after the calls so far. */
enum mark { UNTOUCHED, YET_TO_PUSH, TAKEN };

static bool is_registered(uint32_t slot, const unsigned char *marks)
{
    return marks[slot] == UNTOUCHED && bspz_areas[slot].state != BSPZ_SLOT_FREE;
}

/* The slot of an operation of rank pid on an address it registered more than once: the newest that
 * is not taken.  Pushes are the same on all ranks, and so are their ages. */
static uint32_t newest_slot_of(int pid, const struct bspz_operation *operation,
                               const unsigned char *marks)
{
    const struct bspz_area *areas = bspz_areas_of(pid);
    uint32_t used = atomic_load(&bspz_rt.self->slot_count);
    uint32_t newest = operation->slot;
    bool found = false;

    for (uint32_t slot = 0; slot < used; slot++)
        if (is_registered(slot, marks) && areas[slot].base == (uint64_t)operation->value &&
            (!found || bspz_areas[slot].age > bspz_areas[newest].age)) {
            newest = slot;
            found = true;
        }
    return newest;
}

/* The slot that the index-th call pops: that on which the ranks that named an address agree. */
static uint32_t agreed_slot(uint64_t superstep, size_t index, const unsigned char *marks)
{
    uint32_t agreed = BSPZ_SLOT_WILDCARD;
    int namer = 0;

    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        const struct bspz_operation *operation = &view_of(pid, superstep).operations[index];
        uint32_t slot = operation->open ? newest_slot_of(pid, operation, marks) : operation->slot;

        if (slot == BSPZ_SLOT_WILDCARD)
            continue;
        if (agreed != BSPZ_SLOT_WILDCARD && agreed != slot)
            fail_slots(namer, agreed, view_of(namer, superstep).operations[index].position, pid,
                       slot, operation->position);
        if (agreed == BSPZ_SLOT_WILDCARD) {
            agreed = slot;
            namer = pid;
        }
    }
    if (agreed != BSPZ_SLOT_WILDCARD && marks[agreed] == TAKEN)
        fail_popped_twice(namer, agreed, view_of(namer, superstep).operations[index].position);
    return agreed;
}

/* If all popped NULL: the newest slot that is NULL on all ranks and not popped yet. */
static uint32_t newest_null_slot(const unsigned char *marks)
{
    uint32_t used = atomic_load(&bspz_rt.self->slot_count);
    uint32_t newest = BSPZ_SLOT_WILDCARD;

    for (uint32_t slot = 0; slot < used; slot++) {
        bool everywhere = is_registered(slot, marks);

        for (int pid = 0; pid < bspz_rt.nprocs && everywhere; pid++)
            everywhere = bspz_areas_of(pid)[slot].base == 0;
        if (everywhere &&
            (newest == BSPZ_SLOT_WILDCARD || bspz_areas[slot].age > bspz_areas[newest].age))
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
                fail_tag_size(pid, a, b);
        }
    }
}

uint32_t bspz_sequence_seal(uint64_t superstep, int line, const char *file)
{
    const struct bspz_sequence *sequence = &bspz_sequence;
    uint64_t bytes = sequence->count * sizeof *sequence->operations;
    uint64_t room = bspz_pad(sizeof(struct bspz_calls) + bytes, 16);
    struct bspz_line *own = &bspz_rt.self->line[superstep & 1];
    struct bspz_calls *calls;

    calls = bspz_outbox_memory(room, &room, "bsp_sync", line, file);
    calls->count = sequence->count;
    memcpy(calls->operations, sequence->operations, bytes);
    /* The table may change when this rank goes on. */
    for (size_t i = 0; i < sequence->count; i++)
        if (calls->operations[i].kind == BSPZ_OP_PUSH)
            calls->operations[i].value = (int64_t)bspz_areas[calls->operations[i].slot].base;
    own->sequence = bspz_offset_of(calls);
    return BSPZ_HAS_SEQUENCE | (sequence->null_pop ? BSPZ_HAS_NULL_POP : 0);
}

void bspz_sequence_match(uint64_t superstep, int line, const char *file)
{
    struct bspz_sequence *own = &bspz_sequence;
    unsigned char *marks = calloc(atomic_load(&bspz_rt.self->slot_count) + 1, sizeof *marks);

    if (!marks)
        bspz_fail("bsp_sync", line, file, "no memory to match %zu registrations", own->count);
    compare_calls(superstep, line, file);
    for (size_t i = 0; i < own->count; i++)
        if (own->operations[i].kind == BSPZ_OP_PUSH)
            marks[own->operations[i].slot] = YET_TO_PUSH;
    for (size_t i = 0; i < own->count; i++) {
        uint32_t slot;

        if (own->operations[i].kind == BSPZ_OP_PUSH)
            marks[own->operations[i].slot] = UNTOUCHED;
        if (own->operations[i].kind != BSPZ_OP_POP)
            continue;
        slot = agreed_slot(superstep, i, marks);
        if (slot == BSPZ_SLOT_WILDCARD)
            slot = newest_null_slot(marks);
        if (slot == BSPZ_SLOT_WILDCARD) {
            only_first();
            bspz_fail_for("bsp_pop_reg", bspz_rt.pid, own->operations[i].position,
                          "every process pops NULL, but no registration is NULL on all of them");
        }
        marks[slot] = TAKEN;
        own->operations[i].slot = slot;
    }
    free(marks);
}
