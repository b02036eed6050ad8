/* order.h - output of several hosts is shown superstep by superstep.
 *
 * What the processes of one host write comes in order; what comes from another host may be late.
 * So output of a superstep waits until every host has passed the superstep before: is known to
 * have sent all that its processes wrote until then.  A host has passed what it says (PASSED), and
 * what is older than anything that it has sent.  Within a superstep, output is shown as it comes.
 *
 * A mark (of a snapshot) is reached when all hosts have sent it: what is shown then was written
 * before it, what waits after it.
 *
 * What waits is kept in memory, and what is too much for that in a file.  Pure but for that.
 */
#ifndef BSPRUN_ORDER_H
#define BSPRUN_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/spool.h"
#include "coordinator/core/lineage.h"

struct order_calls {
    void (*show)(void *context, int pid, int stream, const char *data, size_t size);
    void (*marked)(void *context, struct coord_name name);
    /* Some of what waited cannot be kept: -errno; it was shown at once. */
    void (*unkept)(void *context, int error);
    spool_file *file;
};

struct order;

/* For hosts with numbers below `hosts`.  NULL: no memory. */
struct order *order_new(uint32_t hosts, size_t memory, const struct order_calls *calls,
                        void *context);
void order_free(struct order *order); /* NULL is fine */

/* A term begins: its hosts are those for which member(context, host) is true.  What waits is forgotten;
 * it is written again. */
void order_begin(struct order *order, bool (*member)(const void *context, uint32_t host),
                 const void *context);
/* A host will send nothing more. */
void order_leave(struct order *order, uint32_t host);

void order_piece(struct order *order, uint32_t host, uint64_t superstep, int pid, int stream,
                 const char *data, size_t size);
/* name.superstep is the number of completed supersteps. */
void order_mark(struct order *order, uint32_t host, struct coord_name name);
/* The host has passed the superstep, or a later one. */
void order_passed(struct order *order, uint32_t host, uint64_t superstep);

/* Whether something waits, and which superstep all hosts must pass for it; each is answered
 * once. */
bool order_asks(struct order *order, uint64_t *superstep);

/* No more will come: shows what waits. */
void order_flush(struct order *order);
/* Bytes that wait. */
uint64_t order_waiting(const struct order *order);

#endif
