/* link_in.c - reads from links and passes the data on; see link_inside.h.
 *
 * Unencrypted data are read directly into their places on the board; bytes after a frame are
 * buffered.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/link/link_inside.h"
#include "bsprun/link/link_replicas.h"
#include "lib/base/clock.h"

#define PLACES       64u        /* of data, for one read */
#define BYTES_A_TIME (8u << 20) /* then other links get their turn */

static int fail(struct link *link, int error, const char *what)
{
    snprintf(link->why, sizeof link->why, "%s", what);
    return error;
}

static int not_understood(struct link *link)
{
    return fail(link, -EPROTO, "it sent something that is not a message of this protocol");
}

void link_in_free(struct link_in *in)
{
    net_frames_in_free(&in->frames);
    bspz_buffer_free(&in->head);
    mirror_block_free(&in->block);
    *in = (struct link_in){0};
}

/* ---- What is made of frames ---------------------------------------------------------------- */

/* Whether the thread of the bell may handle the message, and has. */
static bool is_handled(struct link *link, const struct wire_message *message)
{
    const struct links *links = link->links;

    return message->kind == WIRE_ALIVE ||
           (links->express && links->express->message(links->context, link->host, message));
}

static int deliver(struct link *link)
{
    struct links *links = link->links;
    struct link_in *in = &link->in;
    struct wire_message message;
    char why[WIRE_ERROR_SIZE];
    int error;

    if (links->ending)
        return 0;
    in->for_loop = links->driven && !links->express;
    if (in->for_loop)
        return 0;
    error = wire_decode(in->message, in->message_size, &message, why, sizeof why);
    if (error == -ENOMEM)
        return fail(link, error, "no memory for its message");
    if (error)
        return not_understood(link);
    if (links->driven)
        in->for_loop = !is_handled(link, &message);
    else if (message.kind != WIRE_ALIVE)
        links->calls.message(links->context, link->host, &message);
    wire_message_free(&message);
    return links->closed || link->broken ? -ECANCELED : 0;
}

/* The thread of the bell drives the connections with the lock held. */
static int accept_shared(struct link *link, struct mirror_block *block)
{
    struct links *links = link->links;
    bool locks = !links->driven;
    int error;

    if (locks)
        links_lock(links);
    error = link_replicas_accept(link, block);
    links->receipts = true;
    if (locks)
        links_unlock(links);
    return error;
}

static int block_is_there(struct link *link)
{
    struct link_in *in = &link->in;
    int error = link->links->replicas ? accept_shared(link, &in->block)
                                      : mirror_accept(link->links->mirror, link->host, &in->block);

    if (in->begun_ns > 0) {
        atomic_fetch_add(&link->timed_ns, bspz_now_ns() - in->begun_ns);
        atomic_fetch_add(&link->timed_bytes, in->block.data_bytes);
    }
    mirror_block_free(&in->block);
    in->filling = false;
    if (error == -EPROTO)
        return fail(link, error, "it sent an invalid superstep");
    return error ? fail(link, error, "no memory for what it sent") : 0;
}

static int head_is_there(struct link *link)
{
    struct link_in *in = &link->in;
    struct mirror *mirror = link->links->mirror;
    int error;

    in->stalled = !mirror;
    if (!mirror)
        return 0;
    error = link->links->replicas
                ? link_replicas_expect(link, in->head.data, in->head.size, &in->block)
                : mirror_expect(mirror, link->host, in->head.data, in->head.size, &in->block);
    if (error == -EPROTO)
        return fail(link, error, "it sent an invalid superstep");
    if (error)
        return fail(link, error, "no memory for what it sends");
    in->head = (struct bspz_buffer){0};
    in->filling = true;
    in->data_left = in->block.data_bytes;
    in->begun_ns = in->data_left >= LINK_TIMED ? bspz_now_ns() : 0;
    in->piece = in->piece_done = 0;
    return in->data_left == 0 ? block_is_there(link) : 0;
}

static int take_head(struct link *link, const unsigned char *bytes, uint32_t size)
{
    struct link_in *in = &link->in;
    struct mirror_head head;

    if (!bspz_buffer_add(&in->head, bytes, size))
        return fail(link, -ENOMEM, "no memory for what it sends");
    if (in->head.size < sizeof head)
        return 0;
    memcpy(&head, in->head.data, sizeof head);
    if ((head.magic != MIRROR_MAGIC && head.magic != REPLICA_MAGIC) ||
        head.head_bytes < sizeof head || head.head_bytes > MIRROR_HEAD_MAX ||
        in->head.size > head.head_bytes)
        return not_understood(link);
    return in->head.size == head.head_bytes ? head_is_there(link) : 0;
}

