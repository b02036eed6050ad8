/* link.c - the links of one term; see link.h.
 *
 * Happy path: links_open calls some peers and waits for others -> attach -> link_drive.c reads and
 * writes -> links_close.  When the last rank of this host arrives, whoever hears the bell collects
 * what is for each host and writes what the descriptors take.
 *
 * What can fail: a call, the connection, what the peer says, memory: link_break, then `lost` from
 * on_async.  The lock of the bell protects `out` of each link and the sending side of the mirror.
 * `in` and the receiving side belong to the driving thread: that of the loop between two settings
 * of `reading`, that of the bell while `driven` and only with the lock held.  Everything else
 * belongs to the thread of the loop.
 */
#include "bsprun/link/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/link/link_inside.h"
#include "bsprun/link/link_replicas.h"
#include "bsprun/link/link_tune.h"

/* ---- What the loop is told of -------------------------------------------------------------- */

static void release(struct links *links)
{
    if (--links->handles > 0)
        return;
    free(links->all);
    free(links);
}

static void on_closed(uv_handle_t *handle)
{
    release(handle->data);
}

/* Closes the descriptor and drops waiting data. */
static void cut(struct link *link)
{
    if (link->call)
        net_call_cancel(link->call);
    link->call = NULL;
    link_forget(link);
    if (link->fd >= 0)
        close(link->fd);
    link->fd = -1;
    net_frames_out_free(&link->out);
    link_in_free(&link->in);
}

static void tell_lost(struct links *links)
{
    for (uint32_t i = 0; i < links->count && !links->closed; i++) {
        struct link *link = &links->all[i];

        if (!link->broken || link->told)
            continue;
        links_lock(links);
        link->told = true;
        cut(link);
        if (links->replicas)
            link_replicas_lost(link);
        links->receipts = true; /* others may have waited for what it was to send */
        links_answer(links);
        links_unlock(links);
        links->calls.lost(links->context, link->host, link->why);
    }
}

static void drain(struct links *links)
{
    if (!links->drain_due)
        return;
    links->calls.arrived(links->context, links->drained - 1);
    if (links->closed)
        return;
    links_lock(links);
    links->drain_due = false;
    links_send_due(links);
    links_unlock(links);
}

static void on_async(uv_async_t *async)
{
    struct links *links = async->data;

    links_replicas_report(links);
    tell_lost(links);
    if (!links->closed)
        drain(links);
    if (!links->closed)
        links_resume(links);
}

/* ---- Making them --------------------------------------------------------------------------- */

static int attach(struct link *link, int fd, const struct net_session *session)
{
    struct links *links = link->links;

    link->in.frames = (struct net_frames_in){.frame_max = WIRE_FRAME_MAX, .blocks = true};
    if (links->encrypt && session) {
        net_frames_in_seal(&link->in.frames, session->receive);
        if (net_frames_out_seal(&link->out, session->send) != 0)
            return -ENOMEM;
    }
    link_tune(fd);
    link->fd = fd;
    link->up = true;
    link_want(link);
    link_push(link);
    return 0;
}

void links_take(struct links *links, uint32_t host, int fd, const struct net_session *session)
{
    struct link *link = links_to(links, host);
    int error;

    if (!link || link->up || link->broken || links->closed) {
        close(fd);
        return;
    }
    links_lock(links);
    error = attach(link, fd, session);
    if (error)
        link_break(link, "no memory for the link");
    links_unlock(links);
    if (error)
        close(fd);
}

static void on_met(void *context, const struct net_meeting *meeting)
{
    struct link *link = context;

    link->call = NULL;
    links_take(link->links, link->host, meeting->fd, &meeting->session);
}

static void on_failed(void *context, const char *text)
{
    struct link *link = context;

    link->call = NULL;
    links_lock(link->links);
    link_break(link, text);
    links_unlock(link->links);
}

