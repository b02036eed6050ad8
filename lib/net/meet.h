/* meet.h - processes of a job connect over TCP and authenticate.
 *
 * One side listens, the other calls one of its addresses.  Both run the handshake (handshake.h);
 * then each gets the connected descriptor, who the peer is, and the keys of the session.  The
 * descriptor is theirs: net_open makes a connection for messages of it, frames.h also sends blocks.
 *
 * All calls belong to the thread of the loop; SIGPIPE must be ignored.  Handlers are called from
 * the loop, never from inside a call of this interface, and may call anything of it.
 *
 * Anybody can connect to a listening port.  What that may cost is bounded: so many connections
 * that have not proved themselves, each for so long; when there are too many, one goes that has
 * not shown a valid HELLO, of the address that has most of them, the oldest first. */
#ifndef MEET_H
#define MEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "lib/net/addresses.h"
#include "lib/net/handshake.h"

#define NET_UNPROVED_MAX  64u    /* connections to a listener that are in their handshake */
#define NET_HANDSHAKE_MS  5000u  /* for one handshake */
#define NET_CALL_MS       10000u /* for a call, over all addresses */
#define NET_STAGGER_MS    250u   /* before the next address is tried beside the one before */
#define NET_ADDRESSES_MAX 64u    /* addresses of one call */
#define NET_FAILED_TEXT   2048u

/* Two that have met.  The descriptor belongs to the receiver from then on: connected TCP,
 * non-blocking, close-on-exec, without delay, without the kernel's keepalive.  Nothing has been
 * read from it or written to it but the handshake. */
struct net_meeting {
    int fd;
    struct net_identity peer;
    struct net_session session;     /* wiped when the handler returns: copy it if it is wanted */
    char address[NET_ADDRESS_SIZE]; /* the peer's: "10.0.0.1:4711", "[fe80::1]:4711" */
};

struct net_meeter {
    void (*met)(void *context, const struct net_meeting *meeting);
    /* Optional, listener: a connection came to nothing.  proved: the peer had the job's key, so it
     * is worth telling the user (say, another version); else anybody may have caused it.  text: one
     * line, begins with the peer's address; valid during the call. */
    void (*refused)(void *context, bool proved, const char *text);
    /* Caller: no address led to the peer, or the time was up.  text: each address and what was
     * wrong with it; valid during the call.  The call is over. */
    void (*failed)(void *context, const char *text);
};

/* Where a listener may listen; {0, 0}: on any port that is free. */
struct net_ports {
    uint32_t first, last;
};

/* Zero in a number stands for the constant above. */
struct net_meet_options {
    struct handshake_setup
        setup; /* the key must stay while there is a listener or a call with it */
    uint32_t handshake_ms;
    uint32_t call_ms;
    uint32_t stagger_ms;
    uint32_t unproved_max;
    struct net_ports ports; /* of a listener whose port is not given */
};

/* ---- Listening ---------------------------------------------------------------------------- */

struct net_listener;

/* Listens on a numeric address ("127.0.0.1", "::1"), NULL: on all of the host, IPv4 and IPv6;
 * port 0: any of options->ports that is free, tried in turn from a random one.  Returns 0 or a
 * negative errno value; -EADDRINUSE: none of options->ports is free, -EINVAL: that is no range. */
int net_listen(uv_loop_t *loop, const char *address, uint16_t port,
               const struct net_meet_options *options, const struct net_meeter *meeter,
               void *context, struct net_listener **listener);

/* What a failed net_listen means to a user who gave these ports. */
void net_listen_problem(int error, struct net_ports ports, char *text, size_t size);

uint16_t net_listener_port(const struct net_listener *listener);

/* Connections that are in their handshake at the moment. */
unsigned net_listener_unproved(const struct net_listener *listener);

/* Stops at once: no handler is called any more.  Memory goes in later turns of the loop.
 * Harmless for NULL. */
void net_listener_close(struct net_listener *listener);

/* ---- Calling ------------------------------------------------------------------------------ */

struct net_call;

/* Tries the addresses ("10.0.0.1:4711", "[fd00::1]:4711"; numeric; at most NET_ADDRESSES_MAX) in
 * their order, the next when one has failed or after stagger_ms, and ends with the first whose
 * listener proves to be setup.wanted: `met`; or else `failed`.  Either comes exactly once, and then
 * the call is gone.  The addresses are copied.  Returns 0 or a negative errno value (-EINVAL: none,
 * too many, or one that is no address). */
int net_call(uv_loop_t *loop, const char *const *addresses, unsigned count,
             const struct net_meet_options *options, const struct net_meeter *meeter, void *context,
             struct net_call **call);

/* Ends the call now, without a handler.  Only before `met` or `failed`. */
void net_call_cancel(struct net_call *call);

#endif
