/* world.h - the made-up world of the dataspace: see main.c. */
#ifndef SIM_DATASPACE_WORLD_H
#define SIM_DATASPACE_WORLD_H

#include "bsprun/agent/snapshot/alone_loss.h"
#include "coordinator/core/quiet.h"
#include "tests/sim/dataspace/hosts.h"

#define HOSTS            4u
#define PROCESSES        8u
#define TAGS             3u
#define OPERATIONS       6u    /* of a process */
#define BARRIERS         3u    /* ... between them, and one at the end */
#define SNAPSHOTS        3u    /* of a job, for which what waits is withdrawn ... */
#define SNAPSHOTS_WITHIN 800u  /* ... begun that early */
#define LOSSES           4u    /* of processes, which are restarted alone ... */
#define IMAGES           6u    /* ... from one of so many images, or from the start */
#define LOSSES_WITHIN    1500u /* ... both that early */
#define COPIES           3u    /* of each part, at most */
#define CHAINED          48u   /* bytes of an object that goes from one copy to the next */
#define NOWHERE          UINT32_MAX

enum action_kind {
    DO_ACT,
    DO_DELIVER,
    DO_GO_ON,
    DO_WITHDRAW,
    DO_LOSE,    /* process `from` is lost */
    DO_IMAGE,   /* ... is saved, if it is between two calls */
    DO_DURABLE, /* its image is there, of kind `number` */
    DO_LOSE_HOST,
    DO_DECIDE,     /* Processor Zero decides where the processes of host `from` go on */
    DO_TOLD,       /* host `from` is told of decision `number` */
    DO_MIRROR,     /* host `to` sees that process `from` has reached a barrier */
    DO_LOOK,       /* host `from` looks whether all its processes wait */
    DO_HEAR_QUIET, /* Processor Zero hears of host `from` */
    DO_ASK_QUIET   /* host `to` is asked */
};

struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t from, to; /* hosts; of DO_ACT a process */
    struct wire_message *message;
    uint64_t number; /* of barriers; of the round */
    uint32_t life;   /* of the process, of DO_ACT and DO_DURABLE */
};

struct process {
    uint32_t home, left; /* the host, NOWHERE: it is to be restarted; operations to come */
    uint32_t moves;      /* to another host */
    struct transfer transfer;
    struct call calls[OPERATIONS];
    uint32_t made; /* calls, by any life */
    uint32_t at;   /* the present call, or the next one */
    struct alone_images images;
    bool together; /* a snapshot of all with its image is not committed yet */
    uint32_t life;
    /* Its barriers: how many it has reached, and passed. */
    uint64_t reached, passed;
};

/* What Processor Zero has made of a loss: the new hosts of processes; NOWHERE: as before. */
struct decision {
    uint32_t lost, homes[PROCESSES];
};

struct world {
    struct timeline time;
    uint32_t host_count, process_count, copies;
    bool plain; /* the processes are said never to be restarted alone: no host is outlived */
    struct host hosts[HOSTS];
    uint64_t seen_barriers[HOSTS][PROCESSES]; /* that each process has reached, as a host sees it */
    uint64_t last_mirror[HOSTS][HOSTS];
    struct process processes[PROCESSES];
    struct history histories[TAGS];
    struct calls_seen seen;
    uint64_t barriers;
    struct quiet quiet;     /* of Processor Zero */
    unsigned looks;         /* since anything else has happened */
    uint32_t lost, decided; /* hosts */
    struct decision decisions[HOSTS];
    uint32_t zero_homes[PROCESSES]; /* as Processor Zero sees it */
    bool over;                      /* all go back */
    bool stuck;                     /* Processor Zero has ended the job */
    uint64_t withdrawn_at; /* when a request was last withdrawn, or a process lost or saved */
};

#define note(world, ...) timeline_note(&(world)->time, __VA_ARGS__)
#define fail(world, ...) timeline_fail(&(world)->time, __VA_ARGS__)

static inline uint64_t pick(struct world *world, uint64_t below)
{
    return timeline_random(&world->time, below);
}

/* ---- main.c ---- */

/* Sends what waits for room, now and later. */
void hosts_go_on(struct world *world, struct host *host);

/* ---- lives.c: processes that are lost, and restarted alone ---- */

/* Plans what is lost and saved. */
void lives_begin(struct world *world);
/* This life of the process acts after that delay. */
void lives_plan(struct world *world, uint32_t pid, uint64_t delay);
/* The process is lost: it is to begin its next life. */
void lives_next(struct world *world, uint32_t pid);
/* DO_LOSE to DO_DURABLE. */
void lives_carry_out(struct world *world, const struct action *action);
/* Of all worlds; the number of things that never happened. */
int lives_report(void);

/* ---- losses.c: hosts that are lost ---- */

/* Plans what is lost. */
void losses_begin(struct world *world);
/* Whether a message comes. */
bool losses_let_pass(struct world *world, const struct action *action);
/* Has Processor Zero decided about all losses? */
bool losses_are_decided(const struct world *world);
/* What the service says. */
void losses_part_lost(struct world *world, const struct host *host);
void losses_past(struct world *world, const struct host *host, uint32_t pid, uint64_t number);
/* DO_LOSE_HOST to DO_TOLD. */
void losses_carry_out(struct world *world, const struct action *action);
/* As lives_report. */
int losses_report(void);

/* ---- waits.c: barriers, and the search for processes that wait for ever ---- */

void waits_begin(struct world *world);
void waits_end(struct world *world);
/* The process reaches its next barrier: it goes on by DO_ACT when it is complete. */
void waits_at_barrier(struct world *world, uint32_t pid);
bool waits_is_at_barrier(const struct world *world, uint32_t pid);
/* Has the process passed its last barrier? */
bool waits_is_over(const struct world *world, uint32_t pid);
/* Processor Zero has decided where processes are now. */
void waits_moved(struct world *world);
/* What Processor Zero tells a host, in order with what it asks. */
struct action *waits_tell(struct world *world, uint32_t host);
/* DO_MIRROR to DO_ASK_QUIET. */
void waits_carry_out(struct world *world, const struct action *action);

#endif
