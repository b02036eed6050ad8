/* get_order.h - in which order this rank's gets were issued, over all processes they come from.
 *
 * Requests lie in one chain for each owner, in the order of issue within the chain; the results of
 * all of them are written in the order of issue, too.  While each get writes behind the one before,
 * as most programs have it, no order can be seen and none is noted.  From the first get on that
 * does not, the rank notes a *run* whenever a get asks another owner than the get before.
 */
#ifndef BSPZ_RT_GET_ORDER_H
#define BSPZ_RT_GET_ORDER_H

#include "lib/rt/outbox.h"
#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

/* Gets in a row from one owner: its number, and how many bytes they are; those of longer ones
 * follow in the next two words.  Small, as there can be one for each get. */
typedef uint32_t bspz_run;
#define BSPZ_RUN_OWNER_BITS 12
#define BSPZ_LONG_RUN       (UINT32_MAX >> BSPZ_RUN_OWNER_BITS)
_Static_assert(BSPZ_MAX_PROCS <= 1 << BSPZ_RUN_OWNER_BITS, "a run names any process");

struct bspz_get_order {
    int owner;                  /* whom the last get of this superstep asked; -1: there was none */
    bool noting;                /* runs */
    struct bspz_cursor *cursor; /* of the requests to that owner; never NULL */
    uint64_t asked_before;      /* of the owner, when the current run began */
    bspz_run *next, *limit;     /* where the next run goes; behind `limit` there is no room */
};
extern struct bspz_get_order bspz_get_order;

/* What was asked of the owner so far; a request that may yet be extended is not in cursor->bytes.
 */
static inline uint64_t bspz_bytes_asked(const struct bspz_cursor *cursor)
{
    const struct bspz_request_record *record = cursor->last;

    return cursor->bytes + (record ? bspz_bytes_of(record->size) : 0);
}

/* Notes the run that ends here, which has so many bytes, where that is not done in a moment: it is
 * long, there is no room, or nothing was noted yet. */
BSPZ_NOINLINE void bspz_get_note(uint64_t bytes, uint32_t slot_flags, int line, const char *file);

/* Notes a get of `owner` whose result goes to `destination`; before its request is written. */
static inline __attribute__((always_inline)) void
bspz_get_issued(int owner, const void *destination, uint32_t slot_flags, int line, const char *file)
{
    struct bspz_get_order *order = &bspz_get_order;
    struct bspz_cursor *cursor = &bspz_cursors[BSPZ_REQUESTS][owner];
    uint64_t bytes;

    if (order->noting ? owner == order->owner
                      : (uint64_t)(uintptr_t)destination >= order->cursor->next_destination) {
        order->owner = owner;
        order->cursor = cursor;
        return;
    }
    bytes = bspz_bytes_asked(order->cursor) - order->asked_before;
    if (bspz_likely(order->noting && bytes < BSPZ_LONG_RUN && order->next <= order->limit))
        *order->next++ = (bspz_run)order->owner | (bspz_run)bytes << BSPZ_RUN_OWNER_BITS;
    else
        bspz_get_note(bytes, slot_flags, line, file);
    order->owner = owner;
    order->cursor = cursor;
    order->asked_before = bspz_bytes_asked(cursor);
}

/* Writes the results, in the order of issue wherever the order can be seen. */
void bspz_collect_gets(void);

/* The next superstep begins. */
void bspz_get_order_reset(void);

#pragma GCC visibility pop

#endif
