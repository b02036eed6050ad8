/* link_invariants.c - what is true of all links whenever the lock is taken or given back; see
 * link_inside.h. */
#include <assert.h>

#include "bsprun/link/link_inside.h"

static void check_link(const struct links *links, const struct link *link)
{
    assert(link->links == links && link->host != links->host);
    assert(link->fd < 0 || link->up);
    assert(link->fd >= 0 || link->events == 0);
    assert(!link->told || (link->broken && link->fd < 0 && !link->call));
    assert(!link->broken || link->why[0]);
    assert(!link->want_write || link->up);
    assert(link->told_bytes <= link->timed_bytes && link->told_ns <= link->timed_ns);
    assert(link->flying <= LINK_FLYING);
    assert(link->flying == 0 || links->replicas);
    for (unsigned i = 0; i < link->flying; i++)
        assert(link->flights[i].copy);
    assert((link->held_key == 0) == (link->held_ns == 0));
}

void links_check(const struct links *links)
{
    assert(!links->closed);
    assert(!links->replicas || links->mirror);
    for (uint32_t i = 0; i < links->count; i++)
        check_link(links, &links->all[i]);
}
