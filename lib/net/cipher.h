/* cipher.h - encryption of what flows in one direction of a connection, chunk by chunk.
 *
 * The key is one of a session's (handshake.h), which is used for one connection only.  Chunks must
 * be unsealed in the order in which they were sealed: one that was changed, left out, repeated or
 * moved is noticed, and so is, by the mark of the last one, a stream that was cut.  ChaCha20 and
 * Poly1305, by libsodium's secretstream.  The cost is that of a pass over the bytes, see
 * doc/decisions/one-key-per-job.md. */
#ifndef CIPHER_H
#define CIPHER_H

#include <stdbool.h>
#include <stddef.h>

#define CIPHER_HEADER    24u      /* bytes that begin a stream */
#define CIPHER_EXTRA     17u      /* by which a chunk grows */
#define CIPHER_CHUNK_MAX 1048576u /* bytes of a chunk; more are possible, but leave the caches */

/* One direction. */
struct cipher {
    _Alignas(16) unsigned char state[64];
};

/* Sender: begins a stream; writes CIPHER_HEADER bytes that go ahead of the first chunk. */
void cipher_seal_begin(struct cipher *cipher, const unsigned char *key, unsigned char *header);

/* Seals a chunk: writes size + CIPHER_EXTRA bytes to `sealed`, which must not overlap it.  label:
 * bytes that travel in plain beside the chunk (a header) and must be given again to unseal it; may
 * be NULL.  last: nothing follows it. */
void cipher_seal(struct cipher *cipher, const void *chunk, size_t size, const void *label,
                 size_t label_size, bool last, unsigned char *sealed);

/* Receiver: begins with the sender's header. */
void cipher_unseal_begin(struct cipher *cipher, const unsigned char *key,
                         const unsigned char *header);

/* Unseals size bytes (with CIPHER_EXTRA); writes size - CIPHER_EXTRA to `chunk`, which must not
 * overlap them.  -EBADMSG: this is not the next chunk of the stream; the stream is invalid from now
 * on, and the contents of chunk are undefined. */
int cipher_unseal(struct cipher *cipher, const unsigned char *sealed, size_t size,
                  const void *label, size_t label_size, void *chunk, bool *last);

/* Forgets the key. */
void cipher_wipe(struct cipher *cipher);

#endif
