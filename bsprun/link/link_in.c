/* link_in.c - frames are received and handed on; see link_inside.h.
 *
 * Data go straight to their places on the board; what is read beyond a frame is staged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/link/link_inside.h"

#define STAGING      (64u << 10)
#define SEALED_MAX   (LINK_MESSAGE_MAX + CIPHER_EXTRA + (uint32_t)sizeof(struct link_frame))
#define PLACES       64u        /* of data, for one read */
#define BYTES_A_TIME (8u << 20) /* then others have their turn */

static int fail(struct link *link, int error, const char *what)
{
    snprintf(link->why, sizeof link->why, "%s", what);
    return error;
}

static int not_understood(struct link *link)
{
    return fail(link, -EPROTO, "it sent what is no message of this protocol");
}

int link_in_begin(struct link_in *in, const unsigned char *key)
{
    in->room = STAGING;
    if (key) {
        in->room = SEALED_MAX;
        in->plain = malloc(LINK_MESSAGE_MAX);
        memcpy(in->key, key, sizeof in->key);
    }
    in->staging = malloc(in->room);
    return in->staging && (!key || in->plain) ? 0 : -ENOMEM;
}

void link_in_free(struct link_in *in)
{
    free(in->staging);
    free(in->plain);
    bspz_buffer_free(&in->text);
    bspz_buffer_free(&in->head);
    mirror_block_free(&in->block);
    cipher_wipe(&in->cipher);
    *in = (struct link_in){0};
}

/* ---- What is made of frames ---------------------------------------------------------------- */

static int deliver(struct link *link)
{
    struct links *links = link->links;
    struct link_in *in = &link->in;
    struct wire_message message;
    char why[WIRE_ERROR_SIZE];
    int error;

    in->for_loop = links->driven;
    if (in->for_loop)
        return 0;
    if (in->text.size < WIRE_HEADER)
        return not_understood(link);
    error = wire_decode(in->text.data + WIRE_HEADER, in->text.size - WIRE_HEADER, &message, why,
                        sizeof why);
    in->text.size = 0;
    if (error == -ENOMEM)
        return fail(link, error, "no memory for its message");
    if (error)
        return not_understood(link);
    if (message.kind != WIRE_ALIVE)
        links->calls.message(links->context, link->host, &message);
    wire_message_free(&message);
    return links->closed || link->broken ? -ECANCELED : 0;
}

static int block_is_there(struct link *link)
{
    struct link_in *in = &link->in;
    int error = mirror_accept(link->links->mirror, link->host, &in->block);

    mirror_block_free(&in->block);
    in->filling = false;
    if (error == -EPROTO)
        return fail(link, error, "it sent a superstep that makes no sense");
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
    error = mirror_expect(mirror, link->host, in->head.data, in->head.size, &in->block);
    if (error == -EPROTO)
        return fail(link, error, "it sent a superstep that makes no sense");
    if (error)
        return fail(link, error, "no memory for what it sends");
    in->head = (struct bspz_buffer){0};
    in->filling = true;
    in->data_left = in->block.data_bytes;
    in->piece = in->piece_done = 0;
    return in->data_left == 0 ? block_is_there(link) : 0;
}

static int take_head(struct link *link, const void *bytes, uint32_t size)
{
    struct link_in *in = &link->in;
    struct mirror_head head;

    if (in->filling || in->stalled)
        return not_understood(link);
    if (!bspz_buffer_add(&in->head, bytes, size))
        return fail(link, -ENOMEM, "no memory for what it sends");
    if (in->head.size < sizeof head)
        return 0;
    memcpy(&head, in->head.data, sizeof head);
    if (head.magic != MIRROR_MAGIC || head.head_bytes < sizeof head ||
        head.head_bytes > MIRROR_HEAD_MAX || in->head.size > head.head_bytes)
        return not_understood(link);
    return in->head.size == head.head_bytes ? head_is_there(link) : 0;
}

/* Moves on in the places to be filled. */
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

    if (!in->filling || size > in->data_left)
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

/* Some bytes of the present frame. */
static int take(struct link *link, const unsigned char *bytes, uint32_t size)
{
    struct link_in *in = &link->in;

    switch (in->frame.kind) {
    case LINK_MESSAGE:
        if (!bspz_buffer_add(&in->text, bytes, size))
            return fail(link, -ENOMEM, "no memory for its message");
        return in->left == size ? deliver(link) : 0;
    case LINK_HEAD:
        return take_head(link, bytes, size);
    default:
        return take_data(link, bytes, size);
    }
}

