/* link_state.c - operations on one link: find it, drop it, set its events; see link_inside.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "bsprun/link/link_inside.h"

void link_bell_lock(struct link_bell *bell)
{
    atomic_fetch_add(&bell->asked, 1);
    pthread_mutex_lock(&bell->lock);
    atomic_fetch_sub(&bell->asked, 1);
}

void link_bell_unlock(struct link_bell *bell)
{
    pthread_mutex_unlock(&bell->lock);
}

void links_lock(struct links *links)
{
    link_bell_lock(links->bell);
}

void links_unlock(struct links *links)
{
    link_bell_unlock(links->bell);
}

struct link *links_to(struct links *links, uint32_t host)
{
    for (uint32_t i = 0; i < links->count; i++)
        if (links->all[i].host == host)
            return &links->all[i];
    return NULL;
}

void link_break(struct link *link, const char *why)
{
    if (link->broken)
        return;
    link->broken = true;
    if (why != link->why)
        snprintf(link->why, sizeof link->why, "%s", why);
    uv_async_send(&link->links->async);
}

void links_break(struct links *links, uint32_t host, const char *why)
{
    struct link *link = links_to(links, host);

    if (!link || links->closed)
        return;
    links_lock(links);
    link_break(link, why);
    links_unlock(links);
}

/* ---- What it waits for ----------------------------------------------------------------------- */

void link_want(struct link *link)
{
    uint32_t events = (link_in_waits(&link->in) ? 0 : EPOLLIN) | (link->want_write ? EPOLLOUT : 0);
    struct epoll_event event = {.events = events, .data.ptr = link};
    int operation = EPOLL_CTL_MOD;

    if (link->fd < 0 || events == link->events || (link->broken && events))
        return;
    if (link->events == 0)
        operation = EPOLL_CTL_ADD;
    else if (events == 0)
        operation = EPOLL_CTL_DEL; /* else it would keep reporting a hangup */
    if (epoll_ctl(link->links->ready, operation, link->fd, &event) == 0)
        link->events = events;
    else
        link_break(link, strerror(errno));
}

void link_forget(struct link *link)
{
    if (link->events && link->fd >= 0)
        epoll_ctl(link->links->ready, EPOLL_CTL_DEL, link->fd, NULL);
    link->events = 0;
}
