/* service.h - one host's part of the dataspace: requests of its own processes, and those of other
 * hosts for the tags that belong to it.  Pure: messages, windows and time are the caller's.
 *
 * Every host that has processes owns the tags whose digest falls to it; all hosts of a term agree
 * on who has which.  Happy path of a put: posted -> its pieces are collected here, or sent to the
 * owner as DATA_PUT, each answered at once -> with the last one the owner stores the object,
 * DATA_STORED -> answered.  Of a get or read: posted -> the owner is asked, DATA_ASK -> as soon as
 * there is an object, DATA_GRANT, in pieces -> answered piece by piece, as they come.  While it
 * waits it can be withdrawn, DATA_WITHDRAW, which the owner answers with DATA_WITHDRAWN unless it
 * has granted it.
 *
 * A process that is lost and restarted alone begins its next life: dataspace_restarted.  It makes
 * its requests since its last image again, with the same numbers, and the owners answer them from
 * their logs (log.h).  What was on its way to an earlier life is ignored.
 *
 * Where there are several copies of each part (copies.h), an owner answers when they all have the
 * change, and the job goes on when a host is lost: dataspace_lost on all hosts.  The next owner of
 * its part takes over; who has a request at the lost one makes it again there, with the same
 * number; a process of the lost host begins its next life elsewhere, dataspace_moved on all hosts,
 * and its requests wait until its host has asked all others what earlier lives have done.
 *
 * Processes may have replicas, each on a host of its own, which make the same requests with the
 * same numbers and are never restarted alone.  The first one to make a request carries it out; the
 * others get what it got, or are told that it is stored.  Owners keep an answer until all replicas
 * that live have it.  What replicas ask for is compared.  Large objects are sent to another host by
 * one of them, as long as that is about as quick as the others (turns.c); those that they get go
 * from one of them to the next (passing.c): DATA_REFER in place of DATA_GRANT, which is followed by
 * DATA_FETCH to the host that it names, and DATA_PASS from there.
 *
 * What can fail: no memory for an object; another host breaks a rule of the protocol.  Either is
 * told to the caller, who ends the job or drops the host.  With the term everything is over.
 */
#ifndef BSPRUN_DATASPACE_SERVICE_H
#define BSPRUN_DATASPACE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/dataspace/tags.h"
#include "lib/wire/wire.h"

struct dataspace;
struct keeper; /* keeper.h */

enum dataspace_kind { DATASPACE_PUT, DATASPACE_GET, DATASPACE_READ };

/* A request of a process, or the next piece of one, of which only `piece` and `length` count: a
 * process that changes its mind between pieces cannot make the service write elsewhere.  What it
 * points to is the process's window, and stays as it is until it is answered. */
struct dataspace_request {
    enum dataspace_kind kind;
    uint64_t number; /* of the process's request: larger than those before, or 0: it is never made
                        again */
    bool plain;      /* the process is never restarted alone, so that no copies are needed */
    const void *tag;
    uint32_t tag_size;
    void *piece;     /* of a put its bytes; of the others where they go */
    uint32_t length; /* of the piece: bytes of a put; of the others how many there is room for */
    uint64_t size;   /* of the object of a put; room for the whole object of the others */
};

/* Replicas of a process have made different requests under one number. */
struct dataspace_mismatch {
    uint32_t pid;
    uint64_t number;
    uint32_t hosts[2]; /* of the second one, and of the first one as far as is known */
    const void *tag;   /* of the second one; until the call returns */
    uint32_t tag_size;
    bool answered; /* only the data of a put, or the room for an object, is different: the second
                      one is answered as if it were not; else nothing answers it */
};