static bool check_frame(const struct link_in *in)
{
    uint32_t most = in->frame.kind == LINK_MESSAGE ? LINK_MESSAGE_MAX : LINK_FRAME_MAX;

    return in->frame.kind >= LINK_MESSAGE && in->frame.kind <= LINK_DATA && in->frame.bytes > 0 &&
           in->frame.bytes <= most && (in->frame.kind != LINK_DATA || in->filling) &&
           (in->frame.kind != LINK_DATA || in->frame.bytes <= in->data_left);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static size_t staged(const struct link_in *in)
{
    return in->end - in->start;
}

static const unsigned char *from_staging(struct link_in *in, size_t size)
{
    in->start += size;
    return in->staging + in->start - size;
}

static int hand_on(struct link *link)
{
    struct link_in *in = &link->in;

    while (!link_in_waits(in)) {
        uint32_t size;
        int error;

        if (!in->in_frame) {
            if (staged(in) < sizeof in->frame)
                return 0;
            memcpy(&in->frame, from_staging(in, sizeof in->frame), sizeof in->frame);
            if (!check_frame(in))
                return not_understood(link);
            in->in_frame = true;
            in->left = in->frame.bytes;
        }
        size = staged(in) < in->left ? (uint32_t)staged(in) : in->left;
        if (size == 0)
            return 0;
        error = take(link, from_staging(in, size), size);
        if (error)
            return error;
        in->left -= size;
        in->in_frame = in->left > 0;
    }
    return 0;
}

/* The same of sealed frames, which are opened whole. */
static int hand_on_sealed(struct link *link)
{
    struct link_in *in = &link->in;
    bool last;

    if (!in->begun) {
        if (staged(in) < CIPHER_HEADER)
            return 0;
        cipher_unseal_begin(&in->cipher, in->key, from_staging(in, CIPHER_HEADER));
        in->begun = true;
    }
    while (!link_in_waits(in) && staged(in) >= sizeof in->frame) {
        const unsigned char *sealed = in->staging + in->start + sizeof in->frame;
        size_t size;
        int error;

        memcpy(&in->frame, in->staging + in->start, sizeof in->frame);
        if (!check_frame(in))
            return not_understood(link);
        size = in->frame.bytes + CIPHER_EXTRA;
        if (staged(in) < sizeof in->frame + size)
            return 0;
        if (cipher_unseal(&in->cipher, sealed, size, &in->frame, sizeof in->frame, in->plain,
                          &last) != 0)
            return not_understood(link);
        from_staging(in, sizeof in->frame + size);
        in->left = in->frame.bytes;
        error = take(link, in->plain, in->frame.bytes);
        if (error)
            return error;
    }
    return 0;
}

static int hand_on_any(struct link *link)
{
    return link->in.plain ? hand_on_sealed(link) : hand_on(link);
}

/* Places of the data of this frame, if nothing that was read ahead comes before them. */
static unsigned add_places(const struct link_in *in, struct iovec *pieces, uint64_t *room)
{
    uint64_t left = in->left, done = in->piece_done;
    unsigned count = 0;

    *room = 0;
    if (in->plain || !in->in_frame || in->frame.kind != LINK_DATA || staged(in) > 0)
        return 0;
    for (uint64_t i = in->piece; count < PLACES && left > 0 && i < in->block.count; i++) {
        uint64_t size = in->block.data[i].iov_len - done;

        if (size > left)
            size = left;
        pieces[count++] = (struct iovec){(char *)in->block.data[i].iov_base + done, size};
        *room += size;
        left -= size;
        done = 0;
    }
    return count;
}

/* One read: > 0, or 0: there is nothing now, or -errno.  *all: nothing is left. */
static ssize_t read_once(struct link *link, bool *all)
{
    struct link_in *in = &link->in;
    struct iovec pieces[PLACES + 1];
    uint64_t places;
    unsigned count = add_places(in, pieces, &places);
    const uint64_t room = places;
    size_t ahead;
    ssize_t got;

    if (in->start > 0) {
        memmove(in->staging, in->staging + in->start, staged(in));
        in->end -= in->start;
        in->start = 0;
    }
    /* Of data that go on behind this frame only the next frame's header. */
    ahead = count > 0 && in->data_left > in->left ? sizeof in->frame : in->room - in->end;
    pieces[count++] = (struct iovec){in->staging + in->end, ahead};
    do {
        got = readv(link->fd, pieces, (int)count);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN ? 0 : fail(link, -errno, strerror(errno));
    if (got == 0)
        return fail(link, -EPIPE, "it closed the connection");
    atomic_store_explicit(&link->heard, true, memory_order_relaxed);
    if ((uint64_t)got <= places)
        places = (uint64_t)got;
    if (places > 0) {
        filled(in, places);
        in->left -= (uint32_t)places;
        in->in_frame = in->left > 0;
    }
    in->end += (size_t)got - places;
    *all = (size_t)got < room + ahead;
    return got;
}

int link_in_read(struct link *link, uint64_t *total)
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
            error = hand_on_any(link);
        if (error)
            return error;
    }
    return 0;
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
    return error ? error : hand_on_any(link);
}
