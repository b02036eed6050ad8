/* replica_inside.h - what the parts of replica_set.h share. */
#ifndef BSPRUN_REPLICA_INSIDE_H
#define BSPRUN_REPLICA_INSIDE_H

#include "bsprun/link/replica_ledger.h"
#include "bsprun/link/replica_ring.h"
#include "bsprun/link/replica_set.h"
#include "lib/base/buffer.h"

#define REPLICA_RECENT   128u /* contents that have been applied, */
#define REPLICA_MADE     256u /* and that were made here, at least, */
#define REPLICA_ASIDE    32u  /* and that differ */

#define REPLICA_ACCOUNTS 32u /* that wait for one home */

/* An account that is to be sent. */
struct replica_due {
    uint32_t pid;
    uint64_t key;
};

struct replica_pid {
    uint32_t homes[REPLICA_MOST];
    uint32_t count;
    bool here;
    bool differs; /* some home has made something else than another */
    bool in_vain; /* it was said that the content that counts will not come */
    struct replica_ledger ledger;
    /* Not here: ascending keys, from `begin` on; contents of one key that differ are adjacent. */
    struct replica_logged *log;
    size_t begin, logged, room;
    uint64_t last;                /* the highest key that was made here, or has come */
    uint64_t applied;             /* not here: the highest key that was applied, */
    uint64_t seen;                /* the highest key of which the place of a difference was told */
    uint64_t shown[REPLICA_MOST]; /* here: the last key whose account was due at the home */
};

/* A content of a process that lives here, for hosts that lack it. */
struct replica_copy {
    struct replica_copy *next;
    uint32_t pid;
    uint64_t key;
    struct replica_digest digest;
    struct replica_kept kept;
    bool large;      /* homes take turns */
    bool differs;    /* from what another home has made */
    uint32_t left;   /* homes that are due, */
    uint64_t *due;   /* by bits */
    uint64_t *told;  /* by bits: those that were told its digest ahead of it */
    uint32_t flying; /* handed out, and not sent yet */
};

/* Whose turn it is to send large contents to a host; replica_turn.c. */
struct replica_turn {
    unsigned place;    /* among the homes of a process, the slot that comes first */
    uint64_t held;     /* the last key for which it was waited; 0: none */
    uint64_t released; /* up to this key nothing is held back */
    unsigned pause;    /* supersteps without, at the last release */
};

/* What has come too early from one home, in that order: before this host knows of a stop. */
struct replica_early {
    struct replica_early *next;
    enum { EARLY_NOTE, EARLY_ACCOUNT, EARLY_CONTENT } kind;
    union {
        struct replica_note note;
        struct replica_account account; /* with the bytes below */
        struct replica_copy_facts facts;
    };
    void *bytes;
    uint64_t size;
};

/* Another host. */
struct replica_other {
    struct replica_early *early, **early_tail;
    bool lost;
    struct replica_copy *cursor; /* the next copy to look at; NULL: none is left */
    uint64_t *have;              /* [nprocs] the highest key it is known to have */
    uint64_t past;               /* it has all contents up to this key, as it has come past them */
    bool even;                   /* it makes its contents when this host does, as the caller says */
    struct bspz_buffer notes;    /* of struct replica_note, */
    uint64_t unbounded; /* bytes of them that tell what lost homes had said: once for each */
    bool notes_given;   /* all of which replica_set_next has handed out */
    bool urgent;        /* one of them is not to wait for contents that go the same way */
    struct replica_turn turn;
    struct replica_due accounts[REPLICA_ACCOUNTS];
    unsigned account_count;
    bool account_given; /* and maybe not written yet */
    bool homes_any;     /* some process */
    bool said;          /* all others were told what it had said, as it is lost */
    uint64_t *heard;    /* by bits: the hosts that have told that; NULL: not with `majority` */
};

struct replica_set {
    uint32_t nprocs, home_count, own, agree;
    bool majority;
    uint64_t passed; /* the last key that the ranks here have passed, with `agree` > 1 */
    uint64_t ahead[REPLICA_STAGES]; /* keys passed ahead of agreement; 0: none */
    uint64_t captured;              /* the last one of them ever */
    struct replica_calls calls;
    void *context;
    struct replica_pid *pids;
    struct replica_other *others; /* [home_count], without a use for the own one */
    struct replica_copy *first, **tail;
    struct replica_copy *making; /* between put and keep */
    struct replica_store copies, log;
    struct replica_ring recent; /* which were applied, */
    struct replica_ring made;   /* and made here; */
    struct replica_ring aside;  /* of these, which differ from another home's */
    uint64_t told_most, told;   /* bytes of ledgers and notes */
    uint64_t early_most, early; /* bytes that have come too early */
    uint64_t *waits;            /* [nprocs] keys, for replica_early.c */
    uint64_t turn_bytes;
    bool given_up; /* this host is too far behind itself, */
    int error;     /* or cannot go on for that reason: -errno */
    uint64_t past; /* with `majority`: all hosts that are left have come past this key */
    bool retains;  /* some ledger has what replica_said_retains says, */
    bool settles;  /* ... and maybe need not have it any more */
    bool unsure;   /* somebody has still to tell what a home had said that is lost */
#ifdef BSPZ_CHECKED
    unsigned steps;
#endif
};

static inline uint64_t replica_bounded_notes(const struct replica_other *other)
{
    return other->notes.size - other->unbounded;
}

/* The slot of a home of the process; REPLICA_MOST: it is none. */
unsigned replica_slot(const struct replica_pid *pid, uint32_t home);
/* How many must agree on what the process has made before it is applied.  With fewer than three
 * homes from the beginning there can be no majority: the first counts, or both must have spoken. */