struct dataspace_calls {
    /* Sends to the agent of another host, which gets messages in order, or is lost. */
    void (*send)(void *context, uint32_t host, const struct wire_message *message);
    /* Whether more pieces may be queued for that host now; if not, dataspace_go_on is called
     * later. */
    bool (*has_room)(void *context, uint32_t host);
    /* The piece of this process is taken (put), or is in its place: `length` bytes of `size` that
     * it gets in all. */
    void (*answer)(void *context, uint32_t pid, uint64_t size, uint32_t length);
    /* The request of this process is withdrawn. */
    void (*withdrawn)(void *context, uint32_t pid);
    /* There is no memory for an object of that many bytes, put or wanted by a process: object.h. */
    void (*no_memory)(void *context, uint32_t pid, uint64_t bytes);
    /* The host broke a rule. */
    void (*broken)(void *context, uint32_t host, const char *complaint);
    /* The process, restarted alone, cannot catch up, as it does something else than before: nothing
     * answers its request. */
    void (*differs)(void *context, uint32_t pid);
    /* With the loss of hosts all copies of a part are lost: nothing is answered any more. */
    void (*part_lost)(void *context);
    /* The process, which has come from a host that is lost, made no request with a larger number
     * than this one before. */
    void (*past)(void *context, uint32_t pid, uint64_t number);
    /* Told on the host that owns the tag.  Later requests may differ, too. */
    void (*mismatch)(void *context, const struct dataspace_mismatch *mismatch);
    /* The replica on that host is so far behind the others that this host would have to keep more
     * answers than it is allowed to.  It keeps them until the host is said to be lost; once for
     * each replica. */
    void (*too_far_behind)(void *context, uint32_t pid, uint32_t host);
    /* Milliseconds since any moment, with replicas.  NULL: no replica waits for its turn. */
    uint64_t (*now_ms)(void *context);
};

#define DATASPACE_LARGE       4096u
#define DATASPACE_PASSED      65536u
#define DATASPACE_CUT_EVERY   64u
#define DATASPACE_BEHIND_MOST 16u

struct dataspace_setup {
    uint32_t host; /* own number */
    uint32_t nprocs;
    const uint32_t *homes; /* the host of each process when the term began; copied */
    uint32_t hosts;        /* how many there are; 0: those of homes */
    /* Of each of these hosts the one in homes of whose processes it has replicas, with which it is
     * a cell: itself if it is in homes, or has no processes.  At most WIRE_REPLICAS_MAX have the
     * same one.  NULL: no process has replicas.  Copied. */
    const uint32_t *leads;
    uint32_t copies;   /* of each part, 1 to COPIES_MOST; 0: one */
    uint32_t piece;    /* bytes that go to another host at a time, 1 to WIRE_PIECE_MAX */
    struct pool *pool; /* for the objects; it must outlive the dataspace */
    uint64_t log;      /* bytes of answers that are kept for processes that are restarted, or for
                          replicas, of each part */
    /* Where processes have replicas; 0: as in actual jobs. */
    uint32_t large;       /* bytes of a put from which they take turns to send it */
    uint32_t passed;      /* bytes of a get or read from which one gets it from another; or, without
                             replicas, of a put from which one copy gets it from another */
    uint32_t cut_every;   /* requests, after which a replica says how far it is */
    uint32_t behind_most; /* answers of a part that are kept for a replica whatever their bytes */
};

/* NULL: no memory. */
struct dataspace *dataspace_open(const struct dataspace_setup *setup,
                                 const struct dataspace_calls *calls, void *context);
/* Drops everything.  Harmless for NULL. */
void dataspace_close(struct dataspace *space);

/* A process of this host has posted a request, or the next piece.  A request that is known already
 * has no effect. */
void dataspace_posted(struct dataspace *space, uint32_t pid,
                      const struct dataspace_request *request);
/* One of the messages DATA_* from another host. */
void dataspace_message(struct dataspace *space, uint32_t host, const struct wire_message *message);
/* Withdraws the get or read of a process of this host: calls->withdrawn, at once or later, unless
 * it is granted before.  No effect if it waits for no object. */
void dataspace_withdraw(struct dataspace *space, uint32_t pid);
/* A process of this host, without replicas, is lost, and begins its next life: its request is
 * dropped. */
