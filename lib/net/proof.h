/* proof.h - runs one handshake over one descriptor, with a deadline.  For listen.c and call.c. */
#ifndef PROOF_H
#define PROOF_H

#include <stdbool.h>
#include <uv.h>

#include "lib/net/addresses.h"
#include "lib/net/meet.h"

struct net_proof {
    struct handshake handshake;
    uv_poll_t poll;
    uv_timer_t deadline;
    unsigned handles; /* of these two: how many are not closed yet */
    uint32_t handshake_ms;
    int fd; /* -1 once it is given away or closed */
    bool connecting;
    bool over;
    struct sockaddr_storage peer;
    char address[NET_ADDRESS_SIZE];
    char text[HANDSHAKE_TEXT]; /* why it failed */
    bool silent;               /* because time passed */

    void *owner;
    /* The last call: proved (then the owner takes the descriptor, or it is closed), or
     * failed. */
    void (*done)(struct net_proof *proof, bool proved);
};

/* Makes one and takes over the descriptor (also on failure).  connecting: a connect is under way.
 * failed: 0, or why there is no connection; `done` is told from the loop.  NULL: out of memory. */
struct net_proof *net_proof_start(uv_loop_t *loop, int fd, const struct net_meet_options *options,
                                  bool listens, bool connecting, int failed);

/* Does what can be done at once.  May call `done`. */
void net_proof_step(struct net_proof *proof);

/* Passes the descriptor to the owner, inside `done`. */
void net_proof_take(struct net_proof *proof, struct net_meeting *meeting);

/* Ends it without `done`. */
void net_proof_cancel(struct net_proof *proof);

/* Puts the constants of meet.h where options have zeros. */
void net_meet_defaults(struct net_meet_options *options);

#endif
