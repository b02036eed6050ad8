/* agent.h - the node agent: one process per host and job that does everything ranks do not.
 *
 * Happy path, under bsprun:
 *   START arrives -> the program is started -> it rings from bsp_begin -> REGISTER -> ELECT names
 *   Processor Zero (here) -> PLACE: p is known -> clones appear and are adopted -> all are ready ->
 *   RUN -> supersteps pass without us -> all are past bsp_end -> they leave, the program last ->
 *   Processor Zero finishes -> REPORT, ENDED -> bsprun says EXIT.
 * Bare, the ranks exist when the agent starts, it elects itself, and it leaves with process 0.
 *
 * What can fail: the program cannot be started (root.c); it ends before bsp_begin; a rank dies, is
 * killed or gives up (ranks.c); a stop is asked for by signal, time limit or Processor Zero
 * (stop.c); bsprun dies (control.c).  All of these lead to agent_stop_ranks and from there to
 * agent_finish, exactly once.
 */
#ifndef BSPRUN_AGENT_H
#define BSPRUN_AGENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

#include "bsprun/cores.h"
#include "bsprun/job.h"
#include "bsprun/process.h"
#include "bsprun/verdict.h"
#include "coordinator/shell.h"
#include "lib/net/net.h"
#include "lib/shm/barrier.h"
#include "lib/shm/board.h"

#define AGENT_SPIN_NS             50000u
#define AGENT_GRACE_MS            300u  /* from "leave" to SIGKILL */
#define AGENT_SPARE_DESCRIPTORS   3     /* to look through /proc with when the job is stopped */
#define AGENT_GRACE_SEQUENTIAL_MS 3000u /* the same for a program outside its SPMD part */

struct agent;

/* A process watched by its pidfd. */
struct watched {
    struct agent *agent;
    int pid; /* BSP process number; AGENT_ROOT for the started program */
    pid_t ospid;
    int pidfd;
    uv_poll_t poll;
    bool watching; /* the poll handle is open */
    bool gone;
    struct death death;
};
#define AGENT_ROOT (-1)

struct member {
    struct watched process;
    bool adopted;
    bool missed;               /* it was gone before it could be adopted */
    bool exit_reported;        /* RANK_EXITED went to Processor Zero */
    enum bspz_rank_state seen; /* newest mark that was acted upon */
};

/* What START said, or the defaults of a bare run. */
struct agent_order {
    char *program;
    int process_limit;
    int cores;
    uint32_t bind;  /* enum wire_bind */
    uint32_t stdio; /* enum wire_stdio */
    bool report, core_dumps;
    uint32_t verbosity;
    uint64_t timeout_ns;
    uint64_t consult_every, abort_at;
};

struct agent_relay; /* output.c */

struct agent {
    uv_loop_t loop;
    bool bare;
    struct process_signals signals; /* as the agent found them */
    pid_t caller_group;             /* process group of bsprun, where the program belongs */
    enum job_state job;
    struct agent_order order;
    unsigned char job_id[WIRE_JOB_SIZE];
    uint32_t term;
    char host_name[WIRE_NAME_MAX];

    int spare[AGENT_SPARE_DESCRIPTORS];
    int board_fd;
    struct bspz_board *first_page; /* stays mapped: the bell thread waits in it */
    struct bspz_board *board;      /* the widest view so far */
    int nprocs;                    /* 0 until placed */
    struct member *members;        /* nprocs of them */
    int adopted, ready, ended;     /* how many have got that far */
    uint64_t consulted;            /* newest consultation passed on */
    bool end_reported;             /* ... which was the barrier of bsp_end */
    struct cores_claim cores;
    struct watched root;
    uint64_t begin_ns, end_ns; /* of the SPMD part */

    struct net_connection *control; /* to bsprun; NULL when bare or lost */
    struct coord_shell *zero;       /* Processor Zero, once elected */
    struct agent_relay *relay;      /* of the ranks' output; NULL when they inherit it */

    uv_async_t bell;
    pthread_t bell_thread;
    bool bell_running;
    atomic_bool bell_stop;
    uv_signal_t on_signal[4], on_child;
    uv_timer_t grace_timer, limit_timer, zero_timer, sweep_timer;

