/* listen.c - accepts connections and authenticates them.
 *
 * Happy path:
 *   net_listen; on_incoming accepts what there is and starts a proof for each; on_proof -> met().
 *
 * What can fail:
 *   a port is taken                          -> the next one of the range (open_within)
 *   no descriptor or memory for another one  -> accepting rests for a moment (on_rested)
 *   too many unproved ones                   -> one goes (make_room)
 *   a proof fails                            -> refused() */
#include "lib/net/meet.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/net/addresses.h"
#include "lib/net/proof.h"

#define ACCEPTS_PER_TURN 16u
#define REST_MS          100u
#define CROWDS           256u

struct net_listener {
    uv_loop_t *loop;
    uv_poll_t poll;
    uv_timer_t rest;
    unsigned handles; /* of these two: how many are not closed yet */
    int fd;
    uint16_t port;
    bool closing;
    struct net_meet_options options;
    struct net_meeter meeter;
    void *context;
    struct net_proof **unproved; /* oldest first */
    unsigned count;
    unsigned char
        crowd_key[crypto_shorthash_KEYBYTES]; /* so that attackers cannot predict collisions */
};

static void on_incoming(uv_poll_t *poll, int status, int events);

/* ---- The unproved ------------------------------------------------------------------------- */

static void forget(struct net_listener *listener, const struct net_proof *proof)
{
    unsigned i = 0;
    while (listener->unproved[i] != proof)
        i++;
    listener->count--;
    memmove(listener->unproved + i, listener->unproved + i + 1,
            (listener->count - i) * sizeof(*listener->unproved));
}

static void refuse(struct net_listener *listener, const struct net_proof *proof, bool proved,
                   const char *why)
{
    char text[NET_ADDRESS_SIZE + HANDSHAKE_TEXT + 8];
    if (!listener->meeter.refused)
        return;
    snprintf(text, sizeof(text), "%s: %s", proof->address, why);
    listener->meeter.refused(listener->context, proved, text);
}

static void on_proof(struct net_proof *proof, bool proved)
{
    struct net_listener *listener = proof->owner;
    forget(listener, proof);
    if (!proved) {
        refuse(listener, proof, handshake_key_seen(&proof->handshake), proof->text);
        return;
    }
    struct net_meeting meeting;
    net_proof_take(proof, &meeting);
    listener->meeter.met(listener->context, &meeting);
    sodium_memzero(&meeting.session, sizeof(meeting.session));
}

/* A number that is the same for connections from one address, and seldom for two. */
static unsigned crowd_of(const struct net_proof *proof)
{
    unsigned char digest[crypto_shorthash_BYTES];
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&proof->peer;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&proof->peer;
    bool is_v4 = proof->peer.ss_family == AF_INET;
    crypto_shorthash(digest, is_v4 ? (const void *)&v4->sin_addr : (const void *)&v6->sin6_addr,
                     is_v4 ? sizeof(v4->sin_addr) : sizeof(v6->sin6_addr),
                     ((const struct net_listener *)proof->owner)->crowd_key);
    return digest[0];
}

/* Drops one when all places are taken: see meet.h for which. */
static void make_room(struct net_listener *listener)
{
    if (listener->count < listener->options.unproved_max)
        return;
    unsigned crowds[CROWDS] = {0};
    for (unsigned i = 0; i < listener->count; i++)
        crowds[crowd_of(listener->unproved[i])]++;
    struct net_proof *victim = NULL;
    unsigned worst = 0;
    for (unsigned i = 0; i < listener->count; i++) {
        struct net_proof *proof = listener->unproved[i];
        unsigned weight = crowds[crowd_of(proof)];
        if (!handshake_key_seen(&proof->handshake))
            weight += listener->options.unproved_max;
        if (weight > worst) {
            worst = weight;
            victim = proof;
        }
    }
    assert(victim);
    forget(listener, victim);
    refuse(listener, victim, false, "dropped: too many connections that prove nothing");
    net_proof_cancel(victim);
}

/* ---- Accepting ---------------------------------------------------------------------------- */

static void on_rested(uv_timer_t *timer)
{
    struct net_listener *listener = timer->data;
    uv_poll_start(&listener->poll, UV_READABLE, on_incoming);
}

/* Without a spare descriptor the poll would report the same connection for ever. */
static void rest(struct net_listener *listener)
{
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->rest, on_rested, REST_MS, 0);
}

static void welcome(struct net_listener *listener, int fd, const struct sockaddr_storage *peer)
{
    make_room(listener);
    if (listener->closing) {
        close(fd);
        return;
    }
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    struct net_proof *proof =
        net_proof_start(listener->loop, fd, &listener->options, true, false, 0);
    if (!proof) {
        rest(listener);
        return;
    }
    proof->owner = listener;
    proof->done = on_proof;
    proof->peer = *peer;
    net_address_text(peer, proof->address);
    listener->unproved[listener->count++] = proof;
    /* Its HELLO has often arrived already, and then it will not be dropped. */
    net_proof_step(proof);
}

