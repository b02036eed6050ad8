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

struct bspz_get_order {
    int owner;                  /* whom the last get of this superstep asked; -1: there was none */
    bool noting;                /* runs */
    struct bspz_cursor *cursor; /* of the requests to that owner; never NULL */
};
extern struct bspz_get_order bspz_get_order;

/* Begins another run, and the notes if there are none. */
BSPZ_NOINLINE void bspz_get_turn(int owner, const char *function, int line, const char *file);

/* Notes a get of `owner` whose result goes to `destination`; before its request is written. */
static inline void bspz_get_issued(int owner, const void *destination, const char *function,
                                   int line, const char *file)
{
    struct bspz_get_order *order = &bspz_get_order;

    if (bspz_likely(!order->noting &&
                    (uint64_t)(uintptr_t)destination >= order->cursor->next_destination)) {
        order->owner = owner;
        order->cursor = &bspz_cursors[BSPZ_REQUESTS][owner];
    } else if (owner != order->owner || !order->noting) {
        bspz_get_turn(owner, function, line, file);
    }
}

/* Writes the results, in the order of issue wherever the order can be seen. */
void bspz_collect_gets(void);

/* The next superstep begins. */
void bspz_get_order_reset(void);

#pragma GCC visibility pop

#endif