unsigned replica_needed(const struct replica_set *set, const struct replica_pid *pid);
/* Whether homes take turns for small contents of the process as well. */
bool replica_turns_small(const struct replica_set *set, const struct replica_pid *pid);
/* The slot of the home whose content counts: most agree with it, and of several such it is the
 * lowest.  REPLICA_MOST: another home, which is still to be heard of, may decide. */
unsigned replica_chosen(const struct replica_set *set, const struct replica_pid *pid,
                        const struct replica_entry *entry);

/* Whether a home that is left has made the content with that digest, and will send it. */
bool replica_may_come(const struct replica_set *set, const struct replica_pid *pid,
                      const struct replica_entry *entry, const struct replica_digest *digest);

/* A digest is told of, by its home itself or another.  0 or -ENOMEM. */
int replica_tell(struct replica_set *set, uint32_t pid, uint32_t home, uint64_t key,
                 const struct replica_digest *digest, bool itself, const struct link_place *place);
/* Two homes have sent different contents: where they differ is told, once. */
void replica_note_seen(struct replica_set *set, uint32_t pid, uint64_t key, uint32_t first,
                       uint32_t second, const struct link_place *place);
/* What counts, that of the slot, is lost with its homes, and only another home's has come. */
void replica_note_in_vain(struct replica_set *set, uint32_t pid, uint64_t key, unsigned chosen,
                          uint32_t home);
/* That home has made a content of that key: it has come past the barrier before. */
void replica_note_past(struct replica_set *set, uint32_t home, uint64_t key);
/* Forgets what all homes that are left have come past. */
void replica_settle(struct replica_set *set, struct replica_pid *pid);
/* A home of the process is lost, which may have been the one that was to decide. */
void replica_judge_again(struct replica_set *set, uint32_t pid);
/* Whether all digests that are known of the content are this one. */
bool replica_agree(const struct replica_set *set, uint32_t pid, uint64_t key,
                   const struct replica_digest *digest);

int replica_take_note(struct replica_set *set, uint32_t home, const struct replica_note *note);
int replica_take_content(struct replica_set *set, uint32_t home,
                         const struct replica_copy_facts *facts, void *bytes, uint64_t size);

/* ---- replica_early.c ---- */

void replica_early_begin(struct replica_set *set);
/* Whatever that home has sent which waits: it is lost, or the set ends. */
void replica_early_drop(struct replica_set *set, uint32_t home);

/* ---- replica_said.c ---- */

/* 0 or -ENOMEM. */
int replica_said_begin(struct replica_set *set);
/* That host has told all that it knows of the lost one. */
void replica_said_hear(struct replica_set *set, uint32_t home, uint32_t about);
/* After any host was lost: whether others are still to tell (unsure). */
void replica_said_look(struct replica_set *set);
/* Whether hosts that have not come past the key may have to be told of the entry. */
bool replica_said_retains(const struct replica_set *set, const struct replica_pid *pid,
                          const struct replica_entry *entry);
/* The host that is furthest behind; home_count: there is no other. */
uint32_t replica_said_last(const struct replica_set *set);
/* It may have come further (past).  Whether it has. */
bool replica_said_progress(struct replica_set *set);

/* Checks what is true after every call, after every eighth: everything there is, and so only where
 * it is built for that (BSPZ_CHECKED: simulators, unit tests). */
#ifdef BSPZ_CHECKED
void replica_check(struct replica_set *set);
#else
static inline void replica_check(const struct replica_set *set)
{
    (void)set;
}
#endif

/* No more can be kept for that home: calls `behind`, once. */
void replica_give_up(struct replica_set *set, uint32_t home, uint64_t key);
/* This host cannot go on: the same, with the reason. */
void replica_fail(struct replica_set *set, uint64_t key, int error);

/* ---- replica_out.c ---- */

int replica_add_note(struct replica_set *set, uint32_t home, const struct replica_note *note,
                     bool urgent);
/* What this host has made is another than what another home has: who has got that is sent it. */
void replica_out_differs(struct replica_set *set, uint32_t pid, uint64_t key);
/* The home has sent that content itself, and need not hear any more that this host has it. */
void replica_unsay(struct replica_set *set, uint32_t home, uint32_t pid, uint64_t key,
                   const struct replica_digest *digest);
/* The home is lost: tells all others what homes that are lost have said.  No memory: gives up this
 * host. */
void replica_out_tell_lost(struct replica_set *set, uint32_t home);
void replica_out_drop(struct replica_set *set, uint32_t home);
void replica_out_free(struct replica_set *set);

/* ---- replica_account.c ---- */

int replica_take_account(struct replica_set *set, uint32_t home,
                         const struct replica_account *account);
/* False: there is none that is still kept. */
bool replica_account_next(struct replica_set *set, struct replica_other *other,
                          struct replica_account *account);

/* ---- replica_turn.c ---- */

/* Whether the copy, which is the next one due at that home, is held back: then *wait is set. */
bool replica_turn_waits(struct replica_set *set, uint32_t home, const struct replica_copy *copy,
                        struct replica_wait *wait);
/* Whether it would be, without setting anything. */
bool replica_turn_holds(const struct replica_set *set, uint32_t home,
                        const struct replica_copy *copy);
/* The home has got the content from another one. */
void replica_turn_spared(struct replica_turn *turn, uint64_t key);

/* ---- replica_in.c ---- */

/* What cannot be applied gives up this host. */
void replica_apply_ready(struct replica_set *set, uint32_t pid);
/* Of all processes. */
void replica_apply_all(struct replica_set *set);
void replica_in_free(struct replica_set *set);

#endif
