/* calls.c - see calls.h. */
#include "tests/sim/dataspace/calls.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/dataspace/zones.h"

const char *const calls_tags[CALLS_TAGS + 1] = {"", "a", "another tag", "b", "a tag of nobody"};

void calls_make(struct timeline *time, struct history *histories, uint32_t tags,
                struct calls_seen *seen, struct call *call)
{
    struct history *history;

    call->kind = (enum linear_kind)(timeline_random(time, 5) % 3);
    call->tag = (uint32_t)timeline_random(time, tags);
    history = &histories[call->tag];
    call->operation = history->count++;
    call->value = call->kind == LINEAR_PUT ? ++seen->values : 0;
    history->operations[call->operation] =
        (struct linear_operation){call->kind, call->value, ++seen->moments, LINEAR_NEVER};
}

bool calls_return(struct timeline *time, struct history *histories, struct calls_seen *seen,
                  const struct call *call, uint32_t pid, uint32_t value)
{
    struct linear_operation *operation = &histories[call->tag].operations[call->operation];
    bool first = operation->returned == LINEAR_NEVER;

    if (first) {
        operation->value = value;
        operation->returned = ++seen->moments;
    } else if (operation->value != value) {
        timeline_fail(time, "pid %u gets object %u, and got %u in an earlier life", pid, value,
                      operation->value);
    }
    return first;
}

unsigned char calls_byte(uint32_t value, uint64_t at)
{
    return at < CALLS_SIZE_LEAST ? (unsigned char)(value >> 8 * at)
                                 : (unsigned char)(value * 37 + (uint32_t)at * 11);
}

uint64_t calls_size(uint32_t value, uint64_t most)
{
    uint64_t mixed = value * UINT64_C(0x9e3779b97f4a7c15) >> 40;

    return mixed % 3 == 0 ? CALLS_SIZE_LEAST
                          : CALLS_SIZE_LEAST + mixed % (most - CALLS_SIZE_LEAST + 1);
}

void calls_check(const struct timeline *time, const struct history *histories, uint32_t tags,
                 bool over)
{
    for (uint32_t tag = 0; tag < tags; tag++) {
        const struct history *history = &histories[tag];
        bool waits = false;

        for (unsigned i = 0; i < history->count; i++)
            waits |= history->operations[i].returned == LINEAR_NEVER;
        if (!zones_hold(history->operations, history->count, waits && !over))
            timeline_fail(time, "no order of the operations on \"%s\" explains them",
                          calls_tags[tag]);
    }
}

static void *on_map(void *context, uint64_t size)
{
    uint64_t *count = context;
    void *at = malloc(size);

    if (!at)
        abort();
    ++*count;
    return at;
}

static void on_unmap(void *context, void *at, uint64_t size)
{
    (void)context;
    memset(at, 0xee, size);
    free(at);
}

const struct pool_files calls_files = {.map = on_map, .unmap = on_unmap};
