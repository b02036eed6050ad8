/* link.h - what the agents of a job send each other in one term: supersteps and messages.
 *
 * One connection for each pair of hosts.  From links_mirror on, supersteps travel by themselves:
 * when all ranks of this host have arrived at a barrier, each other host is sent what is for it
 * (mirror.h), and what comes is written into the board here, and the ranks are woken.
 * Messages of the control protocol share the connection, in the order they were given to
 * links_send; they may overtake a superstep that is being sent, and wait for at most 1 MiB of it.
 *
 * Happy path: links_open -> each link is taken or called -> `up` -> links_mirror -> supersteps ->
 * links_close.  What can fail: a peer cannot be reached or goes away, breaks a rule of the
 * protocol, is silent for too long, or there is no memory for what it sends: `lost`, once for each
 * peer, and the term is over for it.
 *
 * All calls belong to the thread of the loop but link_bell_rung.  Handlers are called from the
 * loop, never from inside a call of this interface, and may call anything of it, links_close as
 * well: no handler is called after that.  SIGPIPE must be ignored.
 */
#ifndef BSPRUN_LINK_H
#define BSPRUN_LINK_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "lib/wire/wire.h"

struct net_session;      /* lib/net/handshake.h */
struct net_meet_options; /* lib/net/meet.h */
struct links;
struct bspz_board;

struct links_peer {
    uint32_t host;
    const char *addresses; /* separated by blanks, as in HELLO; "": links_take is waited for */
};

/* Through which the thread that waits for the doorbell finds the links of the present term. */
struct link_bell {
    pthread_mutex_t lock;
    struct links *links;
    _Atomic unsigned asked; /* the loop wants the lock */
    /* The thread's own. */
    uint32_t others;  /* rings that were not for links */
    int32_t rung_on;  /* processor of the rank that rang last, + 1; 0: not known */
    int32_t bound_to; /* its own one, + 1; 0: any of the `allowed` */
    bool allowed_known;
    cpu_set_t allowed;
};
#define LINK_BELL_INIT                                                                             \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

struct links_setup {
    uv_loop_t *loop;
    uint32_t host; /* own number */
    uint32_t term;
    const struct links_peer *peers; /* without the own host */
    uint32_t peer_count;
    /* How a peer with a lower number is called: its setup with the own identity and the job's key,
     * wanted.host is filled in; copied, but the key must stay.  NULL: all come by links_take. */
    const struct net_meet_options *meet;
    bool encrypt;
    /* A peer that sends nothing for so long is lost, within half of that again; 0: never. */
    uint32_t heartbeat_ms;
    struct link_bell *bell; /* NULL: nobody says that ranks have arrived */
    /* How long the thread of the bell, when all ranks here wait for others, asks the connections
     * again and again before it leaves them to the loop; 0: not at all. */
    uint64_t spin_ns;
    /* Descriptors of the ranks' output: what lies there when all ranks have arrived must be taken
     * (`arrived`) before the superstep leaves.  Copied. */
    int outputs[2]; /* -1: none */
};

struct links_calls {
    /* Valid during the call. */
    void (*message)(void *context, uint32_t host, const struct wire_message *message);
    /* One line that begins with nothing but what happened: "connection refused". */
    void (*lost)(void *context, uint32_t host, const char *text);
    void (*up)(void *context); /* all links are there; optional */
    /* All ranks of this host have arrived at the barrier that ends the superstep, and there is
     * output; the superstep leaves when it returns.  Optional. */
    void (*arrived)(void *context, uint64_t superstep);
};

/* NULL: no memory. */
struct links *links_open(const struct links_setup *setup, const struct links_calls *calls,
                         void *context);

/* At once; nothing of this term is delivered any more.  Harmless for NULL. */
void links_close(struct links *links);

/* A connection of this term that the peer made and that was proved: the descriptor, non-blocking,
 * belongs to links from then on.  session: copied; NULL: nothing is encrypted. */
void links_take(struct links *links, uint32_t host, int fd, const struct net_session *session);

/* Queues the message until the link is there and can take it; to a lost peer it is dropped. Returns
 * 0, or what wire_encode says (-EMSGSIZE, -ENOMEM). */
int links_send(struct links *links, uint32_t host, struct wire_message *message);

/* The peer is not to be dealt with any more: the connection ends, and `lost` comes with that text,
 * unless it was lost already. */
void links_break(struct links *links, uint32_t host, const char *why);

/* Bytes of messages that wait for that link: who sends files does not let them become many. */
uint64_t links_waiting(const struct links *links, uint32_t host);

/* The layout is known, all ranks of the job are ready and none runs yet: board->host, the slots'
 * hosts and board->here are written.  To be called before BSPZ_PHASE_RUN.  0 or -errno. */
int links_mirror(struct links *links, int board_fd, int nprocs);

/* The doorbell was rung; said by the thread that waits for it, which saves the way through the loop.  What
 * the others send, while all ranks here wait for that, is received in it (spin_ns). */
void link_bell_rung(struct link_bell *bell);
/* How that thread waits: until the doorbell is another one than `seen`. */
void link_bell_wait(struct link_bell *bell, struct bspz_board *board, uint32_t seen);

/* The last superstep whose end every host has been told of by this one (+ 1; 0: none). */
uint64_t links_passed(const struct links *links);

#endif
