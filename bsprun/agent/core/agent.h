/* agent.h - the node agent: one process per host and job that does everything ranks do not.
 *
 * Happy path, under bsprun:
 *   START arrives -> the program is started -> it rings from bsp_begin -> REGISTER -> ELECT names
 *   Processor Zero (here) -> PLACE: p is known -> clones appear and are adopted -> all are ready ->
 *   RUN -> supersteps pass without the agent -> all are past bsp_end -> they exit, the program last
 * -> Processor Zero finishes -> REPORT, ENDED -> bsprun sends EXIT.  On other hosts than that of
 * process 0 no program is started: PLACE -> snapshot 0 is committed -> their processes are made
 * from it -> RUN -> ... -> END: REPORT.  See peers.h.  Bare, the ranks exist when the agent starts,
 * it elects itself, and it exits with process 0.
 *
 * What can fail: the program cannot be started (program.c); it ends before bsp_begin; a rank dies,
 * is killed or fails (ranks.c); a stop is requested by signal, time limit or Processor Zero
 * (stop.c); bsprun dies (control.c).  All of these lead to agent_stop_ranks and from there to
 * agent_finish (finish.c), exactly once.
 */
#ifndef BSPRUN_AGENT_H
#define BSPRUN_AGENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

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

#define AGENT_REPLICA_SPILL       (UINT64_C(1) << 32) /* bytes of a file, after the memory */
#define AGENT_SPIN_NS             50000u
#define AGENT_LINK_SPIN_NS        100000u /* polling other hosts, see link.h */
#define AGENT_GRACE_MS            300u    /* from the stop request to SIGKILL */
#define AGENT_GRACES_MOST         100u /* grace periods for a process 0 whose status the shell sees */
#define AGENT_NAME_VARIABLE       "BSPZERO_HOST_NAME" /* instead of the machine's */
#define AGENT_GRACE_SEQUENTIAL_MS 3000u /* the same for a program outside its SPMD part */
#define AGENT_WHY                 600u  /* bytes of an error message */

struct agent;

/* The contents of START, or the defaults of a bare run. */
struct agent_order {
    char *program;
    int process_limit;
    int cores, slots; /* of this host; of all hosts */
    uint32_t bind;    /* enum wire_bind */
    uint32_t map;     /* enum wire_map */
    uint32_t stdio;   /* enum wire_stdio */
    int stdin_pid;    /* the process that reads bsprun's stdin */
    bool report, core_dumps;
    bool report_bindings;
    uint32_t attach;      /* enum wire_attach */
    bool end_on_bad_exit; /* a failure after bsp_end ends the job */
    bool balance;         /* Processor Zero may move processes */
    bool at_once;         /* without snapshots before the one at which they move */
    uint32_t verbosity;
    uint64_t timeout_ns;
    uint32_t stacks_ms; /* the limit is bsprun's, and comes here so much later; 0: it is not */
    uint64_t consult_every, abort_at;
    uint64_t dataspace_memory;    /* bytes of objects in memory; 0: half of what is available */
    uint32_t dataspace_copies;    /* hosts that are to hold each part of the dataspace, at least 1 */
    uint32_t replicas;            /* of each process, or the most of one; 0: one */
    struct replica_counts counts; /* of each, in the newest term */
    bool any_replica_files;       /* --replica-files allow */
    uint32_t on_mismatch;         /* enum wire_mismatch */
    uint64_t replica_log;         /* bytes in memory of what is kept for replicas that are behind */
};

struct agent_binding;   /* binding.c */
struct agent_cells;     /* cells.c */
struct agent_hosting;   /* zero.c */
struct agent_limit;     /* control.c */
struct agent_times;     /* status.c */
struct agent_decided;   /* decided.c */
struct agent_known;     /* known.c */
struct kept_account;    /* succession.c */
struct agent_peers;     /* peers.c */
struct agent_relay;     /* output.c */
struct agent_snapshots; /* snapshot/inside.h */
struct agent_input;     /* input.c */
struct agent_replicas;  /* snapshot/replicas.c */
struct agent_fence;     /* fence.c */
struct agent_origin;    /* launch.c */
struct agent_wakers;    /* loop.c */
struct agent_ending;    /* stop.c */
struct agent_pause;     /* pause.c */
struct agent_rewinding; /* terms.c */
struct agent_guest;     /* guest.c */
struct agent_dataspace; /* dataspace.c */
struct agent_quiet;     /* quiet.c */
struct agent_survival;  /* survive.c */
struct agent_mail;      /* mail.c */
struct agent_stacks;    /* stacks.c */
struct agent_debug;     /* debug.c */
struct tool;            /* tool.c */
struct fetches;         /* fetch_inside.h */
struct store;           /* ckpt/store.h */

/* Posted actions, taken when no function is active that might use what they free. */
enum agent_news {
    AGENT_JOB_OVER = 1,  /* agent_job_over has set the outcome */
    AGENT_TERM_OVER = 2, /* Processor Zero has ended the term, for which the next one may wait */
    AGENT_LEAVE = 4,     /* bsprun cannot be reached: it will see that this agent has exited */
};

