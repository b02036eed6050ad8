/* get_order.h - the order in which this rank's gets were issued, across all owners.
 *
 * Requests lie in one chain for each owner, in the order of issue; the results of all chains must
 * be written in the order of issue, too.  As long as each get writes to higher addresses than the
 * previous one, as in most programs, the order does not matter and is not noted.  From the first
 * get on that does not, the rank notes a *run* whenever a get asks another owner than the previous
 * get.
 */
#ifndef BSPZ_RT_GET_ORDER_H
#define BSPZ_RT_GET_ORDER_H

#include "lib/rt/outbox.h"
#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

/* Consecutive gets from one owner: its number and the bytes; the bytes of longer runs are in the
 * next two words.  Small, as there can be one for each get. */
typedef uint32_t bspz_run;
#define BSPZ_RUN_OWNER_BITS 12
#define BSPZ_LONG_RUN       (UINT32_MAX >> BSPZ_RUN_OWNER_BITS)
_Static_assert(BSPZ_MAX_PROCS <= 1 << BSPZ_RUN_OWNER_BITS, "a run names any process");

struct bspz_get_order {
    int owner;                  /* owner of the last get of this superstep; -1: none */
    bool noting;                /* runs */
    struct bspz_cursor *cursor; /* of the requests to that owner; never NULL */
    uint64_t asked_before;      /* bytes asked of the owner when the present run began */
    bspz_run *next, *limit;     /* place of the next run; end of the room */
};
extern struct bspz_get_order bspz_get_order;

/* Bytes asked of the owner so far; cursor->bytes lacks the request that is still open. */
static inline uint64_t bspz_bytes_asked(const struct bspz_cursor *cursor)
{
    const struct bspz_request_record *record = cursor->last;

    return cursor->bytes + (record ? bspz_bytes_of(record->size) : 0);
}

/* The slow path of noting a run of `bytes` bytes: it is long, there is no room, or none was noted
 * yet. */
BSPZ_NOINLINE void bspz_get_note(uint64_t bytes, uint32_t slot_flags, int line, const char *file);

/* Notes a get from `owner` whose result goes to `destination`, before its request is written. */
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

/* Writes the results, in the order of issue wherever that matters. */
void bspz_collect_gets(void);

/* The next superstep begins: needed where one has issued gets, that is, bspz_get_order.owner >= 0. */
void bspz_get_order_reset(void);

#pragma GCC visibility pop

#endif
