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

/* ---- What can be the next, without loss ------------------------------------------------------
 *
 * Each value is put once, so what the tag has must stay until all that returned it are done.  A
 * read that can be the next may be: it changes nothing.  Neither does a put that nobody has seen,
 * once nobody needs what the tag has: it is overwritten, wherever it is.
 */

static bool takes(const struct search *search, unsigned i)
{
    return search->operations[i].kind != LINEAR_PUT && search->wanted >> i & 1;
}

/* Those that are not done and returned this value. */
static uint64_t who_needs(const struct search *search, uint64_t done, uint32_t value)
{
    uint64_t needs = 0;

    for (unsigned i = 0; i < search->count; i++)
        if (takes(search, i) && !(done >> i & 1) && search->operations[i].value == value)
            needs |= UINT64_C(1) << i;
    return needs;
}

/* Whether all of them can come at once, and leave the value. */
static bool may_come(const struct search *search, uint64_t those, uint64_t last)
{
    for (unsigned i = 0; i < search->count; i++) {
        const struct linear_operation *operation = &search->operations[i];

        if (those >> i & 1 &&
            (operation->called > last || (search->waits && operation->kind == LINEAR_GET)))
            return false;
    }
    return true;
}

/* Of the operations that can be the next, those that have to be tried. */
static uint64_t choices(const struct search *search, uint64_t done, uint32_t value)
{
    uint64_t last = horizon(search, done), needs = who_needs(search, done, value), all = 0;

    for (unsigned i = 0; i < search->count; i++) {
        const struct linear_operation *operation = &search->operations[i];
        uint64_t self = UINT64_C(1) << i;

        if (done & self || operation->called > last)
            continue;
        if (operation->kind == LINEAR_READ && needs & self)
            return self;
        if (operation->kind == LINEAR_GET && needs == self)
            return self;
        if (operation->kind != LINEAR_PUT || needs != 0)
            continue;
        if (may_come(search, who_needs(search, done, operation->value), last) &&
            (search->wanted & self || who_needs(search, done, operation->value) != 0))
            return self;
        if (who_needs(search, done, operation->value) != 0)
            all |= self;
    }
    return all;
}

static bool explains(struct search *search, uint64_t done, uint32_t value)
{
    uint64_t next;

    if ((done & search->wanted) == search->wanted && (!search->waits || value == 0))
        return true;
    if (!is_new(search, done, value))
        return false;
    next = choices(search, done, value);
    for (unsigned i = 0; i < search->count; i++) {
        uint32_t after = search->operations[i].kind == LINEAR_PUT    ? search->operations[i].value
                         : search->operations[i].kind == LINEAR_READ ? value
                                                                     : 0;

        if (next >> i & 1 && explains(search, done | UINT64_C(1) << i, after))
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
