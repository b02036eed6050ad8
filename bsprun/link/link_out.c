/* link_out.c - frames are put together in batches and written; see link_inside.h.
 *
 * Heads, messages and data are written from where they lie.  With encryption each frame is sealed
 * into a buffer, from which the batch is written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/link/link_inside.h"

#define SEALED_ROOM  (2u * LINK_FRAME_MAX + LINK_MESSAGE_MAX)
#define BATCH_BYTES  LINK_FRAME_MAX /* a batch that has so many gets no further frame */
#define BYTES_A_TIME (8u << 20)     /* then others have their turn */

void link_out_begin(struct link_out *out)
{
    out->texts_end = &out->texts;
    out->loads_end = &out->loads;
}

static void free_text(struct link_text *text)
{
    free(text->bytes);
    free(text);
}

static void free_load(struct link_load *load)
{
    mirror_block_free(&load->block);
    free(load);
}

static void free_texts(struct link_text *text)
{
    while (text) {
        struct link_text *next = text->next;

        free_text(text);
        text = next;
    }
}

static void free_loads(struct link_load *load)
{
    while (load) {
        struct link_load *next = load->next;

        free_load(load);
        load = next;
    }
}

void link_out_free(struct link_out *out)
{
    free_texts(out->texts);
    free_texts(out->texts_gone);
    free_loads(out->loads);
    free_loads(out->loads_gone);
    free(out->sealed);
    cipher_wipe(&out->cipher);
    *out = (struct link_out){0};
    link_out_begin(out);
}

int link_out_text(struct link_out *out, unsigned char *bytes, uint32_t size)
{
    struct link_text *text = malloc(sizeof *text);

    if (!text)
        return -ENOMEM;
    *text = (struct link_text){NULL, size, bytes};
    *out->texts_end = text;
    out->texts_end = &text->next;
    out->waiting += size;
    return 0;
}

int link_out_load(struct link_out *out, const struct mirror_block *block)
{
    struct link_load *load = malloc(sizeof *load);

    if (!load)
        return -ENOMEM;
    *load = (struct link_load){.block = *block};
    *out->loads_end = load;
    out->loads_end = &load->next;
    return 0;
}

/* ---- Putting a batch together -------------------------------------------------------------- */

static void add_piece(struct link_out *out, void *bytes, uint64_t size)
{
    if (size > 0)
        out->pieces[out->piece_count++] = (struct iovec){bytes, size};
}

static struct link_frame *add_frame(struct link_out *out, enum link_kind kind)
{
    struct link_frame *frame = &out->frames[out->frame_count++];

    *frame = (struct link_frame){(uint32_t)kind, 0};
    add_piece(out, frame, sizeof *frame);
    return frame;
}

static uint32_t put_text(struct link_out *out)
{
    struct link_text *text = out->texts;
    struct link_frame *frame = add_frame(out, LINK_MESSAGE);

    frame->bytes = text->size;
    add_piece(out, text->bytes, text->size);
    out->waiting -= text->size;
    out->texts = text->next;
    if (!out->texts)
        out->texts_end = &out->texts;
    text->next = out->texts_gone;
    out->texts_gone = text;
    return frame->bytes;
}

static void load_is_gone(struct link_out *out)
{
    struct link_load *load = out->loads;

    out->loads = load->next;
    if (!out->loads)
        out->loads_end = &out->loads;
    load->next = out->loads_gone;
    out->loads_gone = load;
}

static uint32_t put_head(struct link_out *out, struct link_load *load)
{
    struct link_frame *frame = add_frame(out, LINK_HEAD);
    uint64_t left = load->block.head_bytes - load->head_gone;

    frame->bytes = (uint32_t)(left < LINK_FRAME_MAX ? left : LINK_FRAME_MAX);
    add_piece(out, load->block.head + load->head_gone, frame->bytes);
    load->head_gone += frame->bytes;
    return frame->bytes;
}

