/* world.h - the made-up world of hosts that hold parts of the dataspace for each other: see main.c.
 */
#ifndef SIM_COPIES_WORLD_H
#define SIM_COPIES_WORLD_H

#include "bsprun/dataspace/copies.h"
#include "tests/sim/dataspace/calls.h"
#include "tests/sim/dataspace/zones.h"
#include "tests/sim/timeline.h"

#define HOSTS         5u
#define PROCESSES     6u
#define TAGS          CALLS_TAGS
#define OPERATIONS    6u /* of a process */
#define COPIES        3u /* at most */
#define SIZE_MOST     60u
#define MEMORY        360u /* of a host, with what is beside objects: then they go to files */
#define SMALL         8u   /* ... but smaller ones */
/* Bytes of answers of a part, in some worlds: a put can grant what all other processes wait for. */
#define LOG_FEW       (2 * PROCESSES * (SIZE_MOST + 64u))
#define LOSSES        4u   /* of hosts, but one always lives, and of processes ... */
#define IMAGES        8u   /* ... restarted from one of so many images, or from the start */
#define LOSSES_WITHIN 900u /* ... all that early */
#define WITHDRAWALS   6u
#define SOON          150u
#define NOWHERE       UINT32_MAX

enum packet_kind {
    PACKET_COPY,
    PACKET_REQUEST,
    PACKET_WITHDRAW, /* of a get or read that waits, as for a snapshot of all ... */
    PACKET_WITHDRAWN,
    PACKET_ANSWER,
    PACKET_CUT,
    PACKET_PAST, /* what did that process do? */
    PACKET_PAST_IS
};

/* What a host sends to another. */
struct packet {
    enum packet_kind kind;
    struct copy_message copy;
    uint32_t pid, life, tag, round;
    uint64_t number;
    enum linear_kind call;
    bool repeats;
    uint64_t size;
    unsigned char data[]; /* of COPY its tag, too, behind the data */
};

enum action_kind {
    DO_ACT, /* the process `from` in its life `life` */
    DO_DELIVER,
    DO_LOSE_HOST,
    DO_LEARN, /* host `from` learns from Processor Zero that `to` is lost */
    DO_ADOPT, /* process `from` is restarted on some host that lives */
    DO_LOSE_PROCESS,
    DO_WITHDRAW,
    DO_IMAGE,
    DO_DURABLE /* the image of process `from` before call `number` is on enough hosts */
};

struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t from, to, life;
    uint64_t number;
    struct packet *packet;
};

struct process {
    uint32_t home; /* NOWHERE: it is to be restarted */
    uint32_t life, left;
    struct call calls[OPERATIONS];
    uint32_t made, at;
    uint32_t image; /* the call before which the newest image that counts was made */
    uint64_t behind;
    bool busy;
    bool taken_back; /* it has withdrawn its request, and does not know yet what became of it */
    uint32_t asked;  /* the host */
    /* It is restarted on another host, which asks the others for its past: */
    bool asks_past;
    uint32_t round;
    bool awaited[HOSTS];
};

struct world {
    struct timeline time;
    uint32_t host_count, process_count, copies;
    struct host {
        struct world *world;
        uint32_t number;
        bool lost;
        struct pool *pool;
        struct copies *copies;
        uint64_t answers;            /* that it has given */
        bool burdened;               /* it has said that images are wanted */
        bool gave_up;                /* ... and has given up answers that are still wanted */
        uint64_t last_moment[HOSTS]; /* when the last message to each other host comes */
        uint64_t heard_until[HOSTS]; /* of a host that is lost: what comes later does not */
    } hosts[HOSTS];
    struct process processes[PROCESSES];
    struct history histories[TAGS];
    struct calls_seen seen;
    uint32_t lost; /* hosts */
    bool over;     /* all go back */
    uint32_t tags;
    uint64_t log; /* bytes of answers that are kept of each part */
    bool gave_up; /* some host has had to give up answers */
};

struct summary {
    uint64_t operations, waited, messages, cut_off, spilled;
    uint64_t hosts_lost, two_lost, back, taken_over, again, in_log, adopted, asked_again;
    uint64_t processes_lost, held, cut, withdrawn, late, withdrawn_again;
    uint64_t burdened, gave_up, differs;
};
extern struct summary summary;

#define note(world, ...) timeline_note(&(world)->time, __VA_ARGS__)
#define fail(world, ...) timeline_fail(&(world)->time, __VA_ARGS__)

static inline uint64_t pick(struct world *world, uint64_t below)
{
    return timeline_random(&world->time, below);
}

/* ---- hosts.c: what hosts send, and carry out ---- */

void hosts_open(struct world *world, uint32_t host);
void hosts_close(struct world *world, uint32_t host);
/* A message never comes. */
void hosts_drop(const struct action *action);
/* The present call of the process goes to the host that owns its tag. */
void hosts_ask(struct world *world, uint32_t pid);
/* It is made again later, unless it is granted before. */
void hosts_withdraw(struct world *world, uint32_t pid);
void hosts_deliver(struct world *world, const struct action *action);
void hosts_learn(struct world *world, uint32_t host, uint32_t lost);
void hosts_cut(struct world *world, uint32_t pid, uint64_t number);
/* Its new host asks all others for the past of the process; then it acts. */
void hosts_ask_past(struct world *world, uint32_t pid);

/* ---- main.c: processes ---- */

void processes_plan(struct world *world, uint32_t pid, uint64_t delay);
void processes_answered(struct world *world, uint32_t pid, const void *data, uint64_t size);

#endif
