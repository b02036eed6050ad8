/* order.h - shows output of several hosts superstep by superstep.
 *
 * Output of one host arrives in order; that of another host may be late.  So output of a superstep
 * waits until every host has passed the previous superstep, that is, has sent all output up to
 * then.  A host has passed a superstep if it says so (PASSED) or has sent newer output.  Within a
 * superstep, output is shown in the order of arrival.
 *
 * A mark (MARK, of a snapshot) is reached when all hosts have sent it: output shown by then was
 * written before it, waiting output after it.  A host that has passed the first superstep after the
 * snapshot without having sent the mark never will: there is no such snapshot.  The mark of
 * snapshot 0 also separates output before and after bsp_begin.  Hosts that are ahead may send the
 * next mark before others have sent this one: marks are reached one after the other.
 *
 * Waiting output is kept in a spool: in memory, and beyond a limit in a file.  Pure otherwise.
 */
#ifndef BSPRUN_ORDER_H
#define BSPRUN_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/launcher/spool.h"
#include "lib/base/snapshot.h"

struct order_calls {
    void (*show)(void *context, int pid, int stream, const char *data, size_t size);
    void (*marked)(void *context, struct bspz_snapshot_name name);
    void (*lost)(void *context, int error); /* waiting output could not be kept: -errno */
};

struct order;

/* For hosts with numbers below `hosts`, none of which takes part yet.  The spool must stay.  NULL:
 * no memory. */
struct order *order_new(uint32_t hosts, struct spool *spool, const struct order_calls *calls,
                        void *context);
void order_free(struct order *order); /* NULL is fine */

/* A term begins, with no host yet.  Holds the waiting output until it is known which of it will be
 * written again. */
void order_begin(struct order *order);
/* The host takes part in the term. */
void order_join(struct order *order, uint32_t host);
/* The host has replicas of the processes of the lead, which is its own: what one of them has sent
 * or passed the others need not. */
void order_replica(struct order *order, uint32_t host, uint32_t lead);
/* The host will send nothing more. */
void order_leave(struct order *order, uint32_t host);
/* The host is lost.  True: others with the same lead send what it would have sent, which is not
 * waited for from it any more. */
bool order_lose(struct order *order, uint32_t host);
/* The term begins from that snapshot: shows the held output that was written before it, which will
 * not be repeated; marks up to that one are reached if they were pending. */
void order_from(struct order *order, struct bspz_snapshot_name name);

void order_piece(struct order *order, uint32_t host, uint64_t superstep, int pid, int stream,
                 const char *data, size_t size);
void order_mark(struct order *order, uint32_t host, struct bspz_snapshot_name name);
/* The host has passed the superstep. */
void order_passed(struct order *order, uint32_t host, uint64_t superstep);

/* Whether output waits for hosts to pass a superstep, and which; true once for each. */
bool order_asks(struct order *order, uint64_t *superstep);

/* No more output will arrive: shows the waiting output. */
void order_flush(struct order *order);

#endif
