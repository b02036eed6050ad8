/* order.h - output of several hosts is shown superstep by superstep.
 *
 * What the processes of one host write comes in order; what comes from another host may be late.
 * So output of a superstep waits until every host has passed the superstep before: is known to
 * have sent all that its processes wrote until then.  A host has passed what it says (PASSED), and
 * what is older than anything it has sent.  Within a superstep, output is shown as it comes.
 *
 * A mark (MARK, of a snapshot) is reached when all hosts have sent it: what is shown then was
 * written before it, and what waits after it.  A host that has passed the superstep that begins
 * with the snapshot without having sent the mark never will: there is no such snapshot.  The mark
 * of snapshot 0 also divides what was written before and after bsp_begin.  Hosts that are ahead may
 * send the next mark before others have sent this one: marks are reached one after the other.
 *
 * What waits lies in a spool: in memory, and what is too much for that in a file.  Pure but for
 * that.
 */
#ifndef BSPRUN_ORDER_H
#define BSPRUN_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/launcher/spool.h"
#include "coordinator/core/lineage.h"

struct order_calls {
    void (*show)(void *context, int pid, int stream, const char *data, size_t size);
    void (*marked)(void *context, struct coord_name name);
    void (*lost)(void *context, int error); /* what waited could not be kept: -errno */
};

struct order;

/* For hosts with numbers below `hosts`, none of which takes part yet.  The spool must stay.  NULL:
 * no memory. */
struct order *order_new(uint32_t hosts, struct spool *spool, const struct order_calls *calls,
                        void *context);
void order_free(struct order *order); /* NULL is fine */

/* A term begins, with no host yet.  What waits is held until it is known what of it will be written
 * again. */
void order_begin(struct order *order);
/* The host takes part in the term. */
void order_join(struct order *order, uint32_t host);
/* The host will send nothing more. */
void order_leave(struct order *order, uint32_t host);
/* The term goes on from that snapshot: what is held is shown as far as it was written before, for
 * that does not come again; marks up to that one are reached if they were waited for. */
void order_from(struct order *order, struct coord_name name);

void order_piece(struct order *order, uint32_t host, uint64_t superstep, int pid, int stream,
                 const char *data, size_t size);
void order_mark(struct order *order, uint32_t host, struct coord_name name);
/* The host has passed the superstep. */
void order_passed(struct order *order, uint32_t host, uint64_t superstep);

/* Whether output waits for hosts to say that they have passed a superstep, and which; true once
 * for each. */
bool order_asks(struct order *order, uint64_t *superstep);

/* No more will come: shows what waits. */
void order_flush(struct order *order);

#endif
