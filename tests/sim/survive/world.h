/* world.h - a job of the dataspace in a made-up world: Processor Zero is the real one, and the rest
 * of it - agents, boards, links, processes - does as the agents do when hosts are lost whose
 * processes are restarted alone on others (bsprun/agent/survive.c).
 *
 * What is modelled:
 * - Links keep the order between two hosts, with random delays; of a lost host's last messages each
 *   other host gets the beginning, more or less of them.
 * - Each host has a board with the arrivals that it knows of: its own, by blocks of hosts (all
 *   processes that began there), and by MEET of those that have moved.
 * - Processes count calls; they stop at one when a snapshot is due, and at the end; a new life
 * begins at the newest committed snapshot, and stops nowhere until it has caught up.
 * - Hosts are lost at any moment.  bsprun notices some time later, and names another host for
 * Processor Zero if that of the former one was lost: each host hears of it at another moment.
 */
#ifndef SIM_SURVIVE_WORLD_H
#define SIM_SURVIVE_WORLD_H

#include "coordinator/core/coord.h"
#include "tests/sim/timeline.h"

#define HOSTS_MOST 5u
#define PIDS_MOST  8u
#define STEPS_MOST 64u

enum action_kind {
    DO_HEAR,
    DO_TELL_ZERO,
    DO_CALL,
    DO_START,
    DO_MEET,
    DO_LOOK,
    DO_LOSE,
    DO_NOTICE,
    DO_TAKE_OVER,
    DO_SAVED,
    DO_SAVE
};

/* A block is a MEET of all that began on its sender's host. */
struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t from, host; /* from: COORD_BSPRUN, in DO_TELL_ZERO */
    uint32_t pid, life;
    struct wire_message message; /* its list of moves is the next one */
    struct wire_move moves[PIDS_MOST];
    bool block;
    bool ends[PIDS_MOST]; /* in a block: the barrier of the end, not a call */
};

struct line {
    uint64_t stamp;
    bool ends;
};

struct host {
    bool lost;
    bool deaf_to[HOSTS_MOST];                          /* it knows that they are lost */
    uint64_t superstep, consult_from, consulted, told; /* told: ARRIVE + 1 */
    uint64_t block;                                    /* of the superstep, + 1, is sent */
    uint32_t survived;
    uint32_t home[PIDS_MOST]; /* as it knows */
    uint32_t met_by[PIDS_MOST];
    bool moved[PIDS_MOST]; /* here, from elsewhere */
    uint64_t met[PIDS_MOST];
    struct line lines[PIDS_MOST][2];
    uint32_t zero; /* where Processor Zero is, as it knows */
    bool waits;    /* for that one's TAKEN_OVER */
    bool bears;
    uint64_t next; /* the next barrier to be decided, as the newest decision has said */
    uint64_t captures;
    struct bspz_snapshot_name committed;
};

struct process {
    uint32_t host, life, began, left; /* left: the lost host from which it has come */
    bool lives, at_barrier, ends, gone;
    uint64_t superstep, done, total, farthest, captured[STEPS_MOST], from;
};

struct world {
    struct timeline time;
    uint32_t host_count, pids;
    struct host hosts[HOSTS_MOST];
    struct process processes[PIDS_MOST];
    uint64_t link[HOSTS_MOST][HOSTS_MOST]; /* when its last message arrives */
    uint64_t cut[HOSTS_MOST][HOSTS_MOST];  /* what a lost host sent arrives up to then */
    struct coord *zero;
    uint32_t zero_at;           /* its host */
    bool committed[STEPS_MOST]; /* by any Processor Zero */
    bool over;
    /* bsprun. */
    uint32_t named; /* the host of Processor Zero */
    bool noticed[HOSTS_MOST], bears[HOSTS_MOST], asked[HOSTS_MOST];
    bool closed, wants_snapshot, back;
    struct bspz_snapshot_name saved;
    uint64_t cut_off[HOSTS_MOST];    /* what a lost host told it arrives up to then */
    struct action early[HOSTS_MOST]; /* accounts for a Processor Zero that is none yet */
    uint32_t early_count;
};

/* What happened in all jobs; each is to happen. */
struct survive_summary {
    uint64_t ended, back, lost, outlived, moved, snapshots, released, taken_back, held_up,
        abandoned, succeeded, refused, early;
};
extern struct survive_summary survive_summary;

/* ---- hosts.c ---- */

/* A message for the host, from Processor Zero or another one. */
void hosts_hear(struct world *world, uint32_t h, const struct action *action);
void hosts_call(struct world *world, const struct action *action);
void hosts_start(struct world *world, const struct action *action);
void hosts_met(struct world *world, uint32_t h);
void hosts_look(struct world *world, uint32_t h);
/* TAKE_OVER, of bsprun. */
void hosts_take_over(struct world *world, const struct action *action);

/* ---- main.c ---- */

/* Sends it from one host to another; to Processor Zero, on host 0. */
struct action *world_send(struct world *world, uint32_t from, uint32_t to,
                          const struct wire_message *message);
void world_tell_zero(struct world *world, uint32_t from, const struct wire_message *message);
/* Processor Zero is made on that host, in the place of another. */
void world_succeed(struct world *world, uint32_t h);

#endif
