/* world.h - the made-up world of hosts whose processes have replicas: see main.c. */
#ifndef SIM_SHARED_WORLD_H
#define SIM_SHARED_WORLD_H

#include "bsprun/link/replica_set.h"
#include "tests/sim/timeline.h"

#define HOSTS_MOST   12u
#define PIDS_MOST    10u
#define NEVER        UINT64_MAX
/* Contents that a host keeps of those it has made: at least so many, and of each process. */
#define KEPT_LEAST   256u
#define KEPT_OF_EACH 64u

enum kind { PUBLISH, ARRIVES, FREEZE, LOSE, LEAVE, HEARS, RELEASE, KNOWS };

struct action {
    struct moment moment;
    enum kind kind;
    uint32_t host, other;
    uint64_t until; /* RELEASE: the key; KNOWS: the superstep */
};

/* What one host sends another: a list of notes, an account or a content. */
struct way {
    bool busy;
    struct replica_note *notes;
    size_t note_count;
    struct replica_copy *copy;
    struct replica_copy_facts facts;
    struct replica_account account;
    void *bytes; /* of either */
    uint64_t size;
};

struct host {
    struct replica_set *set;
    uint32_t pids[PIDS_MOST], count;
    bool has[PIDS_MOST];
    uint64_t delay; /* of a stage */
    uint64_t frozen_until;
    bool lost, given_up;
    bool cut[HOSTS_MOST]; /* takes that host for lost */
    uint64_t made;        /* the last key its ranks have published */
    bool computes;
    uint64_t applied[PIDS_MOST];
    struct way ways[HOSTS_MOST]; /* to each other one */
    bool reported[PIDS_MOST];
    bool compared[PIDS_MOST];   /* what differs with what another home has made */
    uint64_t waits[HOSTS_MOST]; /* the key that is held back for each other one; 0: none */
    uint64_t stops;             /* supersteps at whose end it knows where processes stop */
    bool decided;               /* it has applied the content that differs: */
    uint64_t value;
};

struct flip {
    uint32_t host, pid;
    uint64_t key; /* 0: none */
    bool made;
    bool far; /* some home heard of it when one had made much since */
};

struct world {
    struct timeline time;
    struct host hosts[HOSTS_MOST];
    uint32_t host_count, pid_count, agree;
    bool majority;
    uint64_t last; /* key */
    uint64_t log_bytes, spill_bytes, turn_bytes, patience;
    uint64_t stops; /* supersteps at whose end some host has stopped */
    struct flip flip;
    bool any_lost, any_left, any_frozen, over, ended;
};

struct summary {
    uint64_t frozen, lost, behind_self, behind_other, flips, flips_due, spilled, held_back, agreed,
        over, left, tied, released, in_vain, compared, same_after_loss, early;
};
extern struct summary summary;

static inline struct host *home_of(struct world *world, uint32_t host)
{
    return &world->hosts[host];
}

/* ---- sets.c: contents, and what the sets call ---- */

/* Superstep s has a stage besides the arrival where s % 3 is not 0. */
uint64_t content_next(uint64_t key);
/* Bits that depend on nothing else, of a content or for what is drawn beside the seed. */
uint64_t content_mix(uint64_t pid, uint64_t key, bool flipped);
/* Whether it is made at a call where the process was told to stop. */
bool content_is_stop(uint64_t key);
struct replica_digest content_digest(uint64_t pid, uint64_t key, bool flipped);
/* For free. */
void *content_bytes(uint64_t pid, uint64_t key, bool flipped, uint64_t *size);

bool hosts_is_gone(const struct host *host);
/* Whether some home of the process whose content differs has made so much since that it need not
 * keep that any more. */
bool hosts_any_is_far(struct world *world);
/* Whether the others could go on if this host did not. */
bool hosts_is_spare(struct world *world, uint32_t host);
/* All others hear that it is lost, at different times. */
void hosts_hear_of(struct world *world, uint32_t host);

/* The context of the calls. */
struct caller {
    struct world *world;
    uint32_t host;
};
extern const struct replica_calls sets_calls;

#endif