void dataspace_restarted(struct dataspace *space, uint32_t pid);
/* The host is lost, and does nothing any more.  No effect if that is known. */
void dataspace_lost(struct dataspace *space, uint32_t host);
/* The process's host is lost, and it begins its next life on that one; there are no replicas.  The
 * same calls are made on all hosts, in one order, each behind dataspace_lost of where the process
 * was. */
void dataspace_moved(struct dataspace *space, uint32_t pid, uint32_t host);
/* Whether the loss of a host could be borne as far as this one knows: there are copies, no answer
 * was given up that a process may still want, and no part is lost. */
bool dataspace_bears_loss(const struct dataspace *space);
/* An image of the process of this host is durable, from which it would make no request with a
 * smaller number than this one.  All owners are told.  No effect with replicas: what they need is
 * known from their requests. */
void dataspace_cut(struct dataspace *space, uint32_t pid, uint64_t number);
/* Bytes of the answers that this host keeps, and the process for which it keeps most. */
uint64_t dataspace_logged(const struct dataspace *space, uint32_t *pid);
/* Whether more than half is full of what this host may keep of a part, or of `all` bytes in all
 * parts, and the process for which it keeps most of that: soon answers are given up. */
bool dataspace_burdened(const struct dataspace *space, uint64_t all, uint32_t *pid);
/* The process of this host, of those that may be saved, whose image would help most, here or on a
 * host that has said so; nprocs: none.  If it is one of another host that is told so.  See
 * copies.h. */
uint32_t dataspace_burden(struct dataspace *space, uint64_t all,
                          bool (*may)(void *context, uint32_t pid), void *context);
/* Processes with replicas are to stop where each of its replicas can be saved.  From now on none of
 * this host makes a request that it has not begun; who waits for an object withdraws that. */
void dataspace_halt(struct dataspace *space);
/* Whether it is known of all of them what has become of that. */
bool dataspace_halted(const struct dataspace *space);
/* The last request of the process that has taken effect in a part of this host, or that a replica
 * of this host has made and that was not withdrawn. */
uint64_t dataspace_reached(const struct dataspace *space, uint32_t pid);
/* By the largest number of all hosts, of each process: requests up to that one are made, the others
 * withdrawn, also if they are puts, of which nothing has been answered then. */
void dataspace_halt_at(struct dataspace *space, const uint64_t *requests);
/* All go on. */
void dataspace_halt_over(struct dataspace *space);
/* A snapshot of that number is taken of the processes of those hosts only, the keepers; nothing
 * takes effect until they have kept the objects.  On all hosts, with the same keepers and numbers,
 * which grow from one snapshot to the next: each other host sends its objects to one of them.
 * Again without keepers: nothing is waited for any more, and what has come is dropped. */
void dataspace_gather(struct dataspace *space, uint64_t snapshot, const uint64_t *keepers,
                      uint32_t count);
/* The same if the newest one is of that number, which is given up. */
void dataspace_gather_over(struct dataspace *space, uint64_t snapshot);
/* Whether all has come that this host is to keep of what hosts that live have. */
bool dataspace_gathered(const struct dataspace *space);
/* The objects of the tags that this host owns, and what was gathered, to be copied: see keeper.h.
 * NULL: no memory, or there was no room for what was to be gathered. */
struct keeper *dataspace_keep(struct dataspace *space);
/* Sends what waited for room, or for its turn.  Whether something still does. */
bool dataspace_go_on(struct dataspace *space);

/* The get or read of a process of this host that nothing has been granted to; NULL: it waits for no
 * object, or one is on its way. */
const struct dataspace_request *dataspace_waits_for(const struct dataspace *space, uint32_t pid);
/* Messages that went to other hosts, and that came, up to now, without those that are lost. */
struct dataspace_traffic {
    uint64_t sent, received;
};
struct dataspace_traffic dataspace_traffic(const struct dataspace *space);
/* What the tags hold that this host owns. */
struct tags_totals dataspace_totals(const struct dataspace *space);

/* The host that owns a tag, as far as this one knows. */
uint32_t dataspace_owner(const struct dataspace *space, const void *tag, size_t size);

#endif
