/* world.h - the made-up world of the dataspace with replicas: see main.c. */
#ifndef SIM_CELLS_WORLD_H
#define SIM_CELLS_WORLD_H

#include "bsprun/agent/core/gate.h"
#include "bsprun/agent/core/known.h"
#include "coordinator/core/coord.h"
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
#define BARRIERS      64u   /* at calls, at most */
#define SLOW          12u   /* times as slow as another one */

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
    DO_TO_ZERO,    /* Processor Zero of that era hears a message of host `from` ... */
    DO_TO_HOST,    /* ... and host `to` one of it */
    DO_TIMER,      /* `pid` of that Processor Zero */
    DO_SAVE,       /* bsprun wants a snapshot */
    DO_CLOSED,     /* ... and agrees to the end */
    DO_TAKE_OVER,  /* it says to host `to` who is Processor Zero */
    DO_MEET,       /* host `to` hears that those on host `from` have come to a barrier */
    DO_LEAVE,      /* a process leaves it, on host `to` */
    DO_IMAGE,      /* its image is written */
    DO_HALT_LIMIT, /* all must have stopped */
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
    uint64_t number; /* of the round, the barrier, the snapshot, or the setting of a timer */
    uint32_t era;    /* of Processor Zero */
    bool calls;      /* some are at calls, and not at their ends; */
    uint64_t round;  /* the newest in which the host has heard where to stop */
};

/* Whether a replica is at a barrier, or its image is being made behind it. */
enum stays { STAYS_NOT, STAYS_AT_BARRIER, STAYS_CAPTURED };

