/* world.h - the made-up world of the dataspace with replicas: see main.c. */
#ifndef SIM_CELLS_WORLD_H
#define SIM_CELLS_WORLD_H

#include "coordinator/core/quiet.h"
#include "tests/sim/dataspace/hosts.h"

#define HOSTS         6u
#define CELLS         3u
#define REPLICAS      3u /* of a process, at most */
#define PROCESSES     5u
#define TAGS          3u
#define OPERATIONS    8u    /* of a process */
#define WITHDRAWALS   6u    /* of requests, as for a snapshot ... */
#define LOSSES        4u    /* of hosts ... */
#define LOSSES_WITHIN 1200u /* ... both that early */
#define COPIES        3u    /* of each part, at most */
#define SLOW          12u   /* times as slow as another one */

enum action_kind {
    DO_ACT,
    DO_DELIVER,
    DO_GO_ON,
    DO_WITHDRAW,
    DO_LOSE_HOST,
    DO_DECIDE,     /* Processor Zero knows that host `from` is lost */
    DO_TOLD,       /* host `to` is told that host `from` is lost */
    DO_LOOK,       /* host `from` looks whether all its processes wait */
    DO_HEAR_QUIET, /* Processor Zero hears of host `from` */
    DO_ASK_QUIET   /* host `to` is asked */
};

struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t from, to; /* hosts */
    uint32_t pid;
    struct wire_message *message;
    uint64_t number; /* of the round */
};

/* A replica of a process, on the host of that number. */
struct replica {
    bool is; /* ... there */
    uint32_t at;
    uint32_t slow; /* as many times as another one */
    struct transfer transfer;
};

struct process {
    uint32_t lead;  /* host, as Processor Zero names it */
    uint32_t count; /* of the calls that it makes in all */
    struct call calls[OPERATIONS];
    uint32_t made; /* calls, by any replica */
    struct replica replicas[HOSTS];
};

/* A replica does something else than the others. */
struct fault {
    bool planned, done;
    uint32_t pid, host, at;
    bool tag; /* for another tag, else other data */
};

struct world {
    struct timeline time;
    uint32_t host_count, process_count, copies, cut_every;
    uint32_t passed; /* bytes that one replica gets from another */
    uint64_t log;    /* bytes of answers */
    uint32_t leads[HOSTS];
    struct host hosts[HOSTS];
    bool too_far[HOSTS][PROCESSES][HOSTS]; /* a host has said so of a process on another */
    struct process processes[PROCESSES];
    struct history histories[TAGS];
    struct calls_seen seen;
    struct fault fault;
    struct quiet quiet; /* of Processor Zero */
    unsigned looks;     /* since anything else has happened */
    uint32_t lost, decided;
    bool over;             /* all go back */
    bool stuck;            /* Processor Zero has ended the job */
    uint64_t withdrawn_at; /* when a request was last withdrawn */
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

/* ---- acts.c: what processes do ---- */

void acts_begin(struct world *world);
bool acts_are_over(const struct process *process, const struct replica *replica);
/* What the service says. */
void acts_answered(struct world *world, uint32_t host, uint32_t pid, uint64_t size,
                   uint32_t length);
void acts_withdrawn(struct world *world, uint32_t host, uint32_t pid);
/* DO_ACT, DO_WITHDRAW. */
void acts_carry_out(struct world *world, const struct action *action);
void acts_check_end(struct world *world);
/* Of all worlds; the number of things that never happened. */
int acts_report(void);

/* ---- losses.c: hosts that are lost, and what Processor Zero asks ---- */

void losses_begin(struct world *world);
void losses_end(struct world *world);
bool losses_let_pass(struct world *world, const struct action *action);
void losses_part_lost(struct world *world, const struct host *host);
/* DO_LOSE_HOST to DO_ASK_QUIET. */
void losses_carry_out(struct world *world, const struct action *action);
int losses_report(void);

#endif
