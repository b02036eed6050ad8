/* zones.h - is there an order of the operations on a tag that explains them?  The same question as
 * linear.h, answered in the time of a sort, for histories of any length.
 *
 * Every put has a value of its own, so it is known which put a get or read returned.  A put and
 * what returned its value are a block: nothing else happens between them.  With f the earliest
 * return in a block and s the latest call, a block takes at least the time from f to s (f < s, a
 * forward zone), or can be at any one moment from s to f (a backward zone).  There is an order
 * exactly if no two forward zones overlap, no backward zone lies within a forward zone, nothing
 * returns before the put of its block is called, and nothing of a block is called after its get has
 * returned (Gibbons and Korach, "Testing shared memories", SIAM J. Computing 26, 1997, for
 * registers; a get is the last operation of its block, which changes none of their argument).
 */
#ifndef SIM_DATASPACE_ZONES_H
#define SIM_DATASPACE_ZONES_H

#include <stddef.h>

#include "tests/sim/dataspace/linear.h"

/* As linear_holds, without its bound on count.  Aborts if there is no memory, or if two puts have
 * the same value. */
bool zones_hold(const struct linear_operation *operations, size_t count, bool waits);

#endif