/* Advances in the places to be filled. */
static void filled(struct link_in *in, uint64_t size)
{
    in->data_left -= size;
    in->piece_done += size;
    while (in->piece < in->block.count && in->piece_done >= in->block.data[in->piece].iov_len)
        in->piece_done -= in->block.data[in->piece++].iov_len;
}

static int take_data(struct link *link, const unsigned char *bytes, uint32_t size)
{
    struct link_in *in = &link->in;

    if (size > in->data_left)
        return not_understood(link);
    while (size > 0) {
        struct iovec *place = &in->block.data[in->piece];
        uint64_t room = place->iov_len - in->piece_done;
        uint64_t some = size < room ? size : room;

        memcpy((char *)place->iov_base + in->piece_done, bytes, some);
        filled(in, some);
        bytes += some;
        size -= (uint32_t)some;
    }
    return in->data_left == 0 ? block_is_there(link) : 0;
}

static int hand_on(struct link *link)
{
    struct link_in *in = &link->in;
    int error = 0;

    while (!error && !link_in_waits(in)) {
        const unsigned char *bytes;
        uint32_t size;
        int what = net_frames_in_next(&in->frames, &bytes, &size, NULL, 0);

        if (what == 0)
            return 0;
        if (what == NET_FRAME_MESSAGE) {
            in->message = bytes;
            in->message_size = size;
            error = deliver(link);
        } else if (what == NET_FRAME_OF_BLOCK) {
            error = (in->filling ? take_data : take_head)(link, bytes, size);
        } else {
            error = what == -ENOMEM ? fail(link, what, "no memory for what it sends")
                                    : not_understood(link);
        }
    }
    return error;
}

/* ---- Reading ------------------------------------------------------------------------------- */

/* The places of the next data, if they can be read directly. */
static unsigned add_places(const struct link_in *in, struct iovec *pieces, uint32_t *room)
{
    uint32_t left = in->filling ? net_frames_in_direct(&in->frames) : 0;
    uint64_t done = in->piece_done;
    unsigned count = 0;

    *room = 0;
    for (uint64_t i = in->piece; count < PLACES && left > 0 && i < in->block.count; i++) {
        uint64_t size = in->block.data[i].iov_len - done;

        if (size > left)
            size = left;
        pieces[count++] = (struct iovec){(char *)in->block.data[i].iov_base + done, size};
        *room += (uint32_t)size;
        left -= (uint32_t)size;
        done = 0;
    }
    return count;
}

/* One read: > 0, or 0: nothing available, or -errno. *all: nothing is left. */
static ssize_t read_once(struct link *link, bool *all)
{
    struct link_in *in = &link->in;
    struct iovec pieces[PLACES + 1];
    uint32_t room, placed;
    unsigned count = add_places(in, pieces, &room);
    size_t ahead;
    unsigned char *staging = net_frames_in_room(&in->frames, &ahead);
    ssize_t got;

    if (!staging)
        return fail(link, -ENOMEM, "no memory for what it sends");
    /* Of data that go on behind this frame only the next frame's number. */
    if (count > 0 && in->data_left > in->frames.left)
        ahead = WIRE_HEADER;
    pieces[count++] = (struct iovec){staging, ahead};
    do {
        got = readv(link->fd, pieces, (int)count);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN ? 0 : fail(link, -errno, strerror(errno));
    if (got == 0)
        return fail(link, -EPIPE, "it closed the connection");
    atomic_store_explicit(&link->heard, true, memory_order_relaxed);
    placed = (size_t)got < room ? (uint32_t)got : room;
    if (placed > 0) {
        net_frames_in_passed(&in->frames, placed);
        filled(in, placed);
    }
    net_frames_in_filled(&in->frames, (size_t)got - placed);
    *all = (size_t)got < room + ahead;
    return got;
}

static void answer(struct links *links)
{
    bool locks = !links->driven;

    if (!links->receipts)
        return;
    if (locks)
        links_lock(links);
    links_answer(links);
    if (locks)
        links_unlock(links);
}

static int read_on(struct link *link, uint64_t *total)
{
    bool all = false;

    *total = 0;
    while (*total < BYTES_A_TIME && !all && !link_in_waits(&link->in)) {
        ssize_t got = read_once(link, &all);
        int error = 0;

        if (got <= 0)
            return (int)got;
        *total += (uint64_t)got;
        if (link->in.filling && link->in.data_left == 0)
            error = block_is_there(link);
        if (!error)
            error = hand_on(link);
        if (error)
            return error;
    }
    return 0;
}

int link_in_read(struct link *link, uint64_t *total)
{
    int error = read_on(link, total);

    answer(link->links);
    return error;
}

int link_in_resume(struct link *link)
{
    struct link_in *in = &link->in;
    int error = 0;

    if (!link_in_waits(in))
        return 0;
    if (in->for_loop)
        error = deliver(link);
    else
        error = head_is_there(link);
    if (!error)
        error = hand_on(link);
    answer(link->links);
    return error;
}
