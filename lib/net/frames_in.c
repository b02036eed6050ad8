/* frames_in.c - converts bytes of a stream to messages and blocks; see frames.h. */
#include "lib/net/frames.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "lib/base/error_text.h"

#define ROOM       65536u /* offered to a read */
#define ROOM_LEAST 16384u

void net_frames_in_seal(struct net_frames_in *in, const unsigned char *key)
{
    in->sealed = true;
    memcpy(in->key, key, sizeof(in->key));
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
    if (bytes->room - bytes->size < ROOM_LEAST && !bspz_buffer_reserve(bytes, ROOM))
        return NULL;
    *room = bytes->room - bytes->size;
    return bytes->data + bytes->size;
}

void net_frames_in_filled(struct net_frames_in *in, size_t size)
{
    in->bytes.size += size;
}

struct frame {
    size_t at; /* of its body */
    bool block;
    uint32_t length, longest;
};

/* The next frame; false: its number is not there yet. */
static bool find_frame(const struct net_frames_in *in, struct frame *frame)
{
    uint32_t extra = in->sealed ? CIPHER_EXTRA : 0, number;

    frame->at = in->begin + (in->sealed && !in->begun ? CIPHER_HEADER : 0) + WIRE_HEADER;
    if (in->bytes.size < frame->at)
        return false;
    number = wire_frame_length(in->bytes.data + frame->at - WIRE_HEADER);
    frame->block = in->blocks && number & NET_FRAME_BLOCK;
    frame->length = frame->block ? number & ~NET_FRAME_BLOCK : number;
    frame->longest = (frame->block ? NET_BLOCK_MAX : (uint32_t)in->frame_max) + extra;
    return true;
}

static bool is_there(const struct net_frames_in *in, const struct frame *frame)
{
    return in->bytes.size - frame->at >= frame->length;
}

bool net_frames_in_ready(const struct net_frames_in *in)
{
    struct frame frame;

    /* One that is too long is refused without its bytes. */
    return find_frame(in, &frame) && (frame.length > frame.longest || is_there(in, &frame));
}

/* Some of a plain block's frame, whose number was taken. */
static int take_part(struct net_frames_in *in, const unsigned char **body, uint32_t *size)
{
    size_t there = in->bytes.size - in->begin;

    *body = in->bytes.data + in->begin;
    *size = there < in->left ? (uint32_t)there : in->left;
    in->begin += *size;
    in->left -= *size;
    return *size > 0 ? NET_FRAME_OF_BLOCK : 0;
}

/* Unseals the body; -EPROTO, -ENOMEM, or 0. */
static int unseal(struct net_frames_in *in, const struct frame *frame, char *text, size_t text_size)
{
    const unsigned char *body = in->bytes.data + frame->at;
    size_t label = frame->block ? WIRE_HEADER : 0;

    if (!in->begun)
        cipher_unseal_begin(&in->cipher, in->key, in->bytes.data + in->begin);
    in->begun = true;
    in->unsealed.size = 0;
    if (!bspz_buffer_reserve(&in->unsealed, frame->length))
        return bspz_error_text(text, text_size, -ENOMEM, "out of memory");
    if (in->last || cipher_unseal(&in->cipher, body, frame->length, body - WIRE_HEADER, label,
                                  in->unsealed.data, &in->last) < 0)
        return bspz_error_text(
            text, text_size, -EPROTO,
            "a message that was not encrypted by the peer, or not in this place");
    return 0;
}

int net_frames_in_next(struct net_frames_in *in, const unsigned char **body, uint32_t *size,
                       char *text, size_t text_size)
{
    struct frame frame;
    int result;

    if (in->left > 0)
        return take_part(in, body, size);
    if (!find_frame(in, &frame))
        return 0;
    if (frame.length > frame.longest || (frame.block && frame.length == 0))
        return bspz_error_text(text, text_size, -EPROTO, "a frame of %u bytes, %u are allowed",
                               frame.length, frame.longest);
    if (frame.block && !in->sealed) {
        in->begin = frame.at;
        in->left = frame.length;
        return take_part(in, body, size);
    }
    if (!is_there(in, &frame))
        return 0;
    *body = in->bytes.data + frame.at;
    *size = frame.length;
    if (in->sealed) {
        result = unseal(in, &frame, text, text_size);
        if (result < 0)
            return result;
        *body = in->unsealed.data;
        *size -= CIPHER_EXTRA;
    }
    in->begin = frame.at + frame.length;
    /* The mark of the end is not a message; anything after it is refused. */
    if (in->last)
        return net_frames_in_next(in, body, size, text, text_size);
    return frame.block ? NET_FRAME_OF_BLOCK : NET_FRAME_MESSAGE;
}

uint32_t net_frames_in_direct(const struct net_frames_in *in)
{
    return in->begin == in->bytes.size ? in->left : 0;
}

void net_frames_in_passed(struct net_frames_in *in, uint32_t size)
{
    in->left -= size;
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
    if (in->begin != in->bytes.size || in->left > 0)
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
    sodium_memzero(in->key, sizeof(in->key));
    in->begin = 0;
}
