/* copies.h - parts of the dataspace that several hosts hold, so that the loss of a host loses
 * nothing that a process has been told.  Pure: messages, and what hosts are lost, are the caller's.
 *
 * There is one part for each host of a ring.  Its chain is that host and those behind it: the first
 * that lives owns the part, the `copies` - 1 that live next back it.  The owner
 * carries out the requests, and sends every change (a put, an object that a get or read was
 * granted) to those that back it, in one order.  They do the same to their copy, and say so.  An
 * answer goes out when all of them have made every change up to then.
 *
 * Requests that wait are nowhere else: a host whose request was not answered makes it again, with
 * the same number, to the host that owns the part after a loss, which answers it from the log
 * (log.h) if it had taken effect there.
 *
 * A host is lost when Processor Zero says so, and it no longer acts then.  Who learns of it tells
 * all others before anything else, on the same ordered links; who is told so learns of it.
 * Therefore nobody gets a message that it can understand only with news that it does not have.  A
 * host that is lost does not come back before everything begins anew.
 *
 * The new owner sends its part as a whole to each host that backs it from now on.  A host keeps its
 * earlier copy until the new one is whole: if the owner is lost before, the earlier copy has all
 * that was answered, since the owner has answered nothing without the new one.  If the next owner
 * has no whole copy, the part is lost, and all processes must go back.
 *
 * If the first request for a part is by a process that is never restarted alone, as all of its
 * program, copies would be of no use: there are none of that part then.
 *
 * Where processes have replicas, the requests of these have the same numbers.  The first one takes
 * effect; who makes it later, or while it waits, gets the same answer.
 *
 * What can fail: no memory; a message that breaks these rules.  Either is told to the caller.
 */
#ifndef BSPRUN_DATASPACE_COPIES_H
#define BSPRUN_DATASPACE_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/dataspace/tags.h"

#define COPIES_MOST 16u

struct copies;

enum copy_kind {
    COPY_LOST, /* `part` is the number of a host that is lost */
    /* To a host that backs the part, as a whole: */
    COPY_BEGIN,
    COPY_OBJECT, /* tag, object */
    COPY_ANSWER, /* pid, number, what; of a get or read object, or same */
    COPY_NEWEST, /* pid, number: of its last answer */
    COPY_END,    /* it has all changes up to `change` */
    /* ... and change by change: */
    COPY_PUT,  /* pid, number, what, tag, object */
    COPY_TAKE, /* pid, number, what, tag, removes: an object is granted */
    COPY_NONE, /* there is no copy any more */
    /* To a host that keeps it in a snapshot (gather.c): tag, object, or no object: that was all;
     * number: of the snapshot. */
    COPY_KEPT,
    /* Back: all changes up to `change` are made. */
    COPY_DONE
};

struct copy_message {
    enum copy_kind kind;
    uint32_t part, pid;
    uint64_t change, number, what;
    bool removes;
    uint32_t
        same; /* the object is that one, from 1, of those that came since COPY_BEGIN; 0: none */
    const void *tag;
    uint32_t tag_size;
    struct object *object; /* shared by who keeps it; NULL: none */
};

/* What replicas ask for under one number: the upper half is a digest of all calls and tags up to
 * this one, the rest of the content of this one, and the lowest bits say which replica asked. */
#define WHAT_CALLS   UINT64_C(0xffffffff00000000)
#define WHAT_CONTENT UINT64_C(0x00000000fffffff0)
#define WHAT_PLACE   UINT64_C(0x000000000000000f)

/* A replica asks for something else than another one did. */
struct copies_mismatch {
    const struct asker *asker;
    uint64_t was; /* what that asked for; 0: it is not known */
    const void *tag;
    uint32_t tag_size;
    bool answered; /* only the content is different, so that it is answered */
};

/* None of them may call anything of this interface but copies_owner and copies_is_lost. */
struct copies_calls {
    /* To another host, which gets messages in order, or is lost. */
    void (*send)(void *context, uint32_t host, const struct copy_message *message);
    /* A request is answered.  object: of a get or read, whose reference goes to the callee; NULL: a
     * put is stored. */
    void (*answer)(void *context, const struct asker *to, struct object *object);
    /* A process, restarted alone, does something else than before: nothing answers it. */
    void (*differs)(void *context, const struct asker *asker);
    /* All that held the part are lost. */
    void (*part_lost)(void *context, uint32_t part);
    /* ... for so many bytes, of a request of that process. */
    void (*no_memory)(void *context, uint32_t pid, uint64_t bytes);
    /* The host broke a rule. */
    void (*broken)(void *context, uint32_t host, const char *complaint);
    /* Replicas differ: unless it is answered all the same, nothing answers the request. */
    void (*mismatch)(void *context, const struct copies_mismatch *mismatch);
};