static int call_peer(struct link *link, const char *addresses)
{
    static const struct net_meeter meeter = {.met = on_met, .failed = on_failed};
    struct net_meet_options options = link->links->meet;
    const char *list[NET_ADDRESSES_MAX];
    char *copy = strdup(addresses), *rest = copy, *one;
    unsigned count = 0;
    int error = -ENOMEM;

    options.setup.wanted.host = link->host;
    while (copy && count < NET_ADDRESSES_MAX && (one = strsep(&rest, " ")))
        if (*one)
            list[count++] = one;
    if (copy)
        error = net_call(link->links->loop, list, count, &options, &meeter, link, &link->call);
    free(copy);
    return error;
}

static void prepare_link(struct links *links, struct link *link, const struct links_peer *peer,
                         bool may_call)
{
    int error = 0;

    link->links = links;
    link->host = peer->host;
    link->fd = -1;
    if (may_call && peer->host < links->host && *peer->addresses)
        error = call_peer(link, peer->addresses);
    if (error)
        link_break(link, error == -EINVAL ? "it has no address" : strerror(-error));
}

struct links *links_open(const struct links_setup *setup, const struct links_calls *calls,
                         void *context)
{
    struct links *links = calloc(1, sizeof *links);
    int error;

    if (!links)
        return NULL;
    links->all = calloc(setup->peer_count + 1, sizeof *links->all);
    error = links->all ? uv_async_init(setup->loop, &links->async, on_async) : -ENOMEM;
    if (error) {
        free(links->all);
        free(links);
        errno = -error;
        return NULL;
    }
    links->async.data = links;
    links->handles = 2;
    links->loop = setup->loop;
    links->heartbeat_ms = setup->heartbeat_ms;
    link_beat_begin(links);
    error = links_drive_begin(links);
    if (error) {
        uv_close((uv_handle_t *)&links->async, on_closed);
        uv_close((uv_handle_t *)&links->beat, on_closed);
        errno = -error;
        return NULL;
    }
    links->spin.spin_ns = setup->spin_ns;
    links->host = setup->host;
    links->calls = *calls;
    links->context = context;
    links->bell = setup->bell;
    links->encrypt = setup->encrypt;
    memcpy(links->outputs, setup->outputs, sizeof links->outputs);
    if (setup->meet)
        links->meet = *setup->meet;
    links->count = setup->peer_count;
    for (uint32_t i = 0; i < setup->peer_count; i++)
        prepare_link(links, &links->all[i], &setup->peers[i], setup->meet != NULL);
    links_lock(links);
    links->bell->links = links;
    links_unlock(links);
    return links;
}

int links_mirror(struct links *links, int board_fd, int nprocs,
                 const struct links_replicas *replicas)
{
    struct link_replicas *made = NULL;
    struct mirror *mirror = NULL;
    int error = 0;

    links_lock(links);
    if (replicas)
        error = link_replicas_new(links, board_fd, nprocs, replicas, &made, &mirror);
    else
        mirror = mirror_new(board_fd, nprocs, &error);
    if (!error) {
        links->replicas = made;
        links->mirror = mirror;
    }
    links_unlock(links);
    if (error)
        return error;
    uv_async_send(&links->async); /* a superstep may have arrived already */
    return 0;
}

void links_know_stop(struct links *links, uint64_t superstep, uint64_t round)
{
    links_lock(links);
    if (!links->closed && links->replicas) {
        link_replicas_know_stop(links, superstep, round);
        links_answer(links);
    }
    links_unlock(links);
}

void links_use_express(struct links *links, const struct links_express *express)
{
    links_lock(links);
    links->express = express;
    links_unlock(links);
}

/* ---- The end ------------------------------------------------------------------------------- */

void links_close(struct links *links)
{
    if (!links || links->closed)
        return;
    links_lock(links);
    links->closed = true;
    if (links->bell->links == links)
        links->bell->links = NULL;
    for (uint32_t i = 0; i < links->count; i++)
        cut(&links->all[i]);
    for (uint32_t i = 0; i < links->count && links->replicas; i++)
        link_replicas_lost(&links->all[i]);
    link_replicas_free(links);
    mirror_free(links->mirror);
    links->mirror = NULL;
    links_drive_end(links, on_closed);
    links_unlock(links);
    uv_close((uv_handle_t *)&links->async, on_closed);
    uv_close((uv_handle_t *)&links->beat, on_closed);
}
