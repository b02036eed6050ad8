/* frames.h - the frames of a connection: from bytes and to bytes, plain or sealed.  No I/O but
 * net_frames_out_write.
 *
 * A frame is a number, 32 bits little-endian, and a body of so many bytes, which is a message
 * (wire.h).  Where both ends say so, blocks travel among the messages: in frames whose number has
 * the bit NET_FRAME_BLOCK, and whose bodies one after the other are the bytes of one block after
 * the other.  A message waits for no more than a batch of a block's frames.
 *
 * A sealed stream begins with CIPHER_HEADER bytes; then each body is sealed, and its number says
 * how long the sealed body is.  That of a block's frame is the label of the body.  A sealed stream
 * that ends in good order ends with a sealed empty body, marked as the last. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "lib/net/cipher.h"
#include "lib/net/handshake.h"
#include "lib/wire/wire.h"

#define NET_FRAME_BLOCK 0x80000000u
#define NET_BLOCK_MAX   CIPHER_CHUNK_MAX /* bytes of a block in one frame */

/* A larger buffer of messages is freed once it is empty. */
#define NET_BUFFER_KEEP 1048576u

/* ---- In ----------------------------------------------------------------------------------- */

/* All zero but frame_max (of a message, as it is unsealed) and blocks: a plain stream that begins.
 */
struct net_frames_in {
    size_t frame_max;
    bool blocks;              /* are taken */
    struct bspz_buffer bytes; /* from begin on it is not yet handed out */
    size_t begin;
    uint32_t left; /* of a plain block's frame: bytes that are not yet handed out */
    bool sealed;
    bool begun; /* sealed: the header is there */
    bool last;  /* sealed: the last frame is there */
    unsigned char key[NET_KEY_SIZE];
    struct cipher cipher;
    struct bspz_buffer unsealed; /* room for the frame that is handed out */
};

/* From the beginning the stream is sealed with this key, which is copied. */
void net_frames_in_seal(struct net_frames_in *in, const unsigned char *key);

/* Room for bytes to be read into, at least a few thousand; NULL: out of memory. */
unsigned char *net_frames_in_room(struct net_frames_in *in, size_t *room);
void net_frames_in_filled(struct net_frames_in *in, size_t size);

/* Whether net_frames_in_next has a message or an error. */
bool net_frames_in_ready(const struct net_frames_in *in);

/* What comes next, valid until the next call: NET_FRAME_MESSAGE with the body of a message, or
 * NET_FRAME_OF_BLOCK with bytes of a block (of a plain frame what has come, of a sealed one all).
 * 0 when there is nothing yet; -EPROTO or -ENOMEM, and then text says why. */
enum { NET_FRAME_MESSAGE = 1, NET_FRAME_OF_BLOCK };
int net_frames_in_next(struct net_frames_in *in, const unsigned char **body, uint32_t *size,
                       char *text, size_t text_size);

/* The stream's next bytes, if they are a block's that nothing was read ahead of: so many may be
 * read to where they belong instead of into the room, before what is read into that. */
uint32_t net_frames_in_direct(const struct net_frames_in *in);
void net_frames_in_passed(struct net_frames_in *in, uint32_t size);

/* Frees large buffers when they are empty. */
void net_frames_in_relax(struct net_frames_in *in);

/* The stream ends here: NULL, or why it must not. */
const char *net_frames_in_end(const struct net_frames_in *in);

void net_frames_in_free(struct net_frames_in *in);

/* ---- Out ---------------------------------------------------------------------------------- */

#define NET_BATCH_FRAMES 32u /* of blocks */
#define NET_BATCH_PIECES 256u

struct net_load;

/* All zero: a plain stream that begins.  Messages wait in a buffer, blocks where they lie; a batch
 * of frames is made of both when the one before it is written. */
struct net_frames_out {
    struct bspz_buffer waiting; /* messages, behind those in `taking` */
    struct bspz_buffer taking;
    size_t taken;                   /* bytes of `taking` that are in the batch or gone */
    struct net_load *loads, **tail; /* blocks that wait */
    struct net_load *loads_gone;    /* all of them is in the batch */
    bool message_last;              /* a message was put into the batch last */
    uint32_t numbers[NET_BATCH_FRAMES];
    struct iovec pieces[NET_BATCH_PIECES];
    unsigned number_count, piece_count, piece_next;
    bool sealed;
    bool last; /* the mark of the end is to be sent */
    struct cipher cipher;
    struct bspz_buffer batch; /* sealed */
    struct bspz_buffer plain; /* a frame that is not in one piece, before it is sealed */
    /* Bytes of the stream: how many there will be of what was added, and how many the kernel has.
     * Those of a block count when they are put into a batch. */
    uint64_t accepted, written;
};

/* Begins a sealed stream; nothing was written yet.  Returns 0 or -ENOMEM. */
int net_frames_out_seal(struct net_frames_out *out, const unsigned char *key);

/* Adds a message.  -ENOBUFS: more than queue_max bytes would wait then, and some wait already;
 * else the errors of wire_encode.  On failure nothing has changed. */
int net_frames_out_add(struct net_frames_out *out, const struct wire_message *message,
                       size_t queue_max);

/* Adds a block: a head, and pieces of data, which stay where they are until they are written.
 * Takes head and data (the list) over, both of malloc, if the result is 0; else it is -ENOMEM. */
int net_frames_out_block(struct net_frames_out *out, unsigned char *head, uint64_t head_bytes,
                         struct iovec *data, uint64_t count);

/* Ends a sealed stream, behind all messages. */
void net_frames_out_last(struct net_frames_out *out);

/* Bytes of messages that are in no batch yet. */
size_t net_frames_out_waiting(const struct net_frames_out *out);

/* Whether blocks wait, or the last batch that had some is not written yet. */
bool net_frames_out_loaded(const struct net_frames_out *out);

/* Writes what the descriptor takes.  0: nothing is left; 1: it takes no more now, or it was much;
 * -errno, also -ENOMEM, after which the stream is of no use any more. */
int net_frames_out_write(struct net_frames_out *out, int fd);

/* Drops waiting data, which count as written. */
void net_frames_out_free(struct net_frames_out *out);

#endif
