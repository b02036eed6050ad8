/* replica_play.h - the links of several hosts whose processes have replicas, each with a loop of
 * its own, in one process; the ranks only pretend.
 *
 * In superstep s each process puts play_bytes(s) to each other one; where s % 3 is 1 all get as
 * well, and where s % 5 is 2 they first match their registrations. */
#ifndef TESTS_UNIT_REPLICA_PLAY_H
#define TESTS_UNIT_REPLICA_PLAY_H

#include "bsprun/link/link_replicas.h"
#include "tests/unit/boards.h"

#define PLAY_HOSTS 6
#define PLAY_PROCS 4

struct play_layout {
    unsigned hosts;
    uint32_t counts[PLAY_HOSTS];
    uint32_t pids[PLAY_HOSTS][PLAY_PROCS];
};

struct play_host {
    uv_loop_t loop;
    struct links *links;
    struct board_host at;
    struct link_bell bell;
    uint64_t superstep; /* so many are complete */
    enum { PLAY_COMPUTES, PLAY_ARRIVED, PLAY_MATCHED, PLAY_REPLIED } phase;
    bool dead, frozen;
    unsigned lost, mismatches, behind;
    uint32_t behind_host;
    struct links_mismatch mismatch; /* the last one */
    unsigned seen;                  /* of those that say no more than the place, */
    struct links_mismatch place;    /* and the last of these */
    /* Where one bit is flipped when the superstep is made; destination < 0: nowhere. */
    uint64_t flip_superstep, flip_at;
    int flip_pid, flip_to;
    bool flips_reply; /* and not what is put */
};

extern struct play_host play[PLAY_HOSTS];
extern const struct play_layout play_all[]; /* named by these */
enum {
    PLAY_TWO_OF_EACH,   /* four hosts with two processes each */
    PLAY_ALL_ON_EACH,   /* two hosts that need nothing of each other */
    PLAY_THREE_OF_EACH, /* six hosts */
    PLAY_ONE_IS_UNIQUE, /* process 0, on host 0 */
    PLAY_OVERLAP,       /* three hosts, none with the same processes */
    PLAY_LAYOUTS
};

/* Set before play_begin. */
extern struct links_replicas play_setup; /* homes excepted */
extern bool play_encrypts;
extern uint64_t play_stop; /* at its end all are at calls where they were told to stop; 0: none */
extern bool play_checks; /* data that were not flipped are expected; else any */
/* How often a host had something else than the process on another one was to send. */
extern unsigned play_wrong;

void play_set_up(void);
void play_tear_down(void);
void play_begin(unsigned layout);
unsigned play_hosts(void);

uint64_t play_bytes(uint64_t superstep);
/* The ranks of that host take the next step, if they may.  Whether they did. */
bool play_step(unsigned host);
/* Its links do what there is to do. */
void play_turn(unsigned host);
/* All hosts but those that are dead or frozen, until those of `mask` have completed so many
 * supersteps.  False: nothing goes on any more. */
bool play_until(uint64_t superstep, unsigned mask);
void play_kill(unsigned host);

#endif
