/* replica_set.h - which host has what of the communication of which process, where processes have
 * replicas on several hosts; pure: no I/O but the file of replica_store.h, no clock.
 *
 * What a process publishes at one stage of one barrier is a content, named by a key that grows from
 * stage to stage.  Each host that has a replica of the process, a home of it, makes the content
 * itself.  All others need it, and take it from the home that is first (`take`), log it, and have
 * it applied when their own ranks have come so far (`ready`).  They tell the other homes that they
 * have it (HAVE), so that those send no more than the digest of theirs.
 *
 * The ledger has the digests that the homes of a process have told, until all that are left have
 * come past the key: where one differs from the first, `mismatch`.  With `agree` > 1 a content is
 * applied only when so many homes, or all that are left if they are fewer, agree on its digest;
 * where no digest has enough and all have spoken, the content with the most and of these the lowest
 * home's.  The same holds for what this host itself makes: its ranks pass a stage only when its
 * contents are not outvoted (`may_pass`), so that what a wrong one leads to is never seen.  A host
 * that takes a snapshot goes ahead of that (`pass_ahead`), and is `sure` of its images later.
 *
 * What this host itself has made last is kept (`made`).  A home whose digest differs is sent it as
 * an account, ahead of contents, and compares it with its own: `mismatch` then says where they
 * differ.
 *
 * A large content is not sent by all homes that make it at the same time: each receiver has a turn
 * among them, and while the home whose turn it is keeps up, the others hold theirs back (`wait`)
 * until the receiver has it, or the caller has no more patience (replica_set_release).  Where the
 * first of two homes counts, the same is done with small contents while the two are even
 * (replica_set_even): that these have come is not told one by one, but follows from how far their
 * receiver has come, which its twin passes on (`twin`).
 *
 * What a process has made at a call where it was told to stop counts on a host only once that knows
 * of the stop (`knows_stop`); until then it waits, with all that comes behind it of that process
 * (replica_early.c).
 * If its home is lost meanwhile, maybe nobody else knows of that stop, and another one is decided:
 * what has not counted is dropped.
 *
 * A home that is lost is simply not counted any more: what it had not sent, the others send, since
 * only a receiver itself can say that it has something.  Where several must agree, what it said of
 * a content still counts; if that content has not come and no home that is left has made it, one on
 * which as many agree is taken, or else the receiver cannot go on (`in_vain`).  With `majority`
 * some hosts may have heard what it said, and have acted upon it, and others have not: before
 * anything else is chosen, all hosts that are left tell each other what they have heard from homes
 * that are lost (replica_said.c), and a content that counts is not replaced.  What is kept for a
 * receiver is dropped when it has got it from anyone, or is lost.  Where no more can be kept, the
 * host for which it is kept is told to be `behind`: another host counts as lost from then on, and
 * replica_set_lost is to be called for it; this host itself keeps and applies nothing any more.
 * What a host may lack though it does not trail is kept nevertheless, in memory.  This host is
 * given up, too, where a content cannot be applied: whoever has sent it, it cannot go on without
 * it.
 */
#ifndef BSPRUN_REPLICA_SET_H
#define BSPRUN_REPLICA_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/link/place.h"

#define REPLICA_MOST   4u /* of one process */
#define REPLICA_STAGES 3u

/* 0 is no key. */
static inline uint64_t replica_key(uint64_t superstep, unsigned stage)
{
    return superstep * REPLICA_STAGES + stage + 1;
}

static inline uint64_t replica_superstep(uint64_t key)
{
    return (key - 1) / REPLICA_STAGES;
}

static inline unsigned replica_stage(uint64_t key)
{
    return (unsigned)((key - 1) % REPLICA_STAGES);
}

/* The lowest byte of the last word is not compared: 0, or the process has not come to the end of a
 * superstep, but stands at a call where it was told to stop (replica_stop). */
struct replica_digest {
    uint64_t words[2];
};
#define REPLICA_STOP UINT64_C(0xff)

/* Of the round in which Processor Zero has asked where processes are, before it said so. */
static inline unsigned replica_stop(uint64_t round)
{
    return 1 + (unsigned)(round % REPLICA_STOP);
}

/* Rounds are near each other. */
static inline bool replica_stop_is_later(unsigned one, unsigned other)
{
    unsigned ahead = (one + (unsigned)REPLICA_STOP - other) % (unsigned)REPLICA_STOP;

    return ahead > 0 && ahead <= REPLICA_STOP / 2;
}

