/* early.h - links that come before their term: its ELECT is still on the way to this agent, or what
 * ran in the term before is being ended.
 *
 * Of each host the link of the newest term is kept.  What does not fit is closed.
 */
#ifndef BSPRUN_EARLY_H
#define BSPRUN_EARLY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/net/meet.h"

#define EARLY_MAX 1024

struct early {
    int fd; /* -1: the place is free */
    uint32_t host, term;
    struct net_session session;
};

struct early_links {
    struct early places[EARLY_MAX];
};

void early_begin(struct early_links *links);
/* Closes all. */
void early_end(struct early_links *links);
/* The descriptor belongs to them from then on. */
void early_keep(struct early_links *links, const struct net_meeting *meeting);
/* One of that term, which belongs to the caller; false: there is none left, and none older. */
bool early_take(struct early_links *links, uint32_t term, struct early *taken);

#endif
