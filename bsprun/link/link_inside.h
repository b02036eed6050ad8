/* link_inside.h - what the parts of link.h share.
 *
 * A connection carries frames (lib/net/frames.h): messages of the control protocol, and for each
 * block of a superstep first its head, then its data.
 */
#ifndef BSPRUN_LINK_INSIDE_H
#define BSPRUN_LINK_INSIDE_H

#include <stdatomic.h>

#include "bsprun/link/link.h"
#include "bsprun/link/link_spin.h"
#include "bsprun/link/mirror.h"
#include "lib/net/frames.h"
#include "lib/net/meet.h"

#define LINK_TEXT   256u
#define LINK_TIMED  (64u << 10) /* bytes of a block whose time is taken, at least */

#define LINK_FLYING 32u

struct replica_copy; /* replica_set.h */
struct link_replicas;

/* A content that is being written; `read`: its bytes, if they come from a file. */
struct link_flight {
    struct replica_copy *copy;
    void *read;
};

/* The receiving side. */
struct link_in {
    struct net_frames_in frames;
    const unsigned char *message; /* the last complete one */
    uint32_t message_size;
    _Atomic bool for_loop;   /* which the thread of the loop must deliver */
    struct bspz_buffer head; /* the part received; grows with it */
    _Atomic bool stalled;    /* a head is complete, but there is no mirror yet */
    bool filling;            /* data of `block` are awaited */
    struct mirror_block block;
    uint64_t data_left, piece, piece_done;
    uint64_t begun_ns; /* when its head had come; 0: it is not timed */
};

struct link {
    struct links *links;
    uint32_t host;
    int fd;                  /* -1: not connected yet, or lost */
    _Atomic uint32_t events; /* in links->ready */
    bool up;
    bool told; /* the loop has dealt with its loss; written with the lock held */
    bool want_write;
    _Atomic bool broken;
    _Atomic bool heard; /* data have arrived since the last beat ... */
    unsigned silent;    /* ... or the number of beats since then */
    char why[LINK_TEXT];
    struct net_call *call;
    struct net_frames_out out;
    struct link_in in;
    /* Large blocks that have come, and how long they took; what of it links_measure has told. */
    _Atomic uint64_t timed_bytes, timed_ns;
    uint64_t told_bytes, told_ns;
    /* Where processes have replicas. */
    uint32_t home;              /* the host's place among the homes */
    bool kin;                   /* the host has processes in common with this one */
    uint64_t held_key, held_ns; /* what is held back for it (link_turn.h), and since when */
    unsigned flying;
    struct link_flight flights[LINK_FLYING];
};

struct links {
    uv_loop_t *loop;
    uint32_t host;
    struct links_calls calls;
    const struct links_express *express; /* NULL: none; written with the lock held */
    void *context;
    struct link_bell *bell;
    struct net_meet_options meet;
    bool encrypt;
    int outputs[2];
    struct link *all;
    uint32_t count;
    uv_async_t async;
    uv_timer_t beat;
    uint32_t heartbeat_ms; /* 0: silence is ignored */
    /* All connections are in the epoll set `ready`, that is in `gate`, and the loop polls that: the
     * thread of the bell closes it while it receives by itself. */
    int ready, gate;
    uv_poll_t poll;
    unsigned handles; /* not closed yet */
    bool closed;
    bool ending; /* messages are not wanted any more */
    _Atomic bool
        reading; /* the thread of the loop owns `in` of the links; set with the lock held */
    _Atomic bool passed_over; /* the other thread was rung meanwhile, and must be rung again */
    bool driven;              /* the thread of the bell owns `in`, while it holds the lock */
    struct link_spin spin;
    uint64_t quiet_ns; /* ... of the present barrier */
    uint64_t sent_ns;  /* when the last ring was for messages: then; else 0 */
    struct mirror *mirror;
    struct link_replicas *replicas; /* NULL: each process lives on one host */
    bool receipts;                  /* what has come may have left something to be sent */
    _Atomic bool drain_due;         /* output must be read before the superstep is sent */
    uint64_t drained;               /* superstep + 1 for which it was read */
};

/* ---- link_state.c ---- */

void links_lock(struct links *links);
void links_unlock(struct links *links);
/* NULL: there is no such host. */
struct link *links_to(struct links *links, uint32_t host);
/* The next three require the lock.  The first reason is kept. */
void link_break(struct link *link, const char *why);
/* Updates the events of the link in the epoll set; removes it. */
void link_want(struct link *link);
void link_forget(struct link *link);

/* ---- link_invariants.c: with the lock held ---- */

/* Checks what is true of all links, where it is built for that (BSPZ_CHECKED: unit tests). */
#ifdef BSPZ_CHECKED
void links_check(const struct links *links);
#else
static inline void links_check(const struct links *links)
{
    (void)links;
}
#endif

/* ---- link_send.c: with the lock held ---- */

/* Writes what can be written. */
void link_push(struct link *link);
/* The same for all; where processes have replicas, first to hosts with the same ones, to which a
 * few words go that are not to wait behind data. */
void links_push_all(struct links *links);
/* Sends what has become due by what has come, where processes have replicas. */
void links_answer(struct links *links);
/* Sends due data, unless output must be read first. */
void links_send_due(struct links *links);

/* ---- link_drive.c ---- */

/* The sets and their handle; 0 or -errno. */
int links_drive_begin(struct links *links);
/* With the lock held. */
void links_drive_end(struct links *links, uv_close_cb closed);
/* Called by the loop: continues what waits for it. */
void links_resume(struct links *links);

/* ---- link_follow.c: by the thread of the bell ---- */

/* It was rung by a rank on that processor, + 1; 0: not known. */
void link_follow(struct link_bell *bell, int32_t rung_on);
/* Other processes need the processor. */
void link_follow_no_more(struct link_bell *bell);

/* ---- link_in.c: only by who has `in` (links->reading, links->driven) ---- */

void link_in_free(struct link_in *in);
/* Reads available data and passes them on. *got: bytes read. 0, or -errno with a line in link->why;
 * -ECANCELED: links were closed meanwhile, or this one broken; -EPIPE: the peer has closed it. */
int link_in_read(struct link *link, uint64_t *got);
/* Continues after a mirror was made, or on the loop's turn. */
int link_in_resume(struct link *link);
/* Whether reading waits for that. */
static inline bool link_in_waits(const struct link_in *in)
{
    return in->stalled || in->for_loop;
}

/* ---- link_beat.c ---- */

/* Its timer, which links_close closes. */
void link_beat_begin(struct links *links);

#endif