    /* How the job ended, as it is known. */
    struct coord_outcome outcome;
    char *blame;       /* message for the user, "" when none is due */
    char *blame_table; /* where every process was, or NULL */
    uint64_t stop_ns;  /* when a stop was first asked for, 0 if never */
    int stop_signal;   /* the user's, 0 if none */
    bool finished;
};

/* ---- agent.c ---- */

/* Prepares loop, timers, signals and bell; not yet a board. */
int agent_init(struct agent *agent, bool bare);
/* Runs the loop until the agent has nothing left to do, then cleans up; the exit status. */
int agent_run(struct agent *agent);
/* Starts the bell on the board that was just mapped. */
int agent_start_bell(struct agent *agent);
uint64_t agent_now_ns(void);
/* Closes every handle so that the loop ends. */
void agent_close(struct agent *agent);

/* ---- ranks.c ---- */

int agent_watch(struct agent *agent, struct watched *process, int pid, pid_t ospid);
/* Looks at the board for whatever changed since the last look. */
void agent_scan(struct agent *agent);
/* p is decided: maps the slots and lets process 0 go on.  0 or -errno. */
int agent_place(struct agent *agent, int nprocs);
/* A process has ended, or a flag changed: is the job over? */
void agent_check_over(struct agent *agent);

/* ---- zero.c ---- */

/* This agent is Processor Zero for `term`. */
int agent_elect(struct agent *agent, uint32_t term);
/* A message of this agent to Processor Zero. */
void agent_tell_zero(struct agent *agent, struct wire_message *message);
void agent_arrived(struct agent *agent, uint64_t superstep, enum wire_barrier barrier);
void agent_rank_exited(struct agent *agent, int pid, const struct death *death);

/* ---- stop.c ---- */

/* The verdict ends the job: remembers the message and asks Processor Zero for the end. */
void agent_abort(struct agent *agent, int pid, const struct verdict *verdict);
/* bsprun, a signal or the time limit asks for the end. */
void agent_stop(struct agent *agent, enum wire_stop_how how, int signal, const char *text);
/* Ranks shall leave: a moment of grace, then SIGKILL. */
void agent_stop_ranks(struct agent *agent, enum wire_cause cause, int status);
/* Kills whatever is left, at once. */
void agent_kill(struct agent *agent);
/* Nothing watched runs any more after a stop: sweeps up the rest. */
void agent_sweep(struct agent *agent);
/* The job is over: tell bsprun (or the user), then leave. */
void agent_finish(struct agent *agent, const struct coord_outcome *outcome);

/* ---- root.c ---- */

/* Starts the program; on failure fills *verdict and returns false. */
bool agent_start_program(struct agent *agent, const struct wire_start *start,
                         struct verdict *verdict);

/* ---- control.c ---- */

int agent_control_open(struct agent *agent, int fd);
/* Sends to bsprun; nothing happens when there is none.  0 or what net_send says. */
int agent_send(struct agent *agent, struct wire_message *message);
void agent_notice(struct agent *agent, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void agent_send_end(struct agent *agent);

/* ---- output.c ---- */

/* Streams that the program writes to instead of bsprun's; 0 or -errno. */
int agent_relay_open(struct agent *agent, const struct wire_start *start);
/* What the program has as stream 1 or 2. */
int agent_relay_writer(const struct agent_relay *relay, int stream);
/* What its ranks change to in bsp_begin, inherited under the same number; -1: nothing. */
int agent_relay_writer_of_ranks(const struct agent_relay *relay, int stream);
void agent_relay_started(struct agent *agent); /* the program has its ends: close ours */
/* True once everything that was written has been passed on; otherwise agent_finish is repeated. */
bool agent_relay_drained(struct agent *agent);
void agent_relay_resume(struct agent *agent);
/* The program waits in bsp_begin: what it printed before goes before what its ranks will print. */
void agent_relay_begin(struct agent *agent);
/* The user's terminal has another size. */
void agent_relay_resize(struct agent *agent, unsigned rows, unsigned columns);
void agent_relay_close(struct agent *agent);

#endif
