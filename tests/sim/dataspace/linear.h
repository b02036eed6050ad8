/* linear.h - is there an order of the operations on a tag in which each took effect between its
 * call and its return, and which explains what the gets and reads returned?
 *
 * The search of Wing and Gong ("Testing and verifying concurrent objects", J. Parallel and
 * Distributed Computing 17, 1993) with Lowe's memory of what was tried ("Testing for
 * linearizability", Concurrency and Computation 29, 2017).
 */
#ifndef SIM_DATASPACE_LINEAR_H
#define SIM_DATASPACE_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#define LINEAR_MOST  64u /* operations of a history */
#define LINEAR_NEVER UINT64_MAX

enum linear_kind { LINEAR_PUT, LINEAR_GET, LINEAR_READ };

struct linear_operation {
    enum linear_kind kind;
    uint32_t value;            /* that was put, or was returned; different for each put, above 0 */
    uint64_t called, returned; /* LINEAR_NEVER: it has not returned; a get or read had no effect */
};

/* waits: at the end there are gets or reads that have not returned, so that the tag must have no
 * object then.  count: at most LINEAR_MOST. */
bool linear_holds(const struct linear_operation *operations, unsigned count, bool waits);

#endif
