/* ways.h - how fast the ways between hosts are, as far as it is known.
 *
 * The bandwidth of a way is a mean that follows what is measured.  A way of which nothing is known
 * is taken to be as fast as the slower one of both hosts' fastest known ways: nobody is sent where
 * it might be slow.  Latencies are 0: what hosts exchange in a superstep goes in one block, whose
 * latency no move of one process saves.
 *
 * No clock, no I/O.
 */
#ifndef COORD_WAYS_H
#define COORD_WAYS_H

#include <stdint.h>

#include "coordinator/core/balance.h"

#define WAYS_HOSTS_MOST 256u /* for more hosts no way is known */

/* Allocated with ways_begin; all NULL for more hosts than that. */
struct ways {
    uint32_t hosts;
    struct balance_link *measured; /* from host i to host j at [i * hosts + j]; 0: not known */
    struct balance_link *expected; /* likewise, for balance_decide */
};

/* -ENOMEM: the object is empty. */
int ways_begin(struct ways *ways, uint32_t hosts);
void ways_end(struct ways *ways);

/* Between hosts below `hosts`; bandwidth in bytes per second, 0: not known now, which leaves what
 * was known. */
void ways_measure(struct ways *ways, uint32_t from, uint32_t to, double bandwidth);
/* Fills in `expected`, and returns it; NULL: no way can be known. */
const struct balance_link *ways_expect(struct ways *ways);

#endif
