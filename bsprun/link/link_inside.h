/* link_inside.h - what the parts of link.h share.
 *
 * On a connection go frames: messages as lib/wire makes them, and of each block of a superstep
 * first its head, then its data, in frames of at most LINK_FRAME_MAX bytes, so that a message waits
 * for no more than one of them.
 */
#ifndef BSPRUN_LINK_INSIDE_H
#define BSPRUN_LINK_INSIDE_H

#include <stdatomic.h>
#include <sys/uio.h>

#include "bsprun/link/link.h"
#include "bsprun/link/mirror.h"
#include "lib/net/cipher.h"
#include "lib/net/handshake.h"
#include "lib/net/meet.h"

enum link_kind { LINK_MESSAGE = 0x6c6b0001, LINK_HEAD, LINK_DATA };

struct link_frame {
    uint32_t kind, bytes;
};
#define LINK_FRAME_MAX    (1u << 20)
#define LINK_MESSAGE_MAX  (WIRE_FRAME_MAX + WIRE_HEADER)

#define LINK_BATCH_FRAMES 32u
#define LINK_BATCH_PIECES 256u
#define LINK_TEXT         256u

/* A message that waits. */
struct link_text {
    struct link_text *next;
    uint32_t size;
    unsigned char *bytes;
};

/* A block that waits, and how much of it is on its way. */
struct link_load {
    struct link_load *next;
    struct mirror_block block;
    uint64_t head_gone, data_gone;
    uint64_t piece, piece_gone; /* where in its data that is */
};

/* One direction: what waits, and the batch of frames that is being written. */
struct link_out {
    struct link_text *texts, **texts_end;
    struct link_load *loads, **loads_end;
    uint64_t waiting; /* bytes of texts */
    bool text_last;   /* a message was put into the batch last */
    struct link_frame frames[LINK_BATCH_FRAMES];
    struct iovec pieces[LINK_BATCH_PIECES];
    unsigned frame_count, piece_count, piece_next;
    struct link_text *texts_gone; /* freed with the batch */
    struct link_load *loads_gone;
    struct cipher cipher;
    unsigned char *sealed; /* NULL: not encrypted */
    uint64_t sealed_used;
    bool begun; /* the cipher's header is in the batch, or gone */
};

/* The other direction: the frame that is being received, and what is made of them. */
struct link_in {
    unsigned char *staging; /* what was read ahead */
    size_t start, end, room;
    struct link_frame frame;
    bool in_frame;
    uint32_t left; /* bytes of the frame to come */
    struct bspz_buffer text, head; /* what has come of them; room grows with it */
    bool stalled;  /* a head is complete, and there is no mirror yet */
    bool for_loop; /* a message is complete, which the thread of the loop has to deliver */
    bool filling;  /* data of `block` are awaited */
    struct mirror_block block;
    uint64_t data_left, piece, piece_done;
    struct cipher cipher;
    unsigned char *plain; /* NULL: not encrypted */
    unsigned char key[NET_KEY_SIZE];
    bool begun;
};

struct link {
    struct links *links;
    uint32_t host;
    int fd;          /* -1: not there yet, or lost */
    uint32_t events; /* that links->ready waits for */
    bool up, told;
    bool want_write;
    _Atomic bool broken;
    _Atomic bool heard; /* something has come since the last beat ... */
    unsigned silent;    /* ... or how many there were since then */
    char why[LINK_TEXT];
    struct net_call *call;
    bool encrypted;
    struct link_out out;
    struct link_in in;
};

struct links {
    uv_loop_t *loop;
    uint32_t host, term;
    struct links_calls calls;
    void *context;
    struct link_bell *bell;
    struct link_bell own_bell; /* where there is none */
    struct net_meet_options meet;
    bool encrypt;
    int outputs[2];
    struct link *all;
    uint32_t count;
    uv_async_t async;
    uv_timer_t beat;
    uint32_t heartbeat_ms; /* 0: silence means nothing */
    /* All connections are in the epoll set `ready`, that is in `gate`, and the loop polls that: the
     * thread of the bell closes it while it receives by itself. */
    int ready, gate;
    uv_poll_t poll;
    unsigned handles; /* that are not closed yet */
    bool closed, told_up;
    _Atomic bool reading; /* the thread of the loop has `in` of the links; set with the lock held */
    _Atomic bool passed_over; /* the other thread was rung meanwhile, and is to be rung again */
    bool driven;          /* the thread of the bell has, while it holds the lock */
    uint64_t spin_ns;     /* as in the setup */
    unsigned spin_pause;  /* barriers to go without */
    struct mirror *mirror;
    _Atomic bool drain_due; /* output waits, and with it the superstep */
    uint64_t drained;       /* superstep + 1 for which it was taken */
    uint64_t passed;
};

/* ---- link_state.c ---- */

void links_lock(struct links *links);
void links_unlock(struct links *links);
/* NULL: there is no such host. */
struct link *links_to(struct links *links, uint32_t host);
/* With the lock held, the next three.  The first reason stays. */
void link_break(struct link *link, const char *why);
/* What the link waits for may have changed; it waits for nothing more. */
void link_want(struct link *link);
void link_forget(struct link *link);

/* ---- link_send.c: with the lock held ---- */

/* Writes what can be written. */
void link_push(struct link *link);
/* Sends whatever is due, unless output has to go first. */
void links_send_due(struct links *links);

/* ---- link_drive.c ---- */

/* The sets and their handle; 0 or -errno. */
int links_drive_begin(struct links *links);
/* With the lock held. */
void links_drive_end(struct links *links, uv_close_cb closed);
/* By the loop: what waits for it goes on. */
void links_resume(struct links *links);

/* ---- link_follow.c: by the thread of the bell ---- */

/* It was rung by a rank on that processor, + 1; 0: not known. */
void link_follow(struct link_bell *bell, int32_t rung_on);
/* The processor is needed by others. */
void link_follow_no_more(struct link_bell *bell);

/* ---- link_out.c: with the lock held ---- */

void link_out_begin(struct link_out *out);
int link_out_encrypt(struct link_out *out, const unsigned char *key);
void link_out_free(struct link_out *out);
/* Both take over what they are given, if the result is 0; else it is -ENOMEM. */
int link_out_text(struct link_out *out, unsigned char *bytes, uint32_t size);
int link_out_load(struct link_out *out, const struct mirror_block *block);
/* Writes what it can.  0: nothing is left; 1: the descriptor takes no more, or it was much; -errno.
 */
int link_out_write(struct link_out *out, int fd);

/* ---- link_in.c: only by who has `in` (links->reading, links->driven) ---- */

int link_in_begin(struct link_in *in, const unsigned char *key);
void link_in_free(struct link_in *in);
/* Reads what there is, and hands it on.  *got: bytes read.  0, or -errno with a line in link->why;
 * -ECANCELED: links were closed meanwhile, or this one broken; -EPIPE: the peer has closed it. */
int link_in_read(struct link *link, uint64_t *got);
/* A mirror is there now, or the loop has its turn. */
int link_in_resume(struct link *link);
/* Whether nothing is read before that. */
static inline bool link_in_waits(const struct link_in *in)
{
    return in->stalled || in->for_loop;
}

/* ---- link_beat.c ---- */

/* Its timer, which links_close closes. */
void link_beat_begin(struct links *links);

#endif