static uint32_t put_data(struct link_out *out, struct link_load *load)
{
    struct link_frame *frame = add_frame(out, LINK_DATA);

    while (load->data_gone < load->block.data_bytes && frame->bytes < LINK_FRAME_MAX &&
           out->piece_count < LINK_BATCH_PIECES) {
        const struct iovec *from = &load->block.data[load->piece];
        uint64_t bytes = from->iov_len - load->piece_gone;

        if (bytes > LINK_FRAME_MAX - frame->bytes)
            bytes = LINK_FRAME_MAX - frame->bytes;
        add_piece(out, (char *)from->iov_base + load->piece_gone, bytes);
        frame->bytes += (uint32_t)bytes;
        load->data_gone += bytes;
        load->piece_gone += bytes;
        if (load->piece_gone == from->iov_len) {
            load->piece++;
            load->piece_gone = 0;
        }
    }
    return frame->bytes;
}

static uint32_t put_load(struct link_out *out)
{
    struct link_load *load = out->loads;
    uint32_t bytes;

    if (load->head_gone < load->block.head_bytes)
        bytes = put_head(out, load);
    else
        bytes = put_data(out, load);
    if (load->head_gone == load->block.head_bytes && load->data_gone == load->block.data_bytes)
        load_is_gone(out);
    return bytes;
}

/* One frame more.  Messages go first, but two of them do not keep a superstep waiting. */
static uint32_t put_frame(struct link_out *out)
{
    out->text_last = out->texts && (!out->loads || !out->text_last);
    return out->text_last ? put_text(out) : put_load(out);
}

/* Seals the last frame, whose pieces begin at `first`: they become one. */
static void seal(struct link_out *out, unsigned first)
{
    struct link_frame *frame = &out->frames[out->frame_count - 1];
    unsigned char *plain = out->sealed + SEALED_ROOM;
    unsigned char *to = out->sealed + out->sealed_used;
    uint64_t size = 0;

    for (unsigned i = first + 1; i < out->piece_count; i++) {
        memcpy(plain + size, out->pieces[i].iov_base, out->pieces[i].iov_len);
        size += out->pieces[i].iov_len;
    }
    memcpy(to, frame, sizeof *frame);
    cipher_seal(&out->cipher, plain, size, frame, sizeof *frame, false, to + sizeof *frame);
    out->sealed_used += sizeof *frame + size + CIPHER_EXTRA;
    out->piece_count = first;
    add_piece(out, to, sizeof *frame + size + CIPHER_EXTRA);
}

static void fill_batch(struct link_out *out)
{
    uint64_t bytes = 0;

    out->frame_count = out->piece_count = out->piece_next = 0;
    out->sealed_used = 0;
    if (out->sealed && !out->begun) {
        add_piece(out, out->sealed + SEALED_ROOM + LINK_MESSAGE_MAX, CIPHER_HEADER);
        out->begun = true;
    }
    while ((out->texts || out->loads) && bytes < BATCH_BYTES &&
           out->frame_count < LINK_BATCH_FRAMES && out->piece_count + 2 <= LINK_BATCH_PIECES) {
        unsigned first = out->piece_count;

        bytes += put_frame(out);
        if (out->sealed)
            seal(out, first);
    }
}

int link_out_encrypt(struct link_out *out, const unsigned char *key)
{
    out->sealed = malloc(SEALED_ROOM + LINK_MESSAGE_MAX + CIPHER_HEADER);
    if (!out->sealed)
        return -ENOMEM;
    cipher_seal_begin(&out->cipher, key, out->sealed + SEALED_ROOM + LINK_MESSAGE_MAX);
    return 0;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static void batch_is_gone(struct link_out *out)
{
    free_texts(out->texts_gone);
    free_loads(out->loads_gone);
    out->texts_gone = NULL;
    out->loads_gone = NULL;
    out->piece_count = out->piece_next = 0;
}

static void advance(struct link_out *out, size_t written)
{
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

int link_out_write(struct link_out *out, int fd)
{
    uint64_t total = 0;

    while (total < BYTES_A_TIME) {
        ssize_t written;

        if (out->piece_next == out->piece_count) {
            batch_is_gone(out);
            if (!out->texts && !out->loads)
                return 0;
            fill_batch(out);
        }
        written =
            writev(fd, out->pieces + out->piece_next, (int)(out->piece_count - out->piece_next));
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno == EAGAIN ? 1 : -errno;
        total += (uint64_t)written;
        advance(out, (size_t)written);
    }
    return 1;
}
