/* agent.h - the node agent: one process per host and job that does everything ranks do not.
 *
 * Happy path, under bsprun:
 *   START arrives -> the program is started -> it rings from bsp_begin -> REGISTER -> ELECT names
 *   Processor Zero (here) -> PLACE: p is known -> clones appear and are adopted -> all are ready ->
 *   RUN -> supersteps pass without us -> all are past bsp_end -> they leave, the program last ->
 *   Processor Zero finishes -> REPORT, ENDED -> bsprun says EXIT.
 * With other hosts, those where process 0 does not live get no program to start: PLACE -> snapshot 0
 * is committed -> their processes are made of it -> RUN -> ... -> END: REPORT.  See peers.h.
 * Bare, the ranks exist when the agent starts, it elects itself, and it leaves with process 0.
 *
 * What can fail: the program cannot be started (program.c); it ends before bsp_begin; a rank dies, is
 * killed or gives up (ranks.c); a stop is asked for by signal, time limit or Processor Zero
 * (stop.c); bsprun dies (control.c).  All of these lead to agent_stop_ranks and from there to
 * agent_finish (finish.c), exactly once.
 */
#ifndef BSPRUN_AGENT_H
#define BSPRUN_AGENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <uv.h>

#include "bsprun/agent/core/cores.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/outside.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/link/link.h"
#include "bsprun/process.h"
#include "coordinator/shell.h"
#include "lib/net/net.h"
#include "lib/shm/barrier.h"
#include "lib/shm/board.h"

#define AGENT_SPIN_NS             50000u
#define AGENT_LINK_SPIN_NS        100000u /* asking other hosts, see link.h */
#define AGENT_GRACE_MS            300u  /* from "leave" to SIGKILL */
#define AGENT_GRACES_MOST         100u  /* more of them for a process 0 whose status the shell sees */
#define AGENT_SPARE_DESCRIPTORS   3     /* to look through /proc with when the job is stopped */
#define AGENT_NAME_VARIABLE       "BSPZERO_HOST_NAME" /* instead of the machine's */
#define AGENT_GRACE_SEQUENTIAL_MS 3000u /* the same for a program outside its SPMD part */
#define AGENT_WHY                 600u  /* bytes of a line that says why something could not be */

struct agent;

/* What START said, or the defaults of a bare run. */
struct agent_order {
    char *program;
    int process_limit;
    int cores, slots; /* of this host; of all hosts */
    uint32_t bind;    /* enum wire_bind */
    uint32_t stdio;   /* enum wire_stdio */
    bool report, core_dumps;
    uint32_t verbosity;
    uint64_t timeout_ns;
    uint64_t consult_every, abort_at;
};

struct agent_peers;     /* peers.c */
struct agent_relay;     /* output.c */
struct agent_snapshots; /* snapshot/inside.h */
struct agent_input;     /* input.c */
struct agent_replicas;  /* snapshot/replicas.c */
struct agent_fence;     /* fence.c */
struct fetches;         /* fetch_inside.h */
struct store;           /* ckpt/store.h */

/* What an agent is to do when nothing is under way any more that could hand on what it takes away. */
enum agent_news {
    AGENT_JOB_OVER = 1,  /* agent_job_over has said how */
    AGENT_TERM_OVER = 2, /* Processor Zero has ended the term: the next one may wait for that */
    AGENT_LEAVE = 4,     /* bsprun cannot be told: it sees that this agent is gone */
};

/* News go up by these calls, given when the agent is made; all else that the parts of an agent call lies
 * below them. */
struct agent_calls {
    void (*rung)(struct agent *agent);          /* the doorbell */
    void (*ended)(struct watched *process);     /* `gone` and `death` are filled in */
    void (*ordered)(struct agent *agent, const struct wire_message *message); /* by Processor Zero */
    void (*news)(struct agent *agent, unsigned news); /* bits of enum agent_news, all that were posted */
    struct links_calls links;
};

struct agent {
    const struct agent_calls *calls;
    uv_loop_t loop;
    uv_prepare_t before_waiting; /* news are taken */
    unsigned news;
    bool bare;
    struct process_signals signals; /* as the agent found them */
    struct rlimit descriptors;      /* their limit, as the agent found it: the program's */
    struct outside outside;         /* what was open already */
    pid_t caller_group;             /* process group of bsprun, where the program belongs */
    enum job_state job;
    struct agent_order order;
    unsigned char job_id[WIRE_JOB_SIZE];
    uint32_t term;
    struct election election;
    char host_name[WIRE_NAME_MAX];

    int spare[AGENT_SPARE_DESCRIPTORS];
    int board_fd;
    struct bspz_board *first_page; /* stays mapped: the bell thread waits in it */
    struct bspz_board *board;      /* the widest view so far */
    int nprocs;                    /* of the job; 0 until placed */
    struct member *members;        /* nprocs of them; those of other hosts stay empty */
    uint32_t *home;                /* nprocs: the number of the host each lives on */
    int here, first_here;          /* how many live on this host, and the lowest pid of them */
    int ready, ended;              /* how many of these have got that far */
    uint64_t consulted;            /* newest consultation passed on */
    bool end_reported;             /* ... which was the barrier of bsp_end */
    bool let_out;                  /* ... and Processor Zero has answered it */
    uint64_t asked_passed;         /* bsprun wants to know when we have passed it; + 1, 0: nothing */
    struct cores_claim cores;
    struct watched root;
    uint64_t begin_ns, end_ns; /* of the SPMD part */

    uint32_t host;                  /* the number of this one */
    struct agent_peers *peers;      /* the other hosts; NULL in a job of one */
    struct agent_fence *fence;      /* ends what runs here when bsprun is not heard of; NULL: never */
    struct fetches *fetches;        /* files on their way between them; NULL: none yet */
    struct agent_replicas *replicas; /* images that are kept for them; NULL: none yet */
    struct net_connection *control; /* to bsprun; NULL when bare or lost */
    struct coord_shell *zero;       /* Processor Zero, when it is here */
    struct wire_real learned[ESTIMATE_NUMBERS]; /* by it, as it is told to bsprun */
    struct agent_relay *relay;      /* of the ranks' output; NULL when they inherit it */
    struct agent_snapshots *snapshots; /* NULL in a job without */
    struct store *store;               /* of the snapshots; NULL: there is none */
    struct coord_name committed;       /* the newest one known of in this term; what it began from */
    struct coord_name coming;          /* the one that is being taken, or was last */
    struct agent_input *input;         /* stdin of process 0, with snapshots */

    struct link_bell link_bell; /* to the links of the present term, on several hosts */
    uv_async_t bell;
    pthread_t bell_thread;
    bool bell_running;
    atomic_bool bell_stop;
    uv_signal_t on_signal[6], on_child;
    unsigned more_graces;
    uv_timer_t grace_timer, limit_timer, sweep_timer, look_timer, zero_timers[COORD_TIMER_COUNT];

    /* How the job ended, as it is known. */
    struct coord_outcome outcome;
    char *blame;       /* message for the user, "" when none is due */
    char *blame_table; /* where every process was, or NULL */
    bool ended_elsewhere; /* Processor Zero of another host has told bsprun */
    bool dismissed;       /* bsprun wants nothing more of this agent */
    uint64_t stop_ns;  /* when a stop was first asked for, 0 if never */
    int stop_signal;   /* the user's, 0 if none */
    bool finished;
};

/* Tells the agent of it (calls->news) before the loop waits again: never before this returns. */
static inline void agent_post(struct agent *agent, enum agent_news news)
{
    agent->news |= news;
}

#endif
