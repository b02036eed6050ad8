/* frames.c - frames in and out of buffers, plain or sealed. */
#include "lib/net/frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room that is offered to a read at least. */
#define READ_MIN    16384u
/* A buffer larger than this is given back once it is empty. */
#define BUFFER_KEEP 1048576u

/* ---- In ----------------------------------------------------------------------------------- */

void net_frames_in_seal(struct net_frames_in *in, const unsigned char *key)
{
    in->sealed = true;
    in->key = key;
}

unsigned char *net_frames_in_room(struct net_frames_in *in, size_t *room)
{
    if (in->begin > 0) {
        memmove(in->bytes, in->bytes + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
    }
    if (in->size - in->end < READ_MIN) {
        /* Grown by what has arrived, never by what a length promises. */
        size_t size = in->size ? in->size * 2 : 2 * READ_MIN;
        unsigned char *bytes = realloc(in->bytes, size);
        if (!bytes)
            return NULL;
        in->bytes = bytes;
        in->size = size;
    }
    *room = in->size - in->end;
    return in->bytes + in->end;
}

void net_frames_in_filled(struct net_frames_in *in, size_t size)
{
    in->end += size;
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
    if (in->end < at || in->end - at < WIRE_HEADER)
        return -1;
    uint32_t length = wire_frame_length(in->bytes + at);
    /* One that is too long counts as complete: it is refused without its bytes. */
    if (length <= body_max(in) && in->end - at - WIRE_HEADER < length)
        return -1;
    return length;
}

bool net_frames_in_ready(const struct net_frames_in *in)
{
    return complete_frame(in) >= 0;
}

/* Makes room for an unsealed body of that size. */
static bool have_unsealed(struct net_frames_in *in, size_t size)
{
    if (size <= in->unsealed_size)
        return true;
    free(in->unsealed);
    in->unsealed = malloc(size);
    in->unsealed_size = in->unsealed ? size : 0;
    return in->unsealed != NULL;
}

/* Unseals the body in place of *body; -EPROTO, -ENOMEM, or 1. */
static int unseal(struct net_frames_in *in, const unsigned char **body, uint32_t *size, char *text,
                  size_t text_size)
{
    if (!have_unsealed(in, *size)) {
        snprintf(text, text_size, "out of memory");
        return -ENOMEM;
    }
    if (in->last ||
        cipher_unseal(&in->cipher, *body, *size, NULL, 0, in->unsealed, &in->last) < 0) {
        snprintf(text, text_size,
                 "a message that was not encrypted by the peer, or not in this place");
        return -EPROTO;
    }
    *body = in->unsealed;
    *size -= CIPHER_EXTRA;
    return 1;
}

int net_frames_in_next(struct net_frames_in *in, const unsigned char **body, uint32_t *size,
                       char *text, size_t text_size)
{
    int64_t length = complete_frame(in);
    if (length < 0)
        return 0;
    if ((size_t)length > body_max(in)) {
        snprintf(text, text_size, "a frame of %lld bytes, %zu are allowed", (long long)length,
                 body_max(in));
        return -EPROTO;
    }
    if (in->sealed && !in->begun) {
        cipher_unseal_begin(&in->cipher, in->key, in->bytes + in->begin);
        in->begun = true;
        in->begin += CIPHER_HEADER;
    }
    *body = in->bytes + in->begin + WIRE_HEADER;
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
    if (in->begin != in->end)
        return;
    in->begin = in->end = 0;
    if (in->size > BUFFER_KEEP) {
        free(in->bytes);
        in->bytes = NULL;
        in->size = 0;
    }
    if (in->unsealed_size > BUFFER_KEEP) {
        free(in->unsealed);
        in->unsealed = NULL;
        in->unsealed_size = 0;
    }
}

const char *net_frames_in_end(const struct net_frames_in *in)
{
    if (in->begin != in->end)
        return "the peer closed in the middle of a message";
    if (in->sealed && !in->last)
        return "the peer is gone, or the connection was cut";
    return NULL;
}

void net_frames_in_free(struct net_frames_in *in)
{
    free(in->bytes);
    free(in->unsealed);
    cipher_wipe(&in->cipher);
    in->bytes = in->unsealed = NULL;
    in->begin = in->end = in->size = in->unsealed_size = 0;
}

/* ---- Out ---------------------------------------------------------------------------------- */

/* Room for that many more bytes at the end of the buffer; NULL: out of memory. */
static unsigned char *extend(struct wire_buffer *buffer, size_t size)
{
    if (buffer->capacity - buffer->size < size) {
        size_t capacity = 2 * buffer->capacity;
        if (capacity < buffer->size + size)
            capacity = buffer->size + size;
        unsigned char *data = realloc(buffer->data, capacity);
        if (!data)
            return NULL;
        buffer->data = data;
        buffer->capacity = capacity;
    }
    return buffer->data + buffer->size;
}

int net_frames_out_seal(struct net_frames_out *out, const unsigned char *key)
{
    unsigned char *header = extend(&out->bytes, CIPHER_HEADER);
    if (!header)
        return -ENOMEM;
    cipher_seal_begin(&out->cipher, key, header);
    out->bytes.size += CIPHER_HEADER;
    out->sealed = true;
    return 0;
}

/* Adds a body of that size as a sealed frame. */
static int add_sealed(struct net_frames_out *out, const unsigned char *body, size_t size, bool last)
{
    size_t length = size + CIPHER_EXTRA;
    unsigned char *frame = extend(&out->bytes, WIRE_HEADER + length);
    if (!frame)
        return -ENOMEM;
    for (unsigned i = 0; i < WIRE_HEADER; i++)
        frame[i] = (unsigned char)(length >> (8 * i));
    cipher_seal(&out->cipher, body, size, NULL, 0, last, frame + WIRE_HEADER);
    out->bytes.size += WIRE_HEADER + length;
    return 0;
}

int net_frames_out_add(struct net_frames_out *out, const struct wire_message *message, size_t room)
{
    struct wire_buffer *buffer = out->sealed ? &out->plain : &out->bytes;
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
        net_frames_empty(&out->plain);
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
    wire_buffer_free(&out->bytes);
    wire_buffer_free(&out->plain);
    cipher_wipe(&out->cipher);
}

void net_frames_empty(struct wire_buffer *buffer)
{
    buffer->size = 0;
    if (buffer->capacity > BUFFER_KEEP)
        wire_buffer_free(buffer);
}
