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
#define HALT_SAYINGS  2000u
#define SLOW          12u /* times as slow as another one */

enum action_kind {
    DO_ACT,
    DO_DELIVER,
    DO_GO_ON,
    DO_WITHDRAW,
    DO_ARRIVE,   /* Processor Zero hears that all on host `from` have come to the barrier */
    DO_RELEASE,  /* host `to` hears who keeps the objects */
    DO_CAPTURED, /* Processor Zero hears that host `from` has kept them */
    DO_RESUME,   /* host `to` hears that all may go on */
    DO_CALL_OFF,
    DO_HALT,        /* host `to` is asked how far its replicas are */
    DO_HALTED,      /* Processor Zero hears that from host `from` */
    DO_HALT_AT,     /* host `to` hears where they stop */
    DO_HALT_ARRIVE, /* as above, of a barrier at calls */
    DO_HALT_RELEASE,
    DO_HALT_CAPTURED,
    DO_HALT_RESUME,
    DO_HALT_END,   /* host `to` hears that all are at their end */
    DO_HALT_DUE,   /* a snapshot is */
    DO_HALT_LIMIT, /* all must have stopped */
    DO_TAKE_OVER,  /* host `to` is told who is Processor Zero, which ... */
    DO_ACCOUNT,    /* ... hears what host `from` knows, and ... */
    DO_TAKEN_OVER, /* ... says what was decided */
    DO_GO_BACK,
    DO_PUT_BACK, /* the next piece of an object */
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
    uint64_t number; /* of the round, or of what is said */
    uint32_t era;    /* of Processor Zero */
};

/* A replica of a process, on the host of that number. */
struct replica {
    bool is; /* ... there */
    uint32_t at;
    uint32_t slow; /* as many times as another one */
    struct transfer transfer;
};

/* An object in a snapshot. */
struct kept {
    unsigned char tag[32], data[SIZE_MOST];
    uint32_t tag_size;
    uint64_t size;
};

/* What a host does for a snapshot at a barrier. */
struct stop {
    bool says_arrived, captures, resumed;
};

/* What hosts and Processor Zero say of snapshots at calls: halts.c. */
struct halt_said {
    uint64_t superstep, round, requests[PROCESSES];
    uint64_t decided, captures, keepers[HOSTS];
    uint32_t keeper_count;
    bool calls, ended;
};

/* What a host knows of them. */
struct halting {
    struct stops *stops;
    uint32_t era; /* whom it obeys ... */
    bool waits;   /* ... when that one has answered */
    uint64_t superstep, decided;
    bool arrived, keeps, ended;
    uint64_t captures;                  /* as in ACCOUNT */
    uint64_t stop_in, after[PROCESSES]; /* of that superstep, from 1 */
};

/* Processor Zero. */
struct halt_zero {
    uint32_t host, era;
    enum { HALT_ZERO_RUNS, HALT_ZERO_CAPTURES, HALT_ZERO_ENDS, HALT_ZERO_ASKS } phase;
    enum { HALT_IS_NONE, HALT_IS_ASKED, HALT_IS_SAID } halt;
    uint64_t superstep, round, spared;
    uint32_t missing, arrivals, arrived[HOSTS], accounts[HOSTS];
    bool answered[HOSTS], captured[HOSTS], accounted[HOSTS];
    bool calls; /* some have arrived at calls, and not at their ends */
    uint64_t reached[PROCESSES], after[PROCESSES], after_at;
};

struct halts {
    bool on;
    uint32_t left; /* to be asked for */
    struct halt_zero zero;
    struct halting hosts[HOSTS];
    struct halt_said said[HALT_SAYINGS];
    uint32_t said_count;
};

/* A snapshot, as Processor Zero sees it, and going back to it. */
struct saved {
    enum { SAVED_NONE, SAVED_WANTED, SAVED_CAPTURING, SAVED_OVER } state;
    uint32_t arrived[HOSTS], arrivals; /* as the which host, from 1 */
    uint64_t keepers[HOSTS];
    uint32_t keeper_count;
    bool captured[HOSTS], known_lost[HOSTS], failed;
    struct stop stops[HOSTS];
    struct kept kept[TAGS];
    uint32_t kept_count;
    struct kept back[TAGS];       /* those of the last one that was taken */
    uint32_t back_count, back_at; /* ... of which so many are put back */
    uint64_t back_done;           /* bytes of the next one */
    bool goes_back;
};

struct process {
    uint32_t lead;    /* host, as Processor Zero names it */
    uint32_t barrier; /* before that call, if there is one */
    uint32_t count;   /* of the calls that it makes in all */
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
    struct saved saved;
    struct halts halts;
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
/* A host begins, or is over, whatever is on its way. */
void world_open_host(struct world *world, uint32_t number);
void world_close_host(struct world *world, uint32_t number);
/* Nothing is planned any more. */
void world_drop_plan(struct world *world);

/* ---- acts.c: what processes do ---- */

void acts_begin(struct world *world);
/* The replica goes on then. */
void acts_plan(struct world *world, uint32_t pid, uint32_t host, uint64_t delay);
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
/* All hosts look whether they wait. */
void losses_look(struct world *world);
/* A message between a host and Processor Zero, behind those before, of which the last comes then.
 */
struct action *losses_plan(struct world *world, enum action_kind kind, uint64_t *last);
void losses_end(struct world *world);
bool losses_let_pass(struct world *world, const struct action *action);
void losses_part_lost(struct world *world, const struct host *host);
/* DO_LOSE_HOST to DO_ASK_QUIET. */
void losses_carry_out(struct world *world, const struct action *action);
int losses_report(void);

/* ---- saved.c: a snapshot, and going back ---- */

void saved_begin(struct world *world);
/* Whether the replica is at the barrier, and may not pass it. */
bool saved_holds(const struct world *world, uint32_t pid, uint32_t host);
/* A replica on that host has come to it. */
void saved_arrive(struct world *world, uint32_t host);
/* Processor Zero knows that the host is lost. */
void saved_lost(struct world *world, uint32_t host);
/* The host has heard of something. */
void saved_look(struct world *world, struct host *host);
/* Whether the answer is to what is put back: so many bytes of it. */
bool saved_answered(struct world *world, uint32_t length);
/* Of the hosts of that lead the first one that has arrived, as the which; HOSTS: none has. */
uint32_t saved_first(const struct world *world, uint32_t lead, const uint32_t *arrived);
/* For each process some host has. */
bool saved_all_arrived(const struct world *world, const uint32_t *arrived);
/* The host keeps its objects. */
void saved_keep(struct world *world, struct host *host);
/* There is a snapshot, of processes after so many calls; whether all go back to it. */
bool saved_taken(struct world *world, const uint64_t *after);
/* DO_ARRIVE to DO_CALL_OFF, DO_GO_BACK, DO_PUT_BACK. */
void saved_carry_out(struct world *world, const struct action *action);
int saved_report(void);

/* ---- halts.c: snapshots at calls ---- */

void halts_begin(struct world *world);
void halts_open_host(struct world *world, struct host *host);
void halts_close_host(struct world *world, uint32_t host);
/* As those of saved.c. */
bool halts_hold(const struct world *world, uint32_t pid, uint32_t host);
void halts_arrive(struct world *world, uint32_t host);
void halts_lost(struct world *world, uint32_t host);
void halts_look(struct world *world, struct host *host);
/* A replica there is about to make a request. */
void halts_posted(struct world *world, uint32_t host);
/* DO_HALT to DO_TAKEN_OVER. */
void halts_carry_out(struct world *world, const struct action *action);
int halts_report(void);

#endif
