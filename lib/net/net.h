/* net.h - connections that carry messages of the control protocol, on a libuv loop.
 *
 * One connection is one stream: an inherited descriptor of a socket pair, or TCP (meet.h).  It
 * turns bytes into messages (lib/wire) and messages into bytes, bounds both directions, and ends
 * exactly once.  All calls belong to the thread of the loop.  SIGPIPE must be ignored by the
 * process.
 *
 * Life of a connection:
 *   1. net_open returns a connection; it reads from the next turn of the loop on.
 *   2. `message` is called for every message, in order, never from inside another call of this
 *      interface.  The message is valid during the call only.
 *   3. The end comes once, by the peer, an error, net_finish or net_close: `closed` is called once,
 *      from the loop, and the connection is freed when it returns.  After net_close no `message`
 *      or `drained` is called any more.
 */
#ifndef NET_H
#define NET_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "lib/net/handshake.h"
#include "lib/wire/wire.h"

struct net_connection;

/* Why a connection ended. */
enum net_end {
    NET_END_CLOSED, /* net_close, or net_finish after the last byte was written */
    NET_END_PEER,   /* the peer closed, between two frames; encrypted: by net_finish */
    /* The peer's kernel ended the connection, inside a frame or with a reset: the process is gone.
     */
    NET_END_BROKEN,
    /* Another error of the stream: the peer or the way to it does not answer.  It may well go on.
     */
    NET_END_CUT,
    NET_END_PROTOCOL, /* the peer sent what is not a message; it is not to be trusted further */
    NET_END_MEMORY    /* out of memory */
};

struct net_handlers {
    void (*message)(void *context, struct net_connection *connection,
                    const struct wire_message *message);
    /* Optional: the queue that made net_send fail with -ENOBUFS, or that had passed half of
     * queue_max, has room again (fewer than a quarter of queue_max bytes wait). */
    void (*drained)(void *context, struct net_connection *connection);
    /* Optional: net_written has grown. */
    void (*written)(void *context, struct net_connection *connection);
    /* text: one line for a log, valid during the call. */
    void (*closed)(void *context, enum net_end end, const char *text);
};

struct net_options {
    size_t queue_max; /* bytes that may wait to be written; 0: NET_QUEUE_MAX */
    /* Encrypts both directions with the keys that the peers have agreed upon when they met
     * (meet.h); both must say so.  What an outsider changes, repeats, moves or leaves out ends the
     * connection with NET_END_PROTOCOL, and a stream that ends without net_finish, also one that an
     * outsider cut, with NET_END_BROKEN.  Sizes and times of messages can still be seen.
     *
     * Without it only the beginning of the connection is proved: anyone on the network path
     * between two hosts can read everything and insert messages.  That is for networks whose
     * switches and hosts are trusted, and for descriptors that were inherited. */
    bool encrypt;
    const struct net_session *session; /* copied; needed when encrypt is set */
};

#define NET_QUEUE_MAX (2u * WIRE_FRAME_MAX)

/* Makes a connection of a connected stream socket or pipe; options may be NULL.  On success the
 * connection owns fd (and sets close-on-exec), on failure the caller still does.  Returns 0 or a
 * negative errno value. */
int net_open(uv_loop_t *loop, int fd, const struct net_options *options,
             const struct net_handlers *handlers, void *context,
             struct net_connection **connection);

/* Encodes and queues the message; nothing of it is referred to after the call.  Returns 0, or
 *   -ENOBUFS   the queue is full; wait for `drained` (a message longer than queue_max is accepted
 *              when the queue is empty)
 *   -ENOTCONN  the connection is ending; `closed` comes or has come
 *   -EINVAL, -EMSGSIZE, -ENOMEM from wire_encode. */
int net_send(struct net_connection *connection, const struct wire_message *message);

/* Bytes that wait to be written. */
size_t net_queued(const struct net_connection *connection);

/* Of all bytes that were ever queued, how many there are, and how many of them, in that order, the
 * kernel has: the end of this process does not undo those. */
uint64_t net_accepted(const struct net_connection *connection);
uint64_t net_written(const struct net_connection *connection);

/* Sends what is queued, then ends the connection.  Messages are still received until then; a
 * second call, or one while the connection is ending, does nothing. */
void net_finish(struct net_connection *connection);

/* Ends the connection now; what is queued is lost.  Does nothing while it is ending. */
void net_close(struct net_connection *connection);

/* As net_close, and what the kernel has not delivered yet is taken back: nothing of it reaches the
 * peer later than what is on its way now, and TCP tells the peer of a reset. */
void net_cut(struct net_connection *connection);

/* Stops and resumes reading, for a receiver that cannot take more at the moment. */
void net_pause(struct net_connection *connection);
void net_resume(struct net_connection *connection);

/* Milliseconds since the peer's kernel was last heard of, which says that its host is there and the
 * connection stands, whatever the process does; -1: this is no TCP. */
int64_t net_unheard_ms(const struct net_connection *connection);
/* From now on it is asked whenever nothing was received for so many seconds. */
void net_probe(struct net_connection *connection, unsigned seconds);

#endif
