/* world.h - hosts that lose bsprun, under clocks of different speed, driven by one seed.
 *
 * Real are bsprun's job machine, which opens a term when those that may still compute unheard have
 * had their time, and what an agent concludes from silence (bsprun/agent/silence.h).  Made up are
 * clocks, links, agents and a bsprun around the machine.
 *
 *   clocks   each runs at its own speed; the fastest at most MILLE / 1000 times the slowest
 *   links    to each host and back keep the order; while a way is down what is sent there waits, as
 *            TCP has it, unless the sender's end is cut (net_cut)
 *   delays   a message, once its way is up, a look of an agent and the end of its processes each
 *            take up to a hundredth of the bound longer: a twenty-fifth together
 *   terms    processes run when every member has said that it has none of before; what Processor
 *            Zero and agents tell each other takes whatever time it likes
 *
 * What must hold: no two hosts compute the same process at the same time.
 */
#ifndef SIM_FENCE_WORLD_H
#define SIM_FENCE_WORLD_H

#include "bsprun/agent/silence.h"
#include "bsprun/launcher/job_machine.h"
#include "tests/sim/timeline.h"

#define HOSTS     6u
#define PROCESSES 6u
#define TERMS     64u
#define WATCHES   12u /* of bsprun, in the bound */
#define MICRO     UINT64_C(1000000)

enum way { TO_AGENT, TO_BSPRUN };

enum fault_kind {
    FAULT_DEAF,        /* what bsprun sends to a host does not come through for a while */
    FAULT_MUTE,        /* what the host sends does not */
    FAULT_CUT,         /* neither */
    FAULT_BREAK,       /* bsprun's end of the connection breaks */
    FAULT_BREAK_AGENT, /* the agent's end does */
    FAULT_PAUSE,       /* bsprun is stopped for a while */
    FAULT_KINDS
};

enum message { ALIVE, ELECT, DEAF };

enum action_kind {
    DO_WATCH, /* bsprun looks who was heard */
    DO_LOOK,  /* an agent looks */
    DO_MESSAGE,
    DO_RESET, /* the other end of a connection was cut */
    DO_MACHINE,
    DO_READY, /* Processor Zero hears that a host has nothing of before */
    DO_RUN,
    DO_DEAD, /* the processes of a host have been ended */
    DO_FAULT,
    DO_STOP /* the made-up world */
};

struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t host, life, term;
    enum way way;
    enum message message;
    bool on_wire; /* no cut of its sender's end stops it */
    uint64_t number;
    struct job_event event;
};

struct host {
    uint64_t rate; /* of its clock: ticks of a microsecond in 10^6 of them */
    uint64_t down_until[2], link_free[2];
    /* The agent */
    bool up;
    uint32_t term;
    struct silence silence;
    bool term_over, computes, ending, wants_ready, ready;
    uint32_t processes; /* bit by pid */
    uint32_t life;      /* of the connection; what belongs to an older one is nothing */
    /* bsprun's end */
    bool line;
    uint64_t heard_ms;
    uint32_t calls, answers, called_at;
};

struct world {
    struct timeline time;
    uint64_t bound_ms, rate, watched_ms; /* bsprun's */
    uint64_t paused_until;
    unsigned timer;
    struct job_machine *machine;
    uint32_t host_count, spares;
    struct host hosts[HOSTS];
    bool rolling, over, violated;
    uint32_t term, members, ready_members; /* of Processor Zero; bits */
    unsigned faults[FAULT_KINDS], terms, given_up, given_up_computing, deaf;
};

extern bool fence_beyond; /* clocks differ by more than is allowed */

#define note(world, ...)           timeline_note(&(world)->time, __VA_ARGS__)
#define fail(world, ...)           timeline_fail(&(world)->time, __VA_ARGS__)
#define random_below(world, below) timeline_random(&(world)->time, below)
#define chance(world, percent)     timeline_chance(&(world)->time, percent)

/* ---- links.c ---- */

/* A new action after so many microseconds; as timeline_plan. */
struct action *fence_plan(struct world *world, enum action_kind kind, uint64_t delay);
/* What a clock of that rate shows. */
uint64_t fence_clock_ns(const struct world *world, uint64_t rate);
uint64_t fence_bsprun_ms(const struct world *world);
/* How long, in microseconds, a clock takes to show so many milliseconds more. */
uint64_t fence_lasts(uint64_t milliseconds, uint64_t rate);
/* Of what may be late: at most a hundredth of the bound. */
uint64_t fence_delay(struct world *world);
uint64_t fence_some_time(struct world *world, uint64_t hundredths); /* of the bound, at most */
void fence_send(struct world *world, uint32_t host, enum way way, enum message message,
                uint32_t term);
/* The sender's end of a way is cut. */
void fence_cut(struct world *world, uint32_t host, enum way way);

/* ---- bsprun.c ---- */

void fence_call(struct world *world, uint32_t host);
void fence_give_up(struct world *world, uint32_t host);
void fence_carry_out(struct world *world, const struct job_effect *effect);
void fence_tell_machine(struct world *world, struct job_event event);
void fence_watch(struct world *world);
void fence_bsprun_hears(struct world *world, const struct action *action);

/* ---- agents.c ---- */

void fence_agent_up(struct world *world, uint32_t host);
void fence_agent_ends(struct world *world, uint32_t host);
void fence_agent_hears(struct world *world, const struct action *action);
void fence_look(struct world *world, const struct action *action);
void fence_dead(struct world *world, uint32_t host);
void fence_hear_ready(struct world *world, const struct action *action);
void fence_run(struct world *world, const struct action *action);

#endif