struct copies_setup {
    uint32_t host, hosts; /* own number, and how many there are: 0 to hosts - 1 */
    const uint32_t *ring; /* hosts, of which each has the part of its place; copied */
    uint32_t parts;       /* ... so many */
    uint32_t nprocs;
    bool replicated;   /* processes have replicas, and `what` of their askers says what they ask */
    uint32_t copies;   /* of each part, with the owner's: 1 to COPIES_MOST */
    struct pool *pool; /* for the objects; it must outlive this */
    uint64_t log;      /* bytes of answers that are kept, of each part */
};

/* NULL: no memory. */
struct copies *copies_open(const struct copies_setup *setup, const struct copies_calls *calls,
                           void *context);
/* Drops everything; nobody is told.  Harmless for NULL. */
void copies_close(struct copies *copies);

/* The part of a tag, and the host that owns a part as far as this one knows. */
uint32_t copies_part(const struct copies *copies, const void *tag, size_t size);
uint32_t copies_owner(const struct copies *copies, uint32_t part);
bool copies_is_lost(const struct copies *copies, uint32_t host);
/* The hosts that will be sent what is put to a part which this host owns; returns how many, 0 if it
 * does not own the part. */
uint32_t copies_backups(const struct copies *copies, uint32_t part, uint32_t hosts[COPIES_MOST]);

/* A request to this host, which owns the part of the tag. */
struct copies_request {
    struct asker asker; /* number 0: it is never made again; what, removes: filled in here */
    bool repeats;       /* the process had an answer to it */
    bool plain;         /* the process is never restarted alone */
    const void *tag;
    uint32_t tag_size;
};
/* Whether the put has not been made; else it is answered as if it were made again, or never will
 * be. */
bool copies_put_is_new(struct copies *copies, struct copies_request request);
/* Takes over the reference to the object.  Whether it takes effect. */
bool copies_put(struct copies *copies, struct copies_request request, struct object *object);
void copies_ask(struct copies *copies, struct copies_request request, bool removes);

/* The get or read is forgotten if it waits.  False: it does not, and an answer is on its way unless
 * the process has begun its next life. */
bool copies_withdraw(struct copies *copies, struct copies_request request);

/* The process repeats no request with a smaller number; all hosts are to be told. */
void copies_cut(struct copies *copies, uint32_t pid, uint64_t number);
/* The largest number of a request of the process that has taken effect in the parts which this host
 * owns; 0: none.  All before it have been answered: what a process that is restarted on another
 * host needs to know of its past is the largest of all hosts. */
uint64_t copies_newest(const struct copies *copies, uint32_t pid);

/* A host is lost; no effect if that is known. */
void copies_lost(struct copies *copies, uint32_t host);
/* What another host has sent; ignored if that is lost. */
void copies_message(struct copies *copies, uint32_t host, const struct copy_message *message);

/* What there is of a part that this host owns; NULL: it does not. */
const struct tags *copies_tags(const struct copies *copies, uint32_t part);
/* Of the parts which this host owns. */
struct tags_totals copies_totals(const struct copies *copies);
/* Bytes of answers to a process, or (nprocs) to all, in all parts that are here. */
uint64_t copies_logged(const struct copies *copies, uint32_t pid);
/* The process with most of them. */
uint32_t copies_most_logged(const struct copies *copies);
/* The process with most bytes of answers in a part that has more than so many of all; nprocs: no
 * part has.  answers: to it there. */
uint32_t copies_logged_beyond(const struct copies *copies, uint64_t bytes, uint64_t *answers);
/* Whether more than half is full of what may be kept here of a part, or of `all` bytes in all
 * parts, and the process with most of it. */
bool copies_burdened(const struct copies *copies, uint64_t all, uint32_t *pid);
/* The process, of those that may be saved, with most of it, if that is so; nprocs: none.  It has at
 * least its share, as one of them, of what is still free: else it would be saved again and again,
 * for little, where the memory is full of what a process has that may not be saved. */
uint32_t copies_burden(const struct copies *copies, uint64_t all,
                       bool (*may)(void *context, uint32_t pid), void *context);
/* Whether there is no copy of a part of this host, or answers had to be given up here that no image
 * makes superfluous. */
bool copies_gave_up(const struct copies *copies);

/* Checks what is true before and after every call of this interface.  Only where it is built with
 * BSPZ_CHECKED. */
void copies_check(const struct copies *copies);

#endif
