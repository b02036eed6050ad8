/* centres.c - see centres.h.  A table with open addressing, at most half full. */
#include "tools/bspprof/centres.h"

#include <stdlib.h>

#define FIRST_ROOM 1024u

void centres_begin(struct centres *centres, uint64_t bucket, bool by_statement)
{
    *centres = (struct centres){.by_statement = by_statement, .bucket = bucket};
}

void centres_free(struct centres *centres)
{
    free(centres->table);
    *centres = (struct centres){0};
}

static uint64_t rounded(uint64_t h, uint64_t bucket)
{
    uint64_t over = h % bucket;
    return over == 0 || h > UINT64_MAX - bucket ? h : h + bucket - over;
}

/* The place of this centre, or the free one where it belongs. */
static struct centre *place_of(const struct centres *centres, uint32_t statement, uint64_t h)
{
    uint64_t hash = (h * UINT64_C(0x9e3779b97f4a7c15)) ^ (statement * UINT64_C(0xc2b2ae3d27d4eb4f));
    uint32_t i = (uint32_t)(hash >> 32) & (centres->room - 1);
    while (centres->table[i].sums.supersteps > 0 &&
           (centres->table[i].statement != statement || centres->table[i].h != h))
        i = (i + 1) & (centres->room - 1);
    return &centres->table[i];
}

static void put(struct centres *centres, uint32_t statement, uint64_t h,
                const struct strata_sums *sums)
{
    struct centre *centre = place_of(centres, statement, h);
    if (centre->sums.supersteps == 0) {
        centre->statement = statement;
        centre->h = h;
        centres->count++;
    }
    strata_sum(&centre->sums, sums);
}

/* The same centres, with these buckets, in a table of this size. */
static bool rebuild(struct centres *centres, uint32_t room, uint64_t bucket)
{
    struct centres next = {.by_statement = centres->by_statement, .bucket = bucket, .room = room};
    next.table = calloc(room, sizeof(*next.table));
    if (!next.table)
        return false;
    for (uint32_t i = 0; i < centres->room; i++) {
        const struct centre *centre = &centres->table[i];
        if (centre->sums.supersteps > 0)
            put(&next, centre->statement, rounded(centre->h, bucket), &centre->sums);
    }
    free(centres->table);
    *centres = next;
    return true;
}

bool centres_add(struct centres *centres, const struct run_superstep *one)
{
    struct strata_sums sums = {1,      one->computing, one->waiting, one->communicating,
                               one->h, one->bytes};
    if (centres->room == 0 && !rebuild(centres, FIRST_ROOM, centres->bucket))
        return false;
    while (centres->count >= centres->room / 2) {
        bool full = centres->room >= 2 * CENTRES_MOST;
        if (!rebuild(centres, full ? centres->room : 2 * centres->room,
                     full ? 2 * centres->bucket : centres->bucket))
            return false;
    }
    put(centres, centres->by_statement ? one->statement : CENTRES_NOBODY,
        rounded(one->h, centres->bucket), &sums);
    return true;
}

/* Whether buckets can put any together.  0 stays by itself, however large they are. */
static bool has_several_sizes(const struct centres *centres)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < centres->room; i++) {
        const struct centre *centre = &centres->table[i];
        if (centre->sums.supersteps == 0 || centre->h == 0)
            continue;
        if (size != 0 && centre->h != size)
            return true;
        size = centre->h;
    }
    return false;
}

void centres_list(struct centres *centres, uint64_t most)
{
    uint32_t count = 0;
    while (centres->count > most && has_several_sizes(centres) &&
           centres->bucket < (UINT64_C(1) << 62) &&
           rebuild(centres, centres->room, 2 * centres->bucket))
        ;
    for (uint32_t i = 0; i < centres->room; i++)
        if (centres->table[i].sums.supersteps > 0)
            centres->table[count++] = centres->table[i];
}