/* Homes are named by their places in the list of all, which is the same on all hosts. */
struct replica_home {
    const uint32_t *pids; /* ascending */
    uint32_t count;
};

struct replica_setup {
    uint32_t nprocs, home_count;
    uint32_t own; /* home */
    const struct replica_home *homes;
    uint64_t log_bytes, spill_bytes;
    uint32_t agree;      /* of three homes and more; 1: the first counts */
    bool majority;       /* more than half of the homes instead, and with two both */
    uint64_t turn_bytes; /* a content of at least so many is large; 0: none is */
};

struct replica_mismatch {
    uint32_t pid;
    uint64_t key;
    uint32_t
        homes[2]; /* the first that was heard of, and the one that differs; once that is decided,
                   * where several must agree: the one that counts, and one that does not */
    uint32_t alike[2]; /* how many were heard of that agree with each, itself included */
    bool open;         /* another home, which is still to be heard of, decides */
    bool in_vain;      /* the content that counts is lost with its homes: nobody can go on here */
    bool seen; /* nothing new but the place: on one of the two homes, which has compared them,
                * or where several must agree on a host that has got both contents */
    struct link_place place; /* NONE: one of the contents is not here */
};

/* Called from within the functions below, of which they must call none. */
struct replica_calls {
    /* Whether the ranks of this host have come so far that the content may be applied. */
    bool (*ready)(void *context, uint32_t pid, uint64_t key);
    /* In the order of the keys of each process.  The bytes may be changed.  0 or -errno. */
    int (*apply)(void *context, uint32_t pid, uint64_t key, void *bytes, uint64_t size);
    /* Where two contents that differ do so first; made: of those that replica_set_made was given.
     */
    void (*locate)(void *context, const void *first, uint64_t first_size, const void *second,
                   uint64_t second_size, bool made, struct link_place *place);
    void (*mismatch)(void *context, const struct replica_mismatch *mismatch);
    /* Or this host cannot go on for another reason, see replica_set_error. */
    void (*behind)(void *context, uint32_t home, uint64_t key);
    /* Whether this host knows where processes stop at calls at the end of that superstep, as said
     * in that round (replica_stop) or a later one.  NULL: they never do. */
    bool (*knows_stop)(void *context, uint64_t superstep, unsigned stop);
};

/* What one host tells another. */
enum replica_word {
    REPLICA_WORD_MADE,     /* a content, by its home */
    REPLICA_WORD_HAS,      /* that it has the content of that home */
    REPLICA_WORD_WAS_MADE, /* what that home, which is lost, has told */
    REPLICA_WORD_ALL       /* there is no more of that: the home alone is named */
};
struct replica_note {
    uint32_t pid;
    uint32_t about; /* the home whose digest it is */
    uint64_t key;
    struct replica_digest digest;
    uint64_t word; /* enum replica_word */
};

struct replica_set;
struct replica_copy;

/* A content is held back for a host, as another home has the turn to send it. */
struct replica_wait {
    uint64_t key; /* 0: nothing is held back */
    uint64_t
        bytes;  /* of the contents of that key which are kept: at most what the other one sends */
    bool made;  /* the other home has said that it has made its content */
    bool small; /* the receiver says later, with other things, that it has it */
};

/* What a content is made of that another home has made otherwise: for that one to see where. */
struct replica_account {
    uint32_t pid;
    uint64_t key;
    const void *bytes;
    uint64_t size;
};

/* What is to be sent next: notes, or else an account, or a content. */
struct replica_order {
    const struct replica_note *notes; /* valid until the next call of any function */
    size_t note_count;
    struct replica_account account; /* bytes NULL: none; valid as long */
    struct replica_copy *copy;
    struct replica_wait wait;
};

/* large: other homes may hold theirs back until they hear that this one has come.  twin: the
 * highest key of which the other one of two homes has said that it has made it. */
struct replica_copy_facts {
    uint32_t pid;
    uint64_t key;
    struct replica_digest digest;
    bool large;
    uint64_t twin;
};

/* NULL and *error: -ENOMEM, or -EINVAL: a process has no home or more than REPLICA_MOST. */
struct replica_set *replica_set_new(const struct replica_setup *setup,
                                    const struct replica_calls *calls, void *context, int *error);
void replica_set_free(struct replica_set *set);

