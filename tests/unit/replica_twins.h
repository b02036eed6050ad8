/* replica_twins.h - a set of one of four hosts, of which two each have the same of two processes:
 * hosts 0 and 2 process 0, hosts 1 and 3 process 1. */
#ifndef REPLICA_TWINS_H
#define REPLICA_TWINS_H

#include "bsprun/link/replica_set.h"

enum { TWINS_HOMES = 4, TWINS_PROCESSES = 2 };

extern unsigned twins_mismatches; /* that it has reported; 0 in a new one */

/* All contents are applied at once, and no host may be too far behind. */
struct replica_set *twins_open(uint32_t own, bool majority);

#endif
