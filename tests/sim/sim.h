/* sim.h - a job in a made-up world: hosts, agents, links and faults driven by one seed.
 *
 * Processor Zero is the real one (coordinator/), its messages pass through the real encoder and
 * decoder; everything around it is virtual.  The same seed always gives the same run.
 *
 * What is modelled:
 *   links    keep the order between two ends, with a random delay for each message, so messages of
 *            different links overtake one another
 *   agents   start processes, let them compute, arrive at barriers, leave them, exit
 *   bsprun   elects Processor Zero, opens a new term when its host is lost, asks for the end, and
 *            sweeps everything away when the job is over
 *   faults   see enum fault_kind
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/shell.h"
#include "tests/sim/timeline.h"

#define HOSTS     6u
#define RANKS_MAX 48u
#define TERMS     2u /* the first Processor Zero and its successor */
#define NOBODY    UINT32_MAX

enum fault_kind {
    FAULT_RANK_KILLED,
    FAULT_RANK_EXITS,
    FAULT_RANK_ABORTS,
    FAULT_AGENT_DIES,    /* noticed soon; what it had sent may be lost */
    FAULT_AGENT_FREEZES, /* noticed late; what it had sent arrives before or after that */
    FAULT_CUT_OFF,       /* the host of Processor Zero loses the network and does not know */
    FAULT_BAD_AGENT,     /* sends what no agent would send */
    FAULT_OLD_MESSAGE,   /* something of an earlier term turns up */
    FAULT_STOP,          /* bsprun gets a signal */
    FAULT_TIMEOUT,
    FAULT_KINDS
};

struct rank {
    bool alive;
    uint32_t host; /* index, once it has been started */
    bool at_barrier;
    bool past_end;
    uint64_t superstep;
};

struct agent {
    uint32_t id;
    uint32_t slots;
    uint32_t term; /* 0: not yet started */
    bool dead;
    bool cut_off;  /* messages between it and others are lost */
    bool bad;      /* has lied; nothing is demanded of it any more */
    bool stopping; /* told to stop its processes */
    bool over;     /* has got END, or was swept by bsprun */
    bool out;      /* of its term: Processor Zero has dropped it; waits for another */
    bool given_up; /* ... or may count it as lost */
    uint32_t first, count;
    uint64_t consult;
    bool waiting; /* all its processes are at the barrier that ends `barrier`, an answer is to
                     come */
    uint64_t barrier;
};

struct world;

struct zero {
    struct world *world;
    struct coord_shell *shell;
    uint32_t host; /* index */
    uint32_t term;
    bool gone; /* with its host */
    bool finished;
    bool ended;     /* END was sent */
    unsigned timer; /* counts settings; an older one that expires means nothing */
    struct coord_outcome outcome;
    double watched; /* host seconds, so far */
};

enum action_kind {
    DO_START_AGENT,
    DO_DELIVER_TO_ZERO,
    DO_DELIVER_TO_AGENT,
    DO_REPORT_READY,
    DO_RANK_ARRIVES,
    DO_RANK_EXITS,
    DO_RANKS_STOPPED,
    DO_NOTICE_LOSS, /* Processor Zero learns that a host is lost */
    DO_CUT_AGENT,   /* one that is cut off ends */
    DO_DROP_AGENT,  /* an agent learns that Processor Zero has dropped it */
    DO_TIMER,
    DO_OPEN_TERM,
    DO_ELECT,
    DO_STOP,
    DO_SWEEP,
    DO_FAULT
};

struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t host; /* index */
    uint32_t term;
    uint32_t number; /* pid, timer or fault */
    struct bspz_buffer frame;
};

struct world {
    struct timeline time;
    uint64_t link_free[TERMS + 1][HOSTS][2]; /* when the last message on a link arrives */

    uint32_t host_count;
    struct agent agents[HOSTS];
    struct rank ranks[RANKS_MAX];
    uint32_t registrar; /* where the program starts */
    uint32_t wanted, limit;
    uint32_t processes;  /* once placed */
    uint64_t supersteps; /* that the program has */
    uint32_t early;      /* a process that calls bsp_end one superstep early, or NOBODY */
    uint64_t consult_every, abort_at;
    uint32_t status; /* of process 0 */

    struct zero zeros[TERMS + 1]; /* by term */
    uint32_t term;
    bool job_over; /* bsprun knows ... */
    uint64_t over_since;
    bool stop_asked;
    unsigned possible;            /* bit mask of causes that what happened can lead to */
    unsigned faults[FAULT_KINDS]; /* how many took effect */
};

/* timeline.c, of this world */
#define sim_random(world, below)   timeline_random(&(world)->time, below)
#define sim_chance(world, percent) timeline_chance(&(world)->time, percent)
#define sim_log(world, ...)        timeline_note(&(world)->time, __VA_ARGS__)
#define sim_fail(world, ...)       timeline_fail(&(world)->time, __VA_ARGS__)

/* world.c */
struct action *sim_plan(struct world *world, enum action_kind kind, uint64_t delay);
void sim_make_world(struct world *world, const struct seeds_job *job);
void sim_free_world(struct world *world);
void sim_run(struct world *world);

/* links.c */
void sim_send_to_zero(struct world *world, uint32_t host, struct wire_message *message);
void sim_send_to_agent(struct world *world, struct zero *zero, uint32_t host,
                       const struct wire_message *message);
void sim_drop_in_flight(struct world *world, uint32_t host, unsigned percent);
void sim_open_zero(struct world *world, uint32_t host, const bool *members);
void sim_deliver_to_zero(struct world *world, struct action *action);
uint32_t sim_host_index(const struct world *world, uint32_t id);

/* agents.c */
void sim_agent_start(struct world *world, uint32_t host);
void sim_agent_message(struct world *world, uint32_t host, const struct wire_message *message);
void sim_agent_ready(struct world *world, uint32_t host);
void sim_agent_stopped(struct world *world, uint32_t host, uint32_t term);
void sim_agent_elect(struct world *world, uint32_t host, uint32_t term);
void sim_agent_gone(struct world *world, uint32_t host);
void sim_agent_dropped(struct world *world, uint32_t host, uint32_t term);
void sim_rank_arrives(struct world *world, uint32_t host, uint32_t pid);
void sim_rank_exits(struct world *world, uint32_t host, uint32_t pid, uint32_t status,
                    uint32_t signal);
bool sim_rank_on(const struct world *world, uint32_t host, uint32_t pid);

/* faults.c */
void sim_fault(struct world *world, enum fault_kind kind);
void sim_lose_host(struct world *world, uint32_t host, uint64_t notice);

/* check.c: the invariants */
void sim_check_step(struct world *world, struct zero *zero, enum coord_phase before);
void sim_check_leave(struct world *world, uint32_t host, uint64_t superstep);
void sim_check_place(struct world *world, struct zero *zero, const struct wire_place *place);
void sim_check_end(struct world *world);

#endif
