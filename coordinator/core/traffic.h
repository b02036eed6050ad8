/* traffic.h - which processes send how much to which: the mean of what looks have found.
 *
 * A look sees one superstep.  The mean is of the last TRAFFIC_LOOKS looks or so: what is seen of a
 * pair counts by one of the number of looks, at least by 1 / TRAFFIC_LOOKS.  A pair that is not
 * seen counts as 0; one of less than a byte is forgotten.  Where there are more pairs than there is
 * room for, those of the highest senders are left out.
 *
 * No clock, no I/O.
 */
#ifndef COORD_TRAFFIC_H
#define COORD_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/core/balance.h"

#define TRAFFIC_LOOKS 16u

/* Allocated with traffic_begin. */
struct traffic {
    struct balance_traffic *pairs; /* by sender, then by receiver; bytes are means */
    size_t count, most;
    struct balance_traffic *seen, *merged; /* at this look; memory for the next `pairs` */
    size_t seen_count;
    uint32_t looks;
};

/* With room for so many pairs. -ENOMEM: the object is empty, and every call but traffic_end is an
 * error. */
int traffic_begin(struct traffic *traffic, size_t most);
void traffic_end(struct traffic *traffic);

/* At this look the process has sent so many bytes to the other one; several calls for a pair add
 * up.
 */
void traffic_see(struct traffic *traffic, uint32_t from, uint32_t to, double bytes);
/* All of this look was seen; or it was not complete, and counts for nothing. */
void traffic_look(struct traffic *traffic);
void traffic_drop(struct traffic *traffic);

#endif
