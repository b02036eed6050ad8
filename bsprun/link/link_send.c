/* link_send.c - sends messages, and the data of supersteps for other hosts; see link_inside.h.
 *
 * Happy path: the last rank arrives -> links_send_due, by the thread that was rung -> a block for
 * each host -> link_push.  What can fail: memory, the connection: link_break.
 */
#include <poll.h>
#include <string.h>

#include "bsprun/link/link_inside.h"
#include "bsprun/link/link_replicas.h"

void link_push(struct link *link)
{
    bool more;
    int result;

    if (!link->up || link->broken || link->want_write)
        return;
    /* Once what was loaded earlier is written, as well, there may be more: nobody else asks. */
    do {
        more = link->links->replicas &&
               (link_replicas_fill(link) || net_frames_out_loaded(&link->out));
        result = net_frames_out_write(&link->out, link->fd);
    } while (more && result == 0);
    if (result < 0)
        link_break(link, strerror(-result));
    link->want_write = result == 1;
    if (link->want_write)
        link_want(link);
}

/* With the lock held. */
static void send_stage(struct links *links, uint64_t superstep, enum bspz_stage stage)
{
    uint32_t first = 0;

    /* Hosts begin with different ones. */
    while (first < links->count && links->all[first].host < links->host)
        first++;
    for (uint32_t i = 0; i < links->count; i++) {
        struct link *link = &links->all[(first + i) % links->count];
        struct mirror_block block;
        int error;

        if (link->broken || !mirror_has(links->mirror, link->host))
            continue;
        error = mirror_collect(links->mirror, link->host, superstep, stage, &block);
        if (!error) {
            error = net_frames_out_block(&link->out, block.head, block.head_bytes, block.data,
                                         block.count);
            if (error)
                mirror_block_free(&block);
        }
        if (error)
            link_break(link, "no memory to send a superstep");
        link_push(link);
    }
    mirror_collected(links->mirror, superstep, stage);
}

static void push_those(struct links *links, bool kin)
{
    for (uint32_t i = 0; i < links->count; i++)
        if (links->all[i].kin == kin)
            link_push(&links->all[i]);
}

void links_push_all(struct links *links)
{
    links_check(links);
    push_those(links, true);
    push_those(links, false);
    links_check(links);
}

void links_answer(struct links *links)
{
    if (!links->receipts || !links->replicas)
        return;
    links->receipts = false;
    for (uint32_t i = 0; i < links->count; i++)
        if (link_replicas_is_urgent(&links->all[i]))
            link_push(&links->all[i]);
    links_check(links);
}

/* With replicas.  The others are served first: they may wait for this host. */
static void share_stage(struct links *links, uint64_t superstep, enum bspz_stage stage)
{
    int error = link_replicas_collect(links, superstep, stage);

    for (uint32_t i = 0; i < links->count && error; i++)
        link_break(&links->all[i], "no memory to send a superstep");
    links_push_all(links);
    link_replicas_pass(links, superstep, stage);
    links_push_all(links);
}

static bool output_waits(const struct links *links)
{
    struct pollfd polled[2];
    nfds_t count = 0;

    for (int i = 0; i < 2; i++)
        if (links->outputs[i] >= 0)
            polled[count++] = (struct pollfd){.fd = links->outputs[i], .events = POLLIN};
    return count > 0 && links->calls.arrived && poll(polled, count, 0) > 0;
}

void links_send_due(struct links *links)
{
    enum bspz_stage stage;
    uint64_t superstep;

    while (links->mirror && !links->drain_due && mirror_due(links->mirror, &superstep, &stage)) {
        if (stage == BSPZ_STAGE_ARRIVED && links->drained != superstep + 1 && output_waits(links)) {
            links->drain_due = true;
            links->drained = superstep + 1;
            uv_async_send(&links->async);
            return;
        }
        (links->replicas ? share_stage : send_stage)(links, superstep, stage);
    }
}

int links_send(struct links *links, uint32_t host, struct wire_message *message)
{
    struct link *link = links_to(links, host);
    int error;

    if (!link || link->broken || links->closed)
        return 0;
    links_lock(links);
    error = net_frames_out_add(&link->out, message, SIZE_MAX);
    if (!error)
        link_push(link);
    links_unlock(links);
    return error;
}

void links_put(struct links *links, uint32_t host, const struct wire_message *message)
{
    struct link *link = links_to(links, host);

    if (!link || link->broken || links->closed)
        return;
    if (net_frames_out_add(&link->out, message, SIZE_MAX) != 0)
        link_break(link, "no memory for what is to be sent to it");
}

void links_put_done(struct links *links)
{
    for (uint32_t i = 0; i < links->count && !links->closed; i++)
        if (net_frames_out_waiting(&links->all[i].out) > 0)
            link_push(&links->all[i]);
}

uint64_t links_waiting(const struct links *links, uint32_t host)
{
    struct links *mutable = (struct links *)links;
    struct link *link = links_to(mutable, host);
    uint64_t waiting;

    links_lock(mutable);
    waiting = link ? net_frames_out_waiting(&link->out) : 0;
    links_unlock(mutable);
    return waiting;
}