static void on_incoming(uv_poll_t *poll, int status, int events)
{
    struct net_listener *listener = poll->data;
    (void)status;
    (void)events;
    for (unsigned i = 0; i < ACCEPTS_PER_TURN && !listener->closing; i++) {
        struct sockaddr_storage peer = {0};
        socklen_t length = sizeof(peer);
        int fd =
            accept4(listener->fd, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            welcome(listener, fd, &peer);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            rest(listener);
            return;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } /* else: that connection is gone again, the next one may not be */
    }
}

/* ---- The interface ------------------------------------------------------------------------ */

static int bind_and_listen(int family, const struct sockaddr_storage *address)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int one = 1, zero = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
    if (bind(fd, (const struct sockaddr *)address, net_address_length(address)) < 0 ||
        listen(fd, SOMAXCONN) < 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

/* A listening descriptor, or a negative errno value. */
static int open_socket(const char *text, uint16_t port)
{
    struct sockaddr_storage address;
    if (net_address_of_host(text ? text : "::", port, &address) < 0)
        return -EINVAL;
    int fd = bind_and_listen(address.ss_family, &address);
    if (fd >= 0 || text || fd == -EADDRINUSE || fd == -EACCES)
        return fd;
    /* A host without IPv6. */
    net_address_of_host("0.0.0.0", port, &address);
    return bind_and_listen(AF_INET, &address);
}

/* As open_socket.  Jobs that share a range and begin at the same time begin at different places. */
static int open_within(const char *text, struct net_ports ports)
{
    uint32_t count = ports.last - ports.first + 1, start;
    int fd = -EADDRINUSE;
    if (ports.first == 0 && ports.last == 0)
        return open_socket(text, 0);
    if (ports.first == 0 || ports.first > ports.last || ports.last > UINT16_MAX)
        return -EINVAL;
    start = randombytes_uniform(count);
    for (uint32_t i = 0; i < count && fd < 0; i++) {
        fd = open_socket(text, (uint16_t)(ports.first + (start + i) % count));
        if (fd < 0 && fd != -EADDRINUSE && fd != -EACCES)
            return fd;
    }
    return fd < 0 ? -EADDRINUSE : fd;
}

static void on_closed(uv_handle_t *handle)
{
    struct net_listener *listener = handle->data;
    if (--listener->handles > 0)
        return;
    free(listener->unproved);
    free(listener);
}

static struct net_listener *make(const struct net_meet_options *options,
                                 const struct net_meeter *meeter, void *context)
{
    struct net_listener *listener = calloc(1, sizeof(*listener));
    if (!listener)
        return NULL;
    listener->options = *options;
    net_meet_defaults(&listener->options);
    listener->meeter = *meeter;
    listener->context = context;
    randombytes_buf(listener->crowd_key, sizeof(listener->crowd_key));
    listener->unproved = calloc(listener->options.unproved_max, sizeof(struct net_proof *));
    if (!listener->unproved) {
        free(listener);
        return NULL;
    }
    return listener;
}

int net_listen(uv_loop_t *loop, const char *address, uint16_t port,
               const struct net_meet_options *options, const struct net_meeter *meeter,
               void *context, struct net_listener **listener_out)
{
    struct net_listener *listener = make(options, meeter, context);
    if (!listener)
        return -ENOMEM;
    struct sockaddr_storage bound;
    socklen_t length = sizeof(bound);
    int fd = port > 0 ? open_socket(address, port) : open_within(address, options->ports);
    int status = fd < 0 ? fd : uv_poll_init_socket(loop, &listener->poll, fd);
    if (status < 0) {
        if (fd >= 0)
            close(fd);
        free(listener->unproved);
        free(listener);
        return status;
    }
    getsockname(fd, (struct sockaddr *)&bound, &length);
    /* The port lies in the same place for both families. */
    listener->port = ntohs(((struct sockaddr_in *)&bound)->sin_port);
    listener->loop = loop;
    listener->fd = fd;
    uv_timer_init(loop, &listener->rest);
    listener->poll.data = listener->rest.data = listener;
    listener->handles = 2;
    uv_poll_start(&listener->poll, UV_READABLE, on_incoming);
    *listener_out = listener;
    return 0;
}

void net_listen_problem(int error, struct net_ports ports, char *text, size_t size)
{
    if (error == -EADDRINUSE && ports.first > 0)
        snprintf(text, size, "none of the ports %u-%u (--ports) is free%s", ports.first, ports.last,
                 ports.first < 1024 ? "; those below 1024 need privileges" : "");
    else
        snprintf(text, size, "%s", strerror(-error));
}

uint16_t net_listener_port(const struct net_listener *listener)
{
    return listener->port;
}

unsigned net_listener_unproved(const struct net_listener *listener)
{
    return listener->count;
}

void net_listener_close(struct net_listener *listener)
{
    if (!listener || listener->closing)
        return;
    listener->closing = true;
    while (listener->count > 0)
        net_proof_cancel(listener->unproved[--listener->count]);
    uv_close((uv_handle_t *)&listener->poll, on_closed);
    uv_close((uv_handle_t *)&listener->rest, on_closed);
    close(listener->fd);
}