/* A replica of a process, on the host of that number. */
struct replica {
    bool is; /* ... there */
    uint32_t at;
    uint32_t slow;      /* as many times as another one */
    uint64_t superstep; /* with snapshots at calls */
    enum stays stays;
    bool on_board; /* its request waits there */
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

/* Processor Zero: one, and others in its place, each when the host of the one before is lost. */
struct zero {
    struct coord *coord;
    uint32_t host;
    unsigned timers[COORD_TIMER_COUNT]; /* settings */
};

/* What a host knows of barriers, as agents do. */
struct halting {
    struct stops *stops;
    bool begun;   /* it has something to do with the dataspace */
    uint32_t era; /* whom it obeys ... */
    bool waits;   /* ... when that one has answered */
    struct known known;
    uint64_t committed; /* + 1 */
    uint64_t consult;   /* barriers from there on are to be decided */
    uint64_t superstep; /* at the end of which processes here are at a barrier, or come to it */
    struct gate *gate;
    bool left;             /* they are past that of their end */
    uint64_t captures;     /* the snapshot of which their images are; 0: of none */
    bool captured, passed; /* passed: the others have gone on before it was */
    enum { MET_NOT, MET_AT_END, MET_AT_CALL } met[BARRIERS][HOSTS]; /* by lead */
    uint64_t met_early[BARRIERS][HOSTS]; /* at calls, by host, before it knew where they stop: the
                                            round in which that was said, + 1 */
    uint64_t stops_known;                /* supersteps at whose end it knows, */
    uint64_t stops_round;                /* of the last one as said in that round */
    uint64_t stop_in, after[PROCESSES];  /* of that superstep, from 1 */
};

struct halts {
    bool on;
    struct coord_config config;
    struct wire_host listed[HOSTS];
    uint64_t homes[PROCESSES], pairs[2 * HOSTS]; /* as PLACE has said */
    uint32_t pair_count;
    struct bspz_snapshot_name told; /* the newest snapshot, as bsprun knows */
    struct zero zeros[HOSTS + 1];
    uint32_t era; /* the last of them */
    bool shared;  /* the directory of snapshots */
    bool stalls;  /* a host has stood still */
    struct halting hosts[HOSTS];
    uint64_t passed[BARRIERS][PROCESSES]
                   [HOSTS]; /* calls before that barrier, + 1; 0: not past it */
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
    uint64_t snapshot, kept_after[PROCESSES]; /* at calls: its number; calls before the images */
    struct kept back[TAGS];                   /* those of the last one that was taken */
    uint32_t back_count, back_at;             /* ... of which so many are put back */
    uint64_t back_done;                       /* bytes of the next one */
    uint64_t committed;                       /* the newest one at calls */
    bool goes_back;                           /* some time */
    bool puts_back;                           /* ... now */
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

static inline struct halting *halting_of(struct world *world, uint32_t host)
{
    return &world->halts.hosts[host];
}

static inline struct replica *replica_on(struct world *world, uint32_t pid, uint32_t host)
{
    return &world->processes[pid].replicas[host];
}

static inline bool has_replicas(const struct world *world, uint32_t host)
{
    for (uint32_t pid = 0; pid < world->process_count; pid++)
        if (world->processes[pid].replicas[host].is)
            return true;
    return false;
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
/* What the host says, whether or not it waits, to a question or of its own accord. */
struct wire_quiet losses_quiet(const struct world *world, const struct host *host, uint64_t round);
/* Processor Zero says that none can go on. */
void losses_stuck(struct world *world);
/* The host is told of it. */
void losses_told(struct world *world, struct host *host, uint32_t lost);
int losses_report(void);

/* ---- saved.c: a snapshot, and going back ---- */

void saved_begin(struct world *world);
/* Whether the replica is at the barrier, and may not pass it. */
bool saved_holds(const struct world *world, uint32_t pid, uint32_t host);
/* The replica on that host has come to it. */
void saved_arrive(struct world *world, uint32_t pid, uint32_t host);
/* Processor Zero knows that the host is lost. */
void saved_lost(struct world *world, uint32_t host);
/* The host has heard of something. */
void saved_look(struct world *world, struct host *host);
/* All go back to it now. */
void saved_back(struct world *world);
/* Whether the answer is to what is put back: so many bytes of it. */
bool saved_answered(struct world *world, uint32_t length);
/* The host keeps its objects; counts: they are of the snapshot that is taken. */
void saved_keep(struct world *world, struct host *host, bool counts);
/* That snapshot at calls is committed.  All may go back to it. */
void saved_committed(struct world *world, uint64_t snapshot);
/* DO_ARRIVE to DO_CALL_OFF, DO_GO_BACK, DO_PUT_BACK. */
void saved_carry_out(struct world *world, const struct action *action);
int saved_report(void);

/* ---- zero.c: Processor Zero, and bsprun, of snapshots at calls ---- */

/* Says who has which processes. */
void zero_begin(struct world *world);
void zero_end(struct world *world);
/* Plans what may happen to it. */
void zero_plan(struct world *world);
/* bsprun knows that the host is lost. */
void zero_lost(struct world *world, uint32_t host);
/* DO_TO_ZERO, DO_TIMER, DO_SAVE, DO_CLOSED, DO_HALT_LIMIT. */
void zero_carry_out(struct world *world, const struct action *action);
/* All that were to come to their ends have. */
void zero_check_end(const struct world *world);
int zero_report(void);

/* ---- barriers.c: with snapshots at calls ---- */

/* The host says that to Processor Zero, unless it waits for another one. */
void halts_say(struct world *world, uint32_t host, struct wire_message message);
/* ARRIVE. */
void barriers_say(struct world *world, uint32_t host, uint64_t superstep,
                  enum wire_barrier barrier);
/* The replica is where it is to stop; has come to the barrier. */
bool barriers_hold(const struct world *world, uint32_t pid, uint32_t host);
void barriers_arrive(struct world *world, uint32_t pid, uint32_t host);
/* All processes of the host stay so. */
bool barriers_stay(const struct world *world, uint32_t host, enum stays how);
/* Whether they wait for what Processor Zero decides. */
bool barriers_await(const struct world *world, uint32_t host);
/* The host asks, if all have come. */
void barriers_ask(struct world *world, uint32_t host);
/* Those that wait go on, one after the other. */
void barriers_pass(struct world *world, uint32_t host, const struct decided *decided);
/* DO_MEET, DO_LEAVE. */
void barriers_meet(struct world *world, const struct action *action);
/* The host has heard where processes stop at the end of that superstep. */
void barriers_know_stop(struct world *world, uint32_t host, uint64_t superstep, uint64_t round);
void barriers_leave(struct world *world, uint32_t pid, uint32_t host);
/* Whether a process waits at a barrier to which others have still to come, as far as that host
 * knows; what it says of barriers in QUIET. */
bool barriers_wait(const struct world *world, uint32_t pid, uint32_t host);
void barriers_quiet(const struct world *world, uint32_t host, struct wire_quiet *quiet);
void barriers_open_host(struct world *world, struct host *host);
int barriers_report(void);

/* ---- halts.c: hosts, with snapshots at calls ---- */

void halts_open_host(struct world *world, struct host *host);
void halts_close_host(struct world *world, uint32_t host);
void halts_look(struct world *world, struct host *host);
/* Whether it has been told where processes stop at the barrier before that superstep. */
bool halts_know(const struct world *world, uint32_t host, uint64_t superstep);
/* The host has to do with the dataspace. */
void halts_begun(struct world *world, uint32_t host);
/* A replica there makes a request; false: that waits on the board. */
bool halts_posted(struct world *world, uint32_t pid, uint32_t host);
/* DO_TO_HOST, DO_TAKE_OVER, DO_MEET, DO_LEAVE, DO_IMAGE. */
void halts_carry_out(struct world *world, const struct action *action);
int halts_report(void);

#endif
