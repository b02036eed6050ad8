/* copies_inside.h - what the files of copies.h share.
 *
 *   copies.c        requests, losses, life
 *   copies_burden.c  whose answers take too much
 *   held.c          answers that wait for changes
 *   waiters.c       replicas that wait for the same object
 *   copies_invariants.c  what is true before and after every call
 *   copies_state.c  what a part holds, and its changes as a host that backs it makes them
 */
#ifndef BSPRUN_DATASPACE_COPIES_INSIDE_H
#define BSPRUN_DATASPACE_COPIES_INSIDE_H

#include "bsprun/dataspace/copies.h"
#include "bsprun/dataspace/log.h"

/* What a part holds; NULL: nothing. */
struct copy_state {
    struct tags *tags;
    struct log *log;
    uint64_t change; /* the last one that is made */
    /* While it comes as a whole: the objects that have come, of which some are meant again. */
    struct object **had;
    uint32_t had_count, had_room;
};

/* Where a part is, as a host sees it. */
enum part_role {
    PART_ELSEWHERE, /* others hold it */
    PART_BACKED,    /* this host has a copy, or will have one */
    PART_OWNED,     /* this host carries out requests */
    PART_LOST,      /* nobody has it */
    PART_ROLE_COUNT
};

/* A host that backs a part, as its owner sees it. */
struct backup {
    uint32_t host;
    bool whole;    /* it has said that it has all changes up to `done` */
    uint64_t done; /* ... */
};

/* An answer that waits until all that back the part have made a change. */
struct held;

struct part {
    struct copies *copies;
    uint32_t number;
    enum part_role role;
    bool plain;               /* of one that is owned: there are no copies */
    struct copy_state now;    /* whole */
    struct copy_state coming; /* from a new owner, not whole yet */
    struct backup backups[COPIES_MOST];
    uint32_t backup_count;
    struct held *held, **last_held;
    /* While a request is carried out, or a change is made: */
    const void *tag;
    uint32_t tag_size;
    struct object *taken; /* what a get or read was granted, where the part is backed */
};

/* A replica that waits for an object. */
struct waiter;

struct copies {
    const struct copies_calls *calls;
    void *context;
    struct copies_setup setup;
    uint32_t *ring;  /* of setup */
    bool *lost;      /* by host */
    uint32_t *lives; /* by process: the newest life that has asked for anything */
    struct part *parts;
    struct waiter **waiters; /* by process; NULL: there are no replicas */
    uint32_t sendings;       /* of parts as a whole */
};

/* ---- held.c ---- */

/* The answer goes out when all that back the part have made all changes up to now.  Takes over the
 * reference. */
void held_add(struct part *part, const struct asker *asker, struct object *object);
/* Sends what waits no longer. */
void held_release(struct part *part);
/* Drops what waits of a process, and of the processes of a host. */
void held_forget(struct part *part, uint32_t pid);
void held_forget_host(struct part *part, uint32_t host);
/* Whether anything waits of a process of that host, and of which. */
bool held_of_host(const struct part *part, uint32_t host, uint32_t *pid);
/* Drops everything. */
void held_close(struct part *part);
/* Whether what waits is in order, and waits for something.  Only with BSPZ_CHECKED. */
bool held_is_sound(const struct part *part);

/* ---- waiters.c ---- */

bool waiters_open(struct copies *copies);
void waiters_close(struct copies *copies);
/* The asker waits for the object of that tag; the first of those of its process does so in the
 * tags.  False: no memory. */
bool waiters_add(struct part *part, const struct copies_request *request);
/* Takes out the one that came last of those of the process that have been granted an object; false:
 * none is left. */
bool waiters_take(struct copies *copies, uint32_t pid, struct asker *asker);
/* The number and `what` of the request for which replicas of the process wait; NULL: none does. */
const struct asker *waiters_of(const struct copies *copies, uint32_t pid, const struct part **part);
/* The replica on that host does not wait any longer.  False: it did not. */
bool waiters_withdraw(struct copies *copies, uint32_t pid, uint32_t host);
/* Nor does any on that host. */
void waiters_forget_host(struct copies *copies, uint32_t host);

/* ---- copies_state.c ---- */

/* 0 or -ENOMEM: *state is empty. */
int copy_state_open(struct copy_state *state, const struct copies_setup *setup,
                    const struct tags_calls *calls, struct part *part);
void copy_state_close(struct copy_state *state);
/* Sends what the part holds to a host that is to back it. */
void copy_state_send(struct part *part, uint32_t host);

enum copy_made {
    COPY_MADE,      /* the copy has what the message says */
    COPY_WHOLE,     /* ... and all up to its change */
    COPY_NO_MEMORY, /* it has not */
    COPY_BROKEN     /* the message does not fit what there is */
};
/* A change, or a piece of a part as a whole. */
enum copy_made copy_state_make(struct part *part, const struct copy_message *message,
                               const struct tags_calls *calls);

#endif