bool replica_set_is_home(const struct replica_set *set, uint32_t home, uint32_t pid);

/* What the next content of that process is made of, as `locate` reads it, to be called before it is
 * put; the bytes, of malloc, are taken over.  They are kept until there are many newer ones: a home
 * that has made something else is sent them. */
void replica_set_made(struct replica_set *set, uint32_t pid, uint64_t key,
                      const struct replica_digest *digest, void *bytes, uint64_t size);
/* A process that lives here has made a content.  *needed: some host may need its bytes, which are
 * then to be handed to replica_set_keep at once (of malloc; else NULL).  0 or -ENOMEM. */
int replica_set_put(struct replica_set *set, uint32_t pid, uint64_t key,
                    const struct replica_digest *digest, bool *needed);
void replica_set_keep(struct replica_set *set, void *bytes, uint64_t size);

/* False: there is nothing for that home now; order->wait says whether there may be later.  A copy
 * counts as sent, and may be freed, when replica_set_sent was called. */
bool replica_set_next(struct replica_set *set, uint32_t home, struct replica_order *order);
/* What is held back for that home has waited long enough: it is what replica_set_next has next. For
 * some time nothing is held back for the home then, the longer the more often this happens in a
 * row. */
void replica_set_release(struct replica_set *set, uint32_t home);
void replica_set_sent(struct replica_set *set, uint32_t home, struct replica_copy *copy);
/* Whether that home makes its contents at the time when this host does: as long as it does, two
 * homes take turns for small contents, too.  From the beginning: not. */
void replica_set_even(struct replica_set *set, uint32_t home, bool even);
/* Whether anything for that home is not to wait until this host has made its next contents. */
bool replica_set_is_urgent(const struct replica_set *set, uint32_t home);
struct replica_copy_facts replica_set_facts(const struct replica_set *set,
                                            const struct replica_copy *copy);
/* As replica_store_see. */
void *replica_set_see(const struct replica_set *set, const struct replica_copy *copy,
                      uint64_t *size, void **read);

/* A content has come from a home of the process; the bytes, of malloc, are taken over in any case.
 * 0, -ENOMEM or -EPROTO. */
int replica_set_take(struct replica_set *set, uint32_t home, const struct replica_copy_facts *facts,
                     void *bytes, uint64_t size);
/* A note has come from that host.  The same errors. */
int replica_set_note(struct replica_set *set, uint32_t home, const struct replica_note *note);

/* What another home has made otherwise than this one has come: `mismatch` says where they differ,
 * if that can be seen.  0 or -EPROTO. */
int replica_set_compare(struct replica_set *set, uint32_t home,
                        const struct replica_account *account);

/* Whether the ranks of this host may pass the stage of which all contents here have been put.  To
 * be asked again after what others tell, and when one is lost, until it is true; then the stage has
 * been passed. */
bool replica_set_may_pass(struct replica_set *set, uint64_t key);
/* They pass it at once, and the next stage only when the contents of this one are agreed on, too.
 */
void replica_set_pass_ahead(struct replica_set *set, uint64_t key);
/* Whether the contents of all stages that were passed ahead are agreed on, or compared. */
bool replica_set_is_sure(const struct replica_set *set);
/* Where the first counts: whether all homes that are left of the processes here have come to the
 * key, and none has made anything else than this host. */
bool replica_set_is_compared(const struct replica_set *set, uint64_t key);

/* Whether a content of that key can not come any more: of a process no home of which is left, *pid.
 */
bool replica_set_is_in_vain(const struct replica_set *set, uint64_t key, uint32_t *pid);

/* Whether a content of this host that differs from another home's, or its account, is still to be
 * sent. */
bool replica_set_owes(const struct replica_set *set);

/* The ranks of this host have come further, or it knows of a stop: applies what is ready. */
void replica_set_advance(struct replica_set *set);

/* Why that host was given up, if it is this one: -errno; 0: it, or another one, is too far behind.
 */
int replica_set_error(const struct replica_set *set, uint32_t home);

/* That host is not there any more.  Copies that were handed out for it are still to be reported
 * by replica_set_sent. */
void replica_set_lost(struct replica_set *set, uint32_t home);

/* Bytes that are kept: of copies for others, of the own log, of ledger and notes. */
struct replica_held {
    uint64_t copies, logged, told;
};
struct replica_held replica_set_held(const struct replica_set *set);

#endif
