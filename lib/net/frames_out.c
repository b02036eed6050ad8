/* frames_out.c - converts messages and blocks to a stream, batch by batch; see frames.h.
 *
 * Plain, both are written from where they lie.  Sealed, each frame goes into a buffer, from which
 * the batch is written.
 */
#include "lib/net/frames.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#define BATCH_BYTES  NET_BLOCK_MAX /* a batch that has so many gets no further frame */
#define BATCH_KEEP   (4u << 20)    /* of a sealed one; a usual one has room in it */
#define BYTES_A_TIME (8u << 20)    /* then other connections get their turn */

/* A block that waits, and how much of it is in a batch or gone. */
struct net_load {
    struct net_load *next;
    unsigned char *head;
    uint64_t head_bytes, head_gone;
    struct iovec *data;
    uint64_t count, piece, piece_gone; /* the piece that is next, and how much of that */
};

static void free_loads(struct net_load *load)
{
    while (load) {
        struct net_load *next = load->next;

        free(load->head);
        free(load->data);
        free(load);
        load = next;
    }
}

void net_frames_out_free(struct net_frames_out *out)
{
    uint64_t accepted = out->accepted;

    bspz_buffer_free(&out->waiting);
    bspz_buffer_free(&out->taking);
    bspz_buffer_free(&out->batch);
    bspz_buffer_free(&out->plain);
    free_loads(out->loads);
    free_loads(out->loads_gone);
    cipher_wipe(&out->cipher);
    *out = (struct net_frames_out){.accepted = accepted, .written = accepted};
}

/* ---- What waits ---------------------------------------------------------------------------- */

int net_frames_out_seal(struct net_frames_out *out, const unsigned char *key)
{
    if (!bspz_buffer_reserve(&out->batch, CIPHER_HEADER))
        return -ENOMEM;
    cipher_seal_begin(&out->cipher, key, out->batch.data);
    out->batch.size = CIPHER_HEADER;
    out->accepted += CIPHER_HEADER;
    out->sealed = true;
    return 0;
}

static uint32_t extra(const struct net_frames_out *out)
{
    return out->sealed ? CIPHER_EXTRA : 0;
}

size_t net_frames_out_waiting(const struct net_frames_out *out)
{
    return out->taking.size - out->taken + out->waiting.size;
}

bool net_frames_out_loaded(const struct net_frames_out *out)
{
    return out->loads || (out->loads_gone && out->piece_next < out->piece_count);
}

int net_frames_out_add(struct net_frames_out *out, const struct wire_message *message,
                       size_t queue_max)
{
    bool any = net_frames_out_waiting(out) > 0 || out->piece_next < out->piece_count;
    size_t before = out->waiting.size, size;
    int result = wire_encode(message, &out->waiting, NULL, 0);

    if (result < 0)
        return result;
    size = out->waiting.size - before + extra(out);
    if (any && out->accepted - out->written + size > queue_max) {
        out->waiting.size = before;
        return -ENOBUFS;
    }
    out->accepted += size;
    return 0;
}

int net_frames_out_block(struct net_frames_out *out, unsigned char *head, uint64_t head_bytes,
                         struct iovec *data, uint64_t count)
{
    struct net_load *load = malloc(sizeof(*load));

    if (!load)
        return -ENOMEM;
    *load = (struct net_load){.head = head, .head_bytes = head_bytes, .data = data, .count = count};
    *(out->loads ? out->tail : &out->loads) = load;
    out->tail = &load->next;
    return 0;
}

void net_frames_out_last(struct net_frames_out *out)
{
    out->last = out->sealed;
    out->accepted += out->sealed ? WIRE_HEADER + CIPHER_EXTRA : 0;
}

/* ---- Putting a batch together -------------------------------------------------------------- */

static void add_piece(struct net_frames_out *out, void *bytes, size_t size)
{
    struct iovec *before = out->piece_count > 0 ? &out->pieces[out->piece_count - 1] : NULL;

    if (before && (unsigned char *)before->iov_base + before->iov_len == bytes)
        before->iov_len += size;
    else if (size > 0)
        out->pieces[out->piece_count++] = (struct iovec){bytes, size};
}

/* Adds a sealed frame to the batch. */
static int seal(struct net_frames_out *out, const void *body, size_t size, uint32_t kind, bool last)
{
    uint32_t number = htole32((uint32_t)(size + CIPHER_EXTRA) | kind);
    struct bspz_buffer *batch = &out->batch;

    if (!bspz_buffer_reserve(batch, sizeof(number) + size + CIPHER_EXTRA))
        return -ENOMEM;
    bspz_buffer_add(batch, &number, sizeof(number));
    cipher_seal(&out->cipher, body, size, &number, kind ? sizeof(number) : 0, last,
                batch->data + batch->size);
    batch->size += size + CIPHER_EXTRA;
    return 0;
}

