/* secret.h - the job's key in memory, and its transfer to an agent.
 *
 * The key is made by bsprun and known to the processes of the job only.  It lies in memory that is
 * not swapped out (where limits permit), not in core dumps, and empty in forked processes.  It
 * travels in a JOIN message over the standard input of the program that starts an agent, never in
 * an argument or the environment, and to no other process. */
#ifndef SECRET_H
#define SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/net/handshake.h"
#include "lib/wire/wire.h"

/* ---- The key ------------------------------------------------------------------------------ */

struct net_secret;

/* A new key by chance, or one that is given (NET_KEY_SIZE bytes; the caller wipes its own).  NULL:
 * out of memory. */
struct net_secret *net_secret_make(void);
struct net_secret *net_secret_of(const void *key);

/* Lasts as long as the secret. */
const unsigned char *net_secret_key(const struct net_secret *secret);

/* Wipes it.  Harmless for NULL.  Not in a forked process. */
void net_secret_free(struct net_secret *secret);

/* ---- Sending JOIN ------------------------------------------------------------------------- */

/* Encodes a JOIN, whose key is filled in, into an empty buffer, which is to be given back by
 * net_secret_wipe_buffer.  Errors as of wire_encode. */
int net_join_encode(const struct wire_message *join, const struct net_secret *secret,
                    struct bspz_buffer *buffer, char *error, size_t error_size);

/* Wipes and frees the bytes. */
void net_secret_wipe_buffer(struct bspz_buffer *buffer);

/* ---- Receiving JOIN ----------------------------------------------------------------------- */

#define NET_JOIN_MAX 2097152u /* bytes of its frame: the names of very many hosts */

struct net_join_reader {
    unsigned char *bytes;
    size_t size, received;
    unsigned char header[WIRE_HEADER];
    size_t header_received;
};

/* Reads the descriptor once (so one that blocks does not when poll says that it is readable), and
 * not a byte beyond the message; the reader is all zero at first.  Returns 1 when the JOIN is
 * complete: *message without its key, which is in *secret; the caller gives back both
 * (wire_message_free, net_secret_free). Returns 0 when more is to come; else -EPROTO (also when the
 * input ends), -ENOMEM, or what read says, with a text. */
int net_join_read(struct net_join_reader *reader, int fd, struct wire_message *message,
                  struct net_secret **secret, char *error, size_t error_size);

/* The same, waiting for at most timeout_ms; -ETIMEDOUT. */
int net_join_wait(int fd, unsigned timeout_ms, struct wire_message *message,
                  struct net_secret **secret, char *error, size_t error_size);

/* Wipes what was received.  net_join_read does so itself when it returns anything but 0. */
void net_join_reader_wipe(struct net_join_reader *reader);

/* Which host of a JOIN this is: the number it gives, or that of the host with this name (compared
 * without regard to case and, when none is equal, up to the first dot).  -ENOENT: none, or more
 * than one. */
int64_t net_join_host(const struct wire_join *join, const char *name);

#endif
