/* early_links.c - connections that arrive before their term; see early_links.h. */
#include "bsprun/agent/core/early_links.h"

#include <string.h>
#include <unistd.h>

static void forget(struct early *early)
{
    if (early->fd >= 0)
        close(early->fd);
    explicit_bzero(early, sizeof *early);
    early->fd = -1;
}

void early_begin(struct early_links *links)
{
    for (int i = 0; i < EARLY_MAX; i++)
        links->places[i].fd = -1;
}

void early_end(struct early_links *links)
{
    for (int i = 0; i < EARLY_MAX; i++)
        forget(&links->places[i]);
}

/* The entry of that host, or a free one; NULL: other hosts use all. */
static struct early *place_for(struct early_links *links, uint32_t host)
{
    struct early *place = NULL;

    for (int i = 0; i < EARLY_MAX; i++) {
        struct early *early = &links->places[i];

        if (early->fd >= 0 && early->host == host)
            return early;
        if (early->fd < 0 && !place)
            place = early;
    }
    return place;
}

void early_keep(struct early_links *links, const struct net_meeting *meeting)
{
    struct early *place = place_for(links, meeting->peer.host);

    if (!place || (place->fd >= 0 && place->term > meeting->peer.incarnation)) {
        close(meeting->fd);
        return;
    }
    forget(place);
    *place = (struct early){.fd = meeting->fd,
                            .host = meeting->peer.host,
                            .term = meeting->peer.incarnation,
                            .session = meeting->session};
}

bool early_take(struct early_links *links, uint32_t term, struct early *taken)
{
    for (int i = 0; i < EARLY_MAX; i++) {
        struct early *early = &links->places[i];
        bool wanted = early->fd >= 0 && early->term == term;

        if (early->fd < 0 || early->term > term)
            continue;
        if (wanted) {
            *taken = *early;
            early->fd = -1;
        }
        forget(early);
        if (wanted)
            return true;
    }
    return false;
}