/* A block's frame, whose pieces are the only ones. */
static int seal_pieces(struct net_frames_out *out)
{
    const struct iovec *pieces = out->pieces;
    unsigned count = out->piece_count;

    out->piece_count = 0;
    if (count == 1)
        return seal(out, pieces[0].iov_base, pieces[0].iov_len, NET_FRAME_BLOCK, false);
    out->plain.size = 0;
    for (unsigned i = 0; i < count; i++)
        if (!bspz_buffer_add(&out->plain, pieces[i].iov_base, pieces[i].iov_len))
            return -ENOMEM;
    return seal(out, out->plain.data, out->plain.size, NET_FRAME_BLOCK, false);
}

static int put_message(struct net_frames_out *out, uint64_t *bytes)
{
    unsigned char *frame = out->taking.data + out->taken;
    uint32_t length = wire_frame_length(frame);

    out->taken += WIRE_HEADER + length;
    *bytes += length;
    if (out->sealed)
        return seal(out, frame + WIRE_HEADER, length, 0, false);
    add_piece(out, frame, WIRE_HEADER + length);
    return 0;
}

static uint32_t put_head(struct net_frames_out *out, struct net_load *load)
{
    uint64_t left = load->head_bytes - load->head_gone;
    uint32_t size = (uint32_t)(left < NET_BLOCK_MAX ? left : NET_BLOCK_MAX);

    add_piece(out, load->head + load->head_gone, size);
    load->head_gone += size;
    return size;
}

static uint32_t put_data(struct net_frames_out *out, struct net_load *load)
{
    uint32_t size = 0;

    while (load->piece < load->count && size < NET_BLOCK_MAX &&
           out->piece_count < NET_BATCH_PIECES) {
        const struct iovec *from = &load->data[load->piece];
        uint64_t some = from->iov_len - load->piece_gone;

        if (some > NET_BLOCK_MAX - size)
            some = NET_BLOCK_MAX - size;
        add_piece(out, (unsigned char *)from->iov_base + load->piece_gone, some);
        size += (uint32_t)some;
        load->piece_gone += some;
        if (load->piece_gone == from->iov_len) {
            load->piece++;
            load->piece_gone = 0;
        }
    }
    return size;
}

static int put_block(struct net_frames_out *out, uint64_t *bytes)
{
    struct net_load *load = out->loads;
    uint32_t *number = &out->numbers[out->number_count++], size;

    if (!out->sealed)
        add_piece(out, number, sizeof(*number));
    size = load->head_gone < load->head_bytes ? put_head(out, load) : put_data(out, load);
    *number = htole32(NET_FRAME_BLOCK | size);
    *bytes += size;
    out->accepted += sizeof(*number) + size + extra(out);
    if (load->head_gone == load->head_bytes && load->piece == load->count) {
        out->loads = load->next;
        load->next = out->loads_gone;
        out->loads_gone = load;
    }
    return out->sealed ? seal_pieces(out) : 0;
}

/* One frame more.  Messages go first, but two of them do not keep a block waiting. */
static int put_frame(struct net_frames_out *out, uint64_t *bytes)
{
    bool any = out->taken < out->taking.size;

    out->message_last = any && (!out->loads || !out->message_last);
    return out->message_last ? put_message(out, bytes) : put_block(out, bytes);
}

/* The batch before is written. */
static int next_batch(struct net_frames_out *out)
{
    uint64_t bytes = 0;
    int error = 0;

    free_loads(out->loads_gone);
    out->loads_gone = NULL;
    if (out->piece_count > 0) /* else it holds the header of the stream at most */
        bspz_buffer_clear(&out->batch, BATCH_KEEP);
    if (out->taken == out->taking.size) {
        struct bspz_buffer empty = out->taking;

        bspz_buffer_clear(&empty, NET_BUFFER_KEEP);
        out->taking = out->waiting;
        out->waiting = empty;
        out->taken = 0;
    }
    out->number_count = out->piece_count = out->piece_next = 0;
    while (!error && (out->taken < out->taking.size || out->loads) && bytes < BATCH_BYTES &&
           out->number_count < NET_BATCH_FRAMES && out->piece_count + 2 <= NET_BATCH_PIECES)
        error = put_frame(out, &bytes);
    if (!error && out->last && net_frames_out_waiting(out) == 0 && !out->loads) {
        out->last = false;
        error = seal(out, NULL, 0, 0, true);
    }
    if (out->sealed)
        add_piece(out, out->batch.data, out->batch.size);
    return error;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static void advance(struct net_frames_out *out, size_t written)
{
    out->written += written;
    while (written > 0) {
        struct iovec *piece = &out->pieces[out->piece_next];

        if (written < piece->iov_len) {
            piece->iov_base = (char *)piece->iov_base + written;
            piece->iov_len -= written;
            return;
        }
        written -= piece->iov_len;
        out->piece_next++;
    }
}

int net_frames_out_write(struct net_frames_out *out, int fd)
{
    const uint64_t end = out->written + BYTES_A_TIME;

    while (out->written < end) {
        ssize_t written;

        if (out->piece_next == out->piece_count) {
            int error = next_batch(out);

            if (error || out->piece_count == 0)
                return error;
        }
        written =
            writev(fd, out->pieces + out->piece_next, (int)(out->piece_count - out->piece_next));
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno == EAGAIN ? 1 : -errno;
        advance(out, (size_t)written);
    }
    return 1;
}
