/* zones.c - see zones.h. */
#include "tests/sim/dataspace/zones.h"

#include <stdlib.h>

struct block {
    const struct linear_operation *put, *get;
    uint64_t first_return, last_call;
    bool seen; /* some operation has returned its value, so that the put has happened */
};

struct zone {
    uint64_t from, to;
};

static int by_value(const void *a, const void *b)
{
    uint32_t one = ((const struct block *)a)->put->value;
    uint32_t other = ((const struct block *)b)->put->value;

    return (one > other) - (one < other);
}

static int by_beginning(const void *a, const void *b)
{
    uint64_t one = ((const struct zone *)a)->from, other = ((const struct zone *)b)->from;

    return (one > other) - (one < other);
}

static struct block *block_of(struct block *blocks, size_t count, uint32_t value)
{
    struct linear_operation put = {.value = value};
    struct block wanted = {.put = &put};

    return bsearch(&wanted, blocks, count, sizeof *blocks, by_value);
}

static size_t make_blocks(const struct linear_operation *operations, size_t count,
                          struct block *blocks)
{
    size_t made = 0;

    for (size_t i = 0; i < count; i++)
        if (operations[i].kind == LINEAR_PUT)
            blocks[made++] = (struct block){.put = &operations[i],
                                            .first_return = operations[i].returned,
                                            .last_call = operations[i].called};
    qsort(blocks, made, sizeof *blocks, by_value);
    for (size_t i = 1; i < made; i++)
        if (blocks[i].put->value == blocks[i - 1].put->value)
            abort();
    return made;
}

/* Adds a get or read to the block of its value; false: it cannot be in it. */
static bool join(struct block *block, const struct linear_operation *operation)
{
    if (!block || operation->returned < block->put->called)
        return false;
    if (operation->kind == LINEAR_GET) {
        if (block->get)
            return false;
        block->get = operation;
    }
    block->seen = true;
    if (operation->returned < block->first_return)
        block->first_return = operation->returned;
    if (operation->called > block->last_call)
        block->last_call = operation->called;
    return true;
}

/* A put that has not returned and whose value nobody has seen need not have happened. */
static bool has_happened(const struct block *block)
{
    return block->seen || block->put->returned != LINEAR_NEVER;
}

/* Whether the blocks have an order with `last`, if there is one, behind all others. */
static bool in_order(const struct block *blocks, size_t count, const struct block *last,
                     struct zone *zones)
{
    size_t forward = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t end = &blocks[i] == last ? LINEAR_NEVER : blocks[i].last_call;

        if (has_happened(&blocks[i]) && blocks[i].first_return < end)
            zones[forward++] = (struct zone){blocks[i].first_return, end};
    }
    qsort(zones, forward, sizeof *zones, by_beginning);
    for (size_t i = 1; i < forward; i++)
        if (zones[i].from < zones[i - 1].to)
            return false;
    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = forward;

        if (!has_happened(&blocks[i]) || &blocks[i] == last ||
            blocks[i].first_return < blocks[i].last_call)
            continue;
        /* The last forward zone that begins before this backward zone. */
        while (low < high) {
            size_t middle = (low + high) / 2;

            if (zones[middle].from < blocks[i].last_call)
                low = middle + 1;
            else
                high = middle;
        }
        if (low > 0 && blocks[i].first_return < zones[low - 1].to)
            return false;
    }
    return true;
}

static bool explains(const struct block *blocks, size_t count, bool waits, struct zone *zones)
{
    bool empty = true;

    if (!in_order(blocks, count, NULL, zones))
        return false;
    for (size_t i = 0; i < count; i++)
        empty &= !has_happened(&blocks[i]);
    if (!waits || empty)
        return true;
    for (size_t i = 0; i < count; i++)
        if (blocks[i].get && in_order(blocks, count, &blocks[i], zones))
            return true;
    return false;
}

bool zones_hold(const struct linear_operation *operations, size_t count, bool waits)
{
    struct block *blocks = calloc(count + 1, sizeof *blocks);
    struct zone *zones = calloc(count + 1, sizeof *zones);
    bool holds = true;
    size_t made;

    if (!blocks || !zones)
        abort();
    made = make_blocks(operations, count, blocks);
    for (size_t i = 0; holds && i < count; i++)
        if (operations[i].kind != LINEAR_PUT && operations[i].returned != LINEAR_NEVER)
            holds = join(block_of(blocks, made, operations[i].value), &operations[i]);
    for (size_t i = 0; holds && i < made; i++)
        holds = !blocks[i].get || blocks[i].last_call <= blocks[i].get->returned;
    holds = holds && explains(blocks, made, waits, zones);
    free(blocks);
    free(zones);
    return holds;
}
