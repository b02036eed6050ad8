/* calls.c - see calls.h. */
#include "tests/sim/dataspace/calls.h"

#include <stdlib.h>
#include <string.h>

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
