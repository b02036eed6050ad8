/* frames.h - bytes of a stream to frames, messages to bytes; plain or sealed.  No I/O.
 *
 * A plain stream is one frame behind the other (wire.h).  A sealed one begins with CIPHER_HEADER
 * bytes; then each body is sealed, and its length, in plain ahead of it, is that of the sealed
 * body.  A sealed stream that ends in good order ends with a sealed empty body, marked as the
 * last. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/net/cipher.h"
#include "lib/wire/wire.h"

/* A buffer larger than this is given back once it is empty. */
#define NET_BUFFER_KEEP 1048576u

/* ---- In ----------------------------------------------------------------------------------- */

/* All zero but frame_max (of a body, as it is unsealed): a plain stream that begins. */
struct net_frames_in {
    size_t frame_max;
    struct bspz_buffer bytes; /* from begin on it is not yet handed out */
    size_t begin;
    bool sealed;
    bool begun; /* sealed: the header is there */
    bool last;  /* sealed: the last frame is there */
    const unsigned char *key;
    struct cipher cipher;
    struct bspz_buffer unsealed; /* room for the frame that is handed out */
};

/* From the beginning the stream is sealed with this key, which must stay. */
void net_frames_in_seal(struct net_frames_in *in, const unsigned char *key);

/* Room for bytes to be read into, at least a few thousand; NULL: out of memory. */
unsigned char *net_frames_in_room(struct net_frames_in *in, size_t *room);
void net_frames_in_filled(struct net_frames_in *in, size_t size);

/* Whether net_frames_in_next has something to say: a frame or an error. */
bool net_frames_in_ready(const struct net_frames_in *in);

/* The next frame's body, valid until the next call.  Returns 1; 0 when none is complete; -EPROTO
 * or -ENOMEM, and then text says why. */
int net_frames_in_next(struct net_frames_in *in, const unsigned char **body, uint32_t *size,
                       char *text, size_t text_size);

/* Gives large buffers back when they are empty. */
void net_frames_in_relax(struct net_frames_in *in);

/* The stream ends here: NULL, or why it must not. */
const char *net_frames_in_end(const struct net_frames_in *in);

void net_frames_in_free(struct net_frames_in *in);

/* ---- Out ---------------------------------------------------------------------------------- */

struct net_frames_out {
    struct bspz_buffer bytes; /* taken by whoever sends them */
    bool sealed;
    struct cipher cipher;
    struct bspz_buffer plain; /* a message before it is sealed */
};

/* Begins a sealed stream.  Returns 0 or -ENOMEM. */
int net_frames_out_seal(struct net_frames_out *out, const unsigned char *key);

/* Adds a message, at most `room` bytes of frame: -ENOBUFS if it needs more; else the errors of
 * wire_encode.  On failure nothing has changed. */
int net_frames_out_add(struct net_frames_out *out, const struct wire_message *message, size_t room);

/* Ends a sealed stream.  Returns 0 or -ENOMEM. */
int net_frames_out_last(struct net_frames_out *out);

void net_frames_out_free(struct net_frames_out *out);

#endif
