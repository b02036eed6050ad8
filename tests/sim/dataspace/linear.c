/* linear.c - see linear.h. */
#include "tests/sim/dataspace/linear.h"

#include <stdlib.h>

#define TRIED_MOST (1u << 16) /* remembered; a power of 2 */

struct tried {
    uint64_t done;
    uint32_t value;
    bool used;
};

struct search {
    const struct linear_operation *operations;
    unsigned count;
    bool waits;
    uint64_t wanted; /* those that have returned */
    struct tried *tried;
};

/* Whether that state is new; remembers it, as long as there is room. */
static bool is_new(struct search *search, uint64_t done, uint32_t value)
{
    uint64_t at =
        (done ^ (uint64_t)value * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd) >>
        48;

    for (unsigned i = 0; i < 64; i++) {
        struct tried *tried = &search->tried[(at + i) % TRIED_MOST];

        if (!tried->used) {
            *tried = (struct tried){done, value, true};
            return true;
        }
        if (tried->done == done && tried->value == value)
            return false;
    }
    return true;
}

/* The earliest return of what is not done: nothing called later can come before it. */
static uint64_t horizon(const struct search *search, uint64_t done)
{
    uint64_t earliest = LINEAR_NEVER;

    for (unsigned i = 0; i < search->count; i++)
        if (!(done >> i & 1) && search->operations[i].returned < earliest)
            earliest = search->operations[i].returned;
    return earliest;
}

/* Whether the operation can be the next; then `value` is what the tag has after it. */
static bool can_follow(const struct linear_operation *operation, uint32_t *value)
{
    if (operation->kind == LINEAR_PUT) {
        *value = operation->value;
        return true;
    }
    if (operation->returned == LINEAR_NEVER || *value == 0 || *value != operation->value)
        return false;
    if (operation->kind == LINEAR_GET)
        *value = 0;
    return true;
}

static bool explains(struct search *search, uint64_t done, uint32_t value)
{
    uint64_t last;

    if ((done & search->wanted) == search->wanted && (!search->waits || value == 0))
        return true;
    if (!is_new(search, done, value))
        return false;
    last = horizon(search, done);
    for (unsigned i = 0; i < search->count; i++) {
        uint32_t after = value;

        if (!(done >> i & 1) && search->operations[i].called <= last &&
            can_follow(&search->operations[i], &after) &&
            explains(search, done | UINT64_C(1) << i, after))
            return true;
    }
    return false;
}

bool linear_holds(const struct linear_operation *operations, unsigned count, bool waits)
{
    struct search search = {.operations = operations, .count = count, .waits = waits};
    bool holds;

    for (unsigned i = 0; i < count; i++)
        if (operations[i].returned != LINEAR_NEVER)
            search.wanted |= UINT64_C(1) << i;
    search.tried = calloc(TRIED_MOST, sizeof *search.tried);
    if (!search.tried)
        abort();
    holds = explains(&search, 0, 0);
    free(search.tried);
    return holds;
}
