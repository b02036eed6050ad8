/* link.h - connections between the agents of a job in one term, for supersteps and messages.
 *
 * One connection for each pair of hosts.  From links_mirror on, supersteps are exchanged
 * automatically: when all ranks of this host have arrived at a barrier, each other host is sent the
 * data for it (mirror.h); received data are written to the board, and the ranks are woken.
 * Messages of the control protocol share the connection, in the order they were given to
 * links_send; they may overtake a superstep that is being sent, and wait for at most 1 MiB of it.
 *
 * Happy path: links_open -> each link is taken or called -> links_mirror -> supersteps ->
 * links_close.  What can fail: a peer cannot be reached or ends, breaks a rule of the protocol, is
 * silent for too long, or there is no memory for what it sends: `lost`, once for each peer, and the
 * term is over for it.
 *
 * Where processes have replicas, each on a host of its own, every host takes the communication of a
 * process from whichever of its replicas is first, keeps in a log what its own ranks have not come
 * to yet, and compares what the replicas have sent by digests (replicas.h).  It goes on without a
 * host that is slow or lost as long as some other host has a replica of each process of that one.
 *
 * All calls belong to the thread of the loop but link_bell_rung, and links_put and the lock of the
 * bell, which belong to both.  Handlers are called from the
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

#include "bsprun/link/place.h"
#include "lib/wire/wire.h"

struct net_session;      /* lib/net/handshake.h */
struct net_meet_options; /* lib/net/meet.h */
struct links;
struct bspz_board;

struct links_peer {
    uint32_t host;
    const char *addresses; /* separated by blanks, as in HELLO; "": links_take is waited for */
};

/* Gives the thread that waits for the doorbell access to the links of the present term. */
struct link_bell {
    pthread_mutex_t lock;
    struct links *links;
    _Atomic unsigned asked; /* the loop wants the lock */
    /* Private to that thread. */
    uint32_t others;  /* rings that were not for links */
    int32_t rung_on;  /* processor of the rank that rang last, + 1; 0: not known */
    int32_t bound_to; /* its own processor, + 1; 0: any of the `allowed` */
    bool allowed_known;
    cpu_set_t allowed;
};
/* For what the handlers of links_express use; not to be held across other calls of this file but
 * links_put. */
void link_bell_lock(struct link_bell *bell);
void link_bell_unlock(struct link_bell *bell);

#define LINK_BELL_INIT                                                                             \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

#define LINK_TOO_FAR_BEHIND "it is too far behind" /* what `lost` is told after `behind` */

struct links_setup {
    uv_loop_t *loop;
    uint32_t host;                  /* own number */
    const struct links_peer *peers; /* without the own host */
    uint32_t peer_count;
    /* How to call a peer with a lower number: a setup with the own identity and the job's key;
     * wanted.host is filled in; copied, except for the key.  NULL: all connections come by
     * links_take. */
    const struct net_meet_options *meet;
    bool encrypt;
    /* The heartbeat: a peer silent for 1 to 1 1/2 times this is lost; 0: never. */
    uint32_t heartbeat_ms;
    struct link_bell *bell;
    /* How long the thread of the bell polls the connections, when all ranks here wait for others,
     * before it leaves them to the loop; 0: not at all. */
    uint64_t spin_ns;
    /* Descriptors of the ranks' output: their contents when all ranks have arrived must be read
     * (`arrived`) before the superstep is sent.  Copied. */
    int outputs[2]; /* -1: none */
};

/* Replicas of a process that disagree. */
struct links_mismatch {
    uint32_t pid, stage; /* the process; enum bspz_stage */
    uint64_t superstep;
    uint32_t hosts[2]; /* the first to be heard of, and the one that differs from it; once that is
                        * decided, where several must agree: the one that counts, and another */
    uint32_t alike[2]; /* how many replicas, of those heard of, agree with each */
    bool open;         /* another replica, which is still to be heard of, decides */
    bool in_vain;      /* what counts is lost with its hosts, and has not come here */
    bool seen;         /* nothing new but the place */
    struct link_place place; /* where they differ, if both contents were here, or else NONE */
};

struct links_calls {
    /* Valid during the call. */
    void (*message)(void *context, uint32_t host, const struct wire_message *message);
    /* One line that begins with the event: "connection refused". */
    void (*lost)(void *context, uint32_t host, const char *text);
    /* All ranks of this host have arrived at the barrier that ends the superstep, and there is
     * output; the superstep is sent when it returns.  Optional. */
    void (*arrived)(void *context, uint64_t superstep);
    /* Only where there are replicas.  Once for each process, superstep, stage and replica that
     * differs from the first, and again when another one agrees with the first; the other hosts of
     * that process report it as well.  Optional. */
    void (*mismatch)(void *context, const struct links_mismatch *mismatch);
    /* That host, this one or another, is so far behind that no more can be kept for it, and has got
     * all before that superstep; or this one cannot go on for another reason, error: -errno, else
     * 0. Once for each host; if it is another one its link is dropped, and `lost` follows.
     * Optional. */
    void (*behind)(void *context, uint32_t host, uint64_t superstep, int error);
};

/* Messages outside of supersteps that need not wait for the loop: both threads call these, with the
 * lock of the bell held. */