/* Upward calls of the parts of an agent, set when it is made; all other calls go downward. */
struct agent_calls {
    void (*rung)(struct agent *agent);      /* the doorbell */
    void (*ended)(struct watched *process); /* `gone` and `death` are set */
    void (*ordered)(struct agent *agent,
                    const struct wire_message *message); /* by Processor Zero */
    void (*news)(struct agent *agent,
                 unsigned news); /* all that were posted, bits of enum agent_news */
    struct links_calls links;
    /* For processes that are saved and restarted alone: see bsprun/agent/dataspace.h. */
    void (*interrupt)(struct agent *agent, int pid);
    void (*restarted)(struct agent *agent, int pid);
    void (*cut)(struct agent *agent, int pid, uint64_t number);
    int (*burden)(struct agent *agent);
};

struct agent {
    const struct agent_calls *calls;
    uv_loop_t loop;
    struct agent_wakers *wakers; /* of the loop: loop.c */
    unsigned news;
    bool bare;
    struct outside outside;      /* descriptors open at the start */
    pid_t bsprun;                /* its process; 0: on another host */
    struct agent_origin *origin; /* what it was started with, for those that it starts: launch.c */
    enum job_state job;
    struct agent_order order;
    unsigned char job_id[WIRE_JOB_SIZE];
    uint32_t term;
    struct election election;
    char host_name[WIRE_NAME_MAX];

    int board_fd;
    struct bspz_board *first_page; /* stays mapped: the bell thread waits in it */
    struct bspz_board *board;      /* the largest mapping so far */
    int nprocs;                    /* of the job; 0 until placed */
    struct member *members;        /* nprocs entries; those of other hosts are empty */
    uint32_t *home;                /* nprocs entries: number of the host of each */
    struct agent_cells *cells;     /* which hosts have the same processes; NULL: none */
    struct agent_decided *decided; /* barriers that Processor Zero decides: decided.c */
    struct agent_known *known;     /* what of decisions, where processes have replicas */
    struct kept_account *accounts; /* of other hosts, before this one is Processor Zero's; a list */
    int here, first_here;          /* number of processes on this host, and the lowest pid */
    int ready, ended;              /* how many of these have reached that state */
    uint64_t asked_passed;         /* + 1; bsprun waits for PASSED of it; 0: none */
    struct agent_limit *limit;     /* of time: control.c */
    struct agent_times *times;     /* that processes here count: status.c */
    struct agent_binding *binding; /* of processes to processors */
    struct watched root;
    uint64_t begin_ns, end_ns; /* of the SPMD part */

    uint32_t host;             /* number of this host */
    struct agent_peers *peers; /* the other hosts; NULL in a job of one */
    struct agent_fence *fence; /* ends the processes when bsprun is silent; NULL: never */
    struct agent_pause *pause; /* of processes for the host's owner; NULL: never */
    struct agent_guest *guest; /* watches that owner; NULL: nobody does */
    const char *view;          /* the directory in which owners are seen; "": that of the system */
    struct agent_dataspace *dataspace; /* what processes put there; NULL: nothing yet */
    pthread_mutex_t dataspace_lock;
    struct agent_mail *mail;           /* messages of MPI; NULL: nothing yet */
    struct agent_quiet *quiet;         /* looks whether all processes wait; NULL: nobody does */
    struct agent_survival *survival; /* of losses of hosts; NULL: none is borne */
    uint32_t survived;               /* of them in this term */
    struct fetches *fetches;           /* file transfers between hosts; NULL: none yet */
    struct agent_stacks *stacks;       /* of the processes here; NULL: nobody has asked for them */
    struct agent_debug *debug;         /* of processes here; NULL: none is to have a debugger */
    struct tool *tools;                /* commands of the system that run; a list */
    struct agent_replicas *replicas;   /* images kept for other hosts; NULL: none yet */
    struct net_connection *control;    /* to bsprun; NULL when bare or lost */
    struct coord_shell *zero;          /* Processor Zero, when it is here */
    struct agent_hosting *hosting;     /* what that needs: zero.c */
    struct agent_relay *relay;         /* of the ranks' output; NULL when they inherit it */
    struct agent_snapshots *snapshots; /* NULL in a job without */
    struct store *store;               /* of snapshots; NULL: none */
    struct bspz_snapshot_name
        committed; /* the newest one known in this term, initially that it began from */
    struct bspz_snapshot_name coming; /* the one being taken, or the last one */
    struct agent_input *input;        /* stdin of process 0, with snapshots */

    struct link_bell link_bell; /* for the links of the present term, on several hosts */

    struct agent_rewinding *rewinding; /* the end of a term: terms.c */
    struct agent_ending *ending;       /* how the job ended, as far as known: stop.c */
    bool dismissed;                    /* bsprun has finished with this agent */
    bool finished;
};

/* What the job has: whether it is on several hosts, takes snapshots, has its output relayed by this
 * agent, and has used the dataspace here. */
static inline bool agent_has_peers(const struct agent *agent)
{
    return agent->peers != NULL;
}

static inline bool agent_has_snapshots(const struct agent *agent)
{
    return agent->snapshots != NULL;
}

static inline bool agent_has_relay(const struct agent *agent)
{
    return agent->relay != NULL;
}

static inline bool agent_has_dataspace(const struct agent *agent)
{
    return agent->dataspace != NULL;
}

/* Posts news: calls->news is called before the loop waits again, never before this returns. */
static inline void agent_post(struct agent *agent, enum agent_news news)
{
    agent->news |= news;
}

#endif
