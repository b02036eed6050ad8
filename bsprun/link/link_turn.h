/* link_turn.h - how long a content is held back, as another home has the turn to send it
 * (replica_set.h).  All with the lock held.
 *
 * A timer is in the epoll set of the connections, so whoever drives these sees that it is time. */
#ifndef BSPRUN_LINK_TURN_H
#define BSPRUN_LINK_TURN_H

#include "bsprun/link/link_replicas_inside.h"

/* turn_ns: as in struct links_replicas.  0 or -errno: link_turn_end is harmless. */
int link_turn_begin(struct link_replicas *replicas, uint64_t turn_ns);
void link_turn_end(struct link_replicas *replicas);

/* Whether what is held back for that host has waited long enough; if not, link_turn_is_due is true
 * when it has. */
bool link_turn_is_over(struct link *link, const struct replica_wait *wait);
/* Whether some may have waited long enough: links_push_all then tries to send it.  True once. */
bool link_turn_is_due(struct links *links, uint64_t now_ns);

#endif
