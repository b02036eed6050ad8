/* centres.h - the cost centres of a run: supersteps of the same statement and the same h. Pure.
 *
 * What h is the same is a matter of the size of a bucket: h is rounded up to a multiple of it. When
 * there are too many centres, buckets become larger. */
#ifndef BSPPROF_CENTRES_H
#define BSPPROF_CENTRES_H

#include "tools/bspprof/run.h"

#define CENTRES_MOST   (1u << 18)
#define CENTRES_NOBODY UINT32_MAX /* the statement of centres that are not told apart by it */

struct centre {
    uint32_t statement;
    uint64_t h;              /* of one superstep, rounded up to the bucket */
    struct strata_sums sums; /* supersteps 0: no centre */
};

struct centres {
    bool by_statement;
    uint64_t bucket;
    uint32_t count, room; /* room: a power of two, or 0 */
    struct centre *table; /* [room], owned; centres_list makes [count] of it */
};

void centres_begin(struct centres *centres, uint64_t bucket, bool by_statement);
void centres_free(struct centres *centres);

/* False: out of memory. */
bool centres_add(struct centres *centres, const struct run_superstep *one);

/* Makes buckets larger until there are at most so many, or until there is only one h beside 0, and
 * puts the centres into table[0 .. count).  Nothing may be added afterwards. */
void centres_list(struct centres *centres, uint64_t most);

#endif