enum links_wait {
    LINKS_WAIT_NONE, /* no rank here waits for a message */
    LINKS_WAIT_SOME, /* some do, and others need the cores */
    LINKS_WAIT_POLL  /* the thread of the bell may poll for them */
};
struct links_express {
    /* Ranks have rung: puts what they have written into the queues by links_put.  False: nothing.
     */
    bool (*rung)(void *context);
    /* False: it is left to links_calls.message, and nothing has changed. */
    bool (*message)(void *context, uint32_t host, const struct wire_message *message);
    enum links_wait (*waits)(void *context);
};

/* The processes that live on one host. */
struct links_home {
    uint32_t host;
    uint32_t count;
    const uint32_t *pids; /* ascending */
};

/* The order of the homes is the same on all hosts. */
struct links_replicas {
    const struct links_home *homes; /* of all hosts with ranks, the own one included */
    uint32_t home_count;
    uint64_t log_bytes; /* of memory for what is kept for hosts that trail, the own one included */
    uint64_t spill_bytes; /* and then of a file without a name */
    /* How many replicas of a process with three or more must agree before a host takes what they
     * send, while so many are left; 1 or 0, and of other processes: the first counts. */
    uint32_t agree;
    /* Instead of that more than half of the replicas, with two both: where no majority decides, all
     * hosts take what the lowest one has sent. */
    bool majority;
    /* How long a large content at least waits for another replica whose turn it is to send it; 0:
     * 10 ms. */
    uint64_t turn_ns;
};

/* NULL, and errno: no memory, or too few descriptors. */
struct links *links_open(const struct links_setup *setup, const struct links_calls *calls,
                         void *context);

/* Takes effect at once; nothing of this term is delivered any more.  Harmless for NULL. */
void links_close(struct links *links);

/* A connection of this term that the peer made and that was proved: the descriptor, non-blocking,
 * belongs to links from then on.  session: copied; NULL: nothing is encrypted. */
void links_take(struct links *links, uint32_t host, int fd, const struct net_session *session);

/* Queues the message until the link exists and can take it; drops it if the peer is lost.  Returns
 * 0, or the error of wire_encode (-EMSGSIZE, -ENOMEM). */
int links_send(struct links *links, uint32_t host, struct wire_message *message);

/* The same with the lock of the bell held; it is sent by links_put_done, together with others.  The
 * link is lost if there is no memory. */
void links_put_done(struct links *links);
void links_put(struct links *links, uint32_t host, const struct wire_message *message);

/* From now on these are called, with the context of links_open. */
void links_use_express(struct links *links, const struct links_express *express);

/* Drops the peer: ends the connection and calls `lost` with that text, unless it was lost
 * already. */
void links_break(struct links *links, uint32_t host, const char *why);

/* Bytes of messages queued for that link, which senders of files limit. */
uint64_t links_waiting(const struct links *links, uint32_t host);

/* All ranks of this host have arrived at the barrier that ends the superstep, and wait for its
 * decision.  Fills in the traffic of this superstep, of what the ranks have written anyway, and the
 * ways from other hosts: how long blocks of 64 KiB and more took, from their heads to their ends,
 * that have come since the last call.  The lists are of malloc, for the caller to free; what there
 * is no memory for is left out. */
void links_measure(struct links *links, uint64_t superstep, struct wire_arrive *arrive);

/* The layout is known, all ranks of the job are ready and none runs yet: board->host, the slots'
 * hosts and board->here are written; the host of a slot is the own one wherever a replica lives
 * here, else any of the process's homes.  To be called before BSPZ_PHASE_RUN.  replicas: copied;
 * NULL: each process lives on one host.  0 or -errno; -EINVAL: some process has no home, or the
 * homes and the board disagree about what lives here. */
int links_mirror(struct links *links, int board_fd, int nprocs,
                 const struct links_replicas *replicas);

/* Whether the replicas of other hosts agree with all that this host's ranks have made up to the
 * snapshot of them at the end of that superstep; where the first counts, whether those that are
 * left have come so far, and none differs.  arrived: only up to their arrival at its end, which
 * others may never pass.  While it is false the bell is rung when that has changed.  Without
 * replicas: true. */
bool links_sure(struct links *links, uint64_t superstep, bool arrived);

/* This host has heard where processes with replicas stop at their calls, at the end of that
 * superstep, as said in that round: what they have made there counts.  Without replicas: no effect.
 */
void links_know_stop(struct links *links, uint64_t superstep, uint64_t round);

/* Whether the ranks here wait, or will, for what a process has communicated all of whose hosts are
 * lost: then *pid.  The bell is rung when that has changed.  Without replicas: false. */
bool links_in_vain(struct links *links, uint32_t *pid);

/* Whether what replicas here have made otherwise than others is still to be sent to some host,
 * which can then see where they differ. */
bool links_owe(struct links *links);

/* The term is over: reads what has come, at most 8 MiB from each host that may say where replicas
 * differ, drops all messages of it, and calls `mismatch` for what has been seen, from inside of
 * this call.  To be followed by links_close.  Without replicas, or for NULL, nothing. */
void links_last_words(struct links *links);

/* Called by the thread that waits for the doorbell when it was rung, which is faster than through
 * the loop.  Also receives from others while all ranks here wait for that (spin_ns). */
void link_bell_rung(struct link_bell *bell);
/* How that thread waits: until the doorbell is another one than `seen`. */
void link_bell_wait(struct link_bell *bell, struct bspz_board *board, uint32_t seen);

#endif
