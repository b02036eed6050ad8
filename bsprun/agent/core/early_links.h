/* early_links.h - connections that arrive before their term: ELECT has not arrived yet, or processes of
 * the previous term are still being ended.
 *
 * Of each host the connection of the newest term is kept; others are closed.
 */
#ifndef BSPRUN_EARLY_LINKS_H
#define BSPRUN_EARLY_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/net/meet.h"

#define EARLY_MAX 1024

struct early {
    int fd; /* -1: the entry is free */
    uint32_t host, term;
    struct net_session session;
};

struct early_links {
    struct early places[EARLY_MAX];
};

void early_begin(struct early_links *links);
/* Closes all. */
void early_end(struct early_links *links);
/* Takes ownership of the descriptor. */
void early_keep(struct early_links *links, const struct net_meeting *meeting);
/* Passes one of that term to the caller; false: there is none left, nor an older one. */
bool early_take(struct early_links *links, uint32_t term, struct early *taken);

#endif
