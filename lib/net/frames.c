/* frames.c - frames in and out of buffers, plain or sealed. */
#include "lib/net/frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/error_text.h"

/* Room that is offered to a read at least. */
#define READ_MIN 16384u

/* ---- In ----------------------------------------------------------------------------------- */

void net_frames_in_seal(struct net_frames_in *in, const unsigned char *key)
{
    in->sealed = true;
    in->key = key;
}

unsigned char *net_frames_in_room(struct net_frames_in *in, size_t *room)
{
    struct bspz_buffer *bytes = &in->bytes;

    if (in->begin > 0) {
        memmove(bytes->data, bytes->data + in->begin, bytes->size - in->begin);
        bytes->size -= in->begin;
        in->begin = 0;
    }
    /* Grown by what has arrived, never by what a length promises. */
    if (!bspz_buffer_reserve(bytes, READ_MIN))
        return NULL;
    *room = bytes->room - bytes->size;
    return bytes->data + bytes->size;
}

void net_frames_in_filled(struct net_frames_in *in, size_t size)
{
    in->bytes.size += size;
}

/* The longest body that may stand behind a length. */
static size_t body_max(const struct net_frames_in *in)
{
    return in->frame_max + (in->sealed ? CIPHER_EXTRA : 0);
}

/* Where the first frame begins: behind the stream's header if that is still there. */
static size_t first_frame(const struct net_frames_in *in)
{
    return in->begin + (in->sealed && !in->begun ? CIPHER_HEADER : 0);
}

/* The length of the first frame's body when all of it is there, else -1. */
static int64_t complete_frame(const struct net_frames_in *in)
{
    size_t at = first_frame(in);
    if (in->bytes.size < at || in->bytes.size - at < WIRE_HEADER)
        return -1;
    uint32_t length = wire_frame_length(in->bytes.data + at);
    /* One that is too long counts as complete: it is refused without its bytes. */
    if (length <= body_max(in) && in->bytes.size - at - WIRE_HEADER < length)
        return -1;
    return length;
}

bool net_frames_in_ready(const struct net_frames_in *in)
{
    return complete_frame(in) >= 0;
}

/* Unseals the body in place of *body; -EPROTO, -ENOMEM, or 1. */
static int unseal(struct net_frames_in *in, const unsigned char **body, uint32_t *size, char *text,
                  size_t text_size)
{
    if (!bspz_buffer_reserve(&in->unsealed, *size))
        return bspz_error_text(text, text_size, -ENOMEM, "out of memory");
    if (in->last ||
        cipher_unseal(&in->cipher, *body, *size, NULL, 0, in->unsealed.data, &in->last) < 0)
        return bspz_error_text(
            text, text_size, -EPROTO,
            "a message that was not encrypted by the peer, or not in this place");
    *body = in->unsealed.data;
    *size -= CIPHER_EXTRA;
    return 1;
}

int net_frames_in_next(struct net_frames_in *in, const unsigned char **body, uint32_t *size,
                       char *text, size_t text_size)
{
    int64_t length = complete_frame(in);
    if (length < 0)
        return 0;
    if ((size_t)length > body_max(in))
        return bspz_error_text(text, text_size, -EPROTO, "a frame of %lld bytes, %zu are allowed",
                               (long long)length, body_max(in));
    if (in->sealed && !in->begun) {
        cipher_unseal_begin(&in->cipher, in->key, in->bytes.data + in->begin);
        in->begun = true;
        in->begin += CIPHER_HEADER;
    }
    *body = in->bytes.data + in->begin + WIRE_HEADER;
    *size = (uint32_t)length;
    int result = in->sealed ? unseal(in, body, size, text, text_size) : 1;
    if (result < 0)
        return result;
    in->begin += WIRE_HEADER + (size_t)length;
    /* The mark of the end is no message; what comes behind it is refused. */
    return in->last ? net_frames_in_next(in, body, size, text, text_size) : 1;
}

void net_frames_in_relax(struct net_frames_in *in)
{
    if (in->begin != in->bytes.size)
        return;
    in->begin = 0;
    bspz_buffer_clear(&in->bytes, NET_BUFFER_KEEP);
    bspz_buffer_clear(&in->unsealed, NET_BUFFER_KEEP);
}

const char *net_frames_in_end(const struct net_frames_in *in)
{
    if (in->begin != in->bytes.size)
        return "the peer closed in the middle of a message";
    if (in->sealed && !in->last)
        return "the peer is gone, or the connection was cut";
    return NULL;
}

void net_frames_in_free(struct net_frames_in *in)
{
    bspz_buffer_free(&in->bytes);
    bspz_buffer_free(&in->unsealed);
    cipher_wipe(&in->cipher);
    in->begin = 0;
}

/* ---- Out ---------------------------------------------------------------------------------- */

int net_frames_out_seal(struct net_frames_out *out, const unsigned char *key)
{
    if (!bspz_buffer_reserve(&out->bytes, CIPHER_HEADER))
        return -ENOMEM;
    cipher_seal_begin(&out->cipher, key, out->bytes.data + out->bytes.size);
    out->bytes.size += CIPHER_HEADER;
    out->sealed = true;
    return 0;
}

/* Adds a body of that size as a sealed frame. */
static int add_sealed(struct net_frames_out *out, const unsigned char *body, size_t size, bool last)
{
    size_t length = size + CIPHER_EXTRA;
    if (!bspz_buffer_reserve(&out->bytes, WIRE_HEADER + length))
        return -ENOMEM;
    unsigned char *frame = out->bytes.data + out->bytes.size;
    for (unsigned i = 0; i < WIRE_HEADER; i++)
        frame[i] = (unsigned char)(length >> (8 * i));
    cipher_seal(&out->cipher, body, size, NULL, 0, last, frame + WIRE_HEADER);
    out->bytes.size += WIRE_HEADER + length;
    return 0;
}

int net_frames_out_add(struct net_frames_out *out, const struct wire_message *message, size_t room)
{
    struct bspz_buffer *buffer = out->sealed ? &out->plain : &out->bytes;
    size_t before = buffer->size;
    int result = wire_encode(message, buffer, NULL, 0);
    if (result < 0)
        return result;
    size_t size = buffer->size - before;
    if (size + (out->sealed ? CIPHER_EXTRA : 0) > room)
        result = -ENOBUFS;
    else if (out->sealed)
        result = add_sealed(out, buffer->data + WIRE_HEADER, size - WIRE_HEADER, false);
    if (out->sealed)
        bspz_buffer_clear(&out->plain, NET_BUFFER_KEEP);
    else if (result < 0)
        buffer->size = before;
    return result;
}

int net_frames_out_last(struct net_frames_out *out)
{
    return out->sealed ? add_sealed(out, NULL, 0, true) : 0;
}

void net_frames_out_free(struct net_frames_out *out)
{
    bspz_buffer_free(&out->bytes);
    bspz_buffer_free(&out->plain);
    cipher_wipe(&out->cipher);
}
