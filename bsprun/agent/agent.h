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
#include <sys/resource.h>
#include <uv.h>

#include "bsprun/agent/cores.h"
#include "bsprun/agent/job.h"
#include "bsprun/agent/outside.h"
#include "bsprun/link/link.h"
#include "bsprun/process.h"
#include "bsprun/verdict.h"
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

struct agent;

/* A process watched by its pidfd. */
struct watched {
    struct agent *agent;
    int pid; /* BSP process number; AGENT_ROOT for the started program */
    pid_t ospid;
    int pidfd;
    uv_poll_t *poll;
    bool watching; /* the poll handle is open */
    bool gone;
    struct death death;
    void (*ended)(struct watched *process); /* NULL: the job is looked at */
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
    int cores, slots; /* of this host; of all hosts */
    uint32_t bind;    /* enum wire_bind */
    uint32_t stdio;   /* enum wire_stdio */
    bool report, core_dumps;
    uint32_t verbosity;
    uint64_t timeout_ns;
    uint64_t consult_every, abort_at;
};

struct shares;          /* ckpt/shares.h */
struct agent_peers;     /* peers.h */
struct agent_relay;     /* output.c */
struct agent_snapshots; /* agent_snapshots.h */
struct agent_input;     /* agent_input.c */

struct agent {
    uv_loop_t loop;
    bool bare;
    struct process_signals signals; /* as the agent found them */
    struct rlimit descriptors;      /* their limit, as the agent found it: the program's */
    struct outside outside;         /* what was open already */
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
    int nprocs;                    /* of the job; 0 until placed */
    struct member *members;        /* nprocs of them; those of other hosts stay empty */
    uint32_t *home;                /* nprocs: the number of the host each lives on */
    int here, first_here;          /* how many live on this host, and the lowest pid of them */
    int adopted, ready, ended;     /* how many of these have got that far */
    uint64_t consulted;            /* newest consultation passed on */
    bool end_reported;             /* ... which was the barrier of bsp_end */
    bool let_out;                  /* ... and Processor Zero has answered it */
    uint64_t asked_passed;         /* bsprun wants to know when we have passed it; + 1, 0: nothing */
    struct cores_claim cores;
    struct watched root;
    uint64_t begin_ns, end_ns; /* of the SPMD part */

    uint32_t host;                  /* the number of this one */
    struct agent_peers *peers;      /* the other hosts; NULL in a job of one */
    struct net_connection *control; /* to bsprun; NULL when bare or lost */
    struct coord_shell *zero;       /* Processor Zero, when it is here */
    struct wire_real learned[ESTIMATE_NUMBERS]; /* by it, as it is told to bsprun */
    struct agent_relay *relay;      /* of the ranks' output; NULL when they inherit it */
    struct agent_snapshots *snapshots; /* NULL in a job without */
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
/* Watches no more, closes the pidfd; `process` can be used anew. */
void agent_unwatch(struct watched *process);
/* Goes on watching it at another place. */
void agent_move_watched(struct watched *from, struct watched *to);
/* The processor it shall be bound to, or -1. */
int agent_core_of(const struct agent *agent, int pid);
/* Nothing that is watched as a rank or as the program runs any more. */
bool agent_everything_gone(const struct agent *agent);
/* Looks at the board for whatever changed since the last look. */
void agent_scan(struct agent *agent);
/* p is decided, and where each process lives (NULL: all here): maps the slots.  0 or -errno. */
int agent_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of);
/* Where each lives, on the board, which was reset. */
void agent_write_homes(struct agent *agent);
/* They live elsewhere from now on; none of them runs. */
void agent_settle(struct agent *agent, const struct wire_numbers *host_of);
/* Whether the process lives on this host. */
bool agent_is_here(const struct agent *agent, int pid);
/* All processes of this host are set up. */
void agent_all_ready(struct agent *agent);
/* A process has ended, or a flag changed: is the job over? */
void agent_check_over(struct agent *agent);

/* ---- zero.c ---- */

/* Takes part in `term` of a job that begins, as Processor Zero or not.  0 or -errno. */
int agent_elect(struct agent *agent, uint32_t term);
/* The same without the first messages to Processor Zero; HOST_READY is one. */
int agent_enter_elected(struct agent *agent, uint32_t term);
void agent_say_ready(struct agent *agent);
/* Processor Zero of the term before is no more. */
void agent_free_zero(struct agent *agent);
/* What Processor Zero has learned, if it is here; until the next call. */
struct agent_learned {
    struct wire_real_list estimate;
    uint64_t interval_ns;
    uint32_t why;
};
struct agent_learned agent_learned(struct agent *agent);
/* Whether there is a Processor Zero, here or elsewhere, whose term is not over. */
bool agent_zero_decides(const struct agent *agent);
/* Does what Processor Zero says, here or elsewhere. */
void agent_obey(struct agent *agent, const struct wire_message *message);
/* A message of this agent to Processor Zero. */
void agent_tell_zero(struct agent *agent, struct wire_message *message);
/* Answers the ranks that wait at the barrier that ends the superstep. */
void agent_answer(struct agent *agent, uint64_t superstep, enum bspz_decision decision,
                  uint64_t consult);
void agent_arrived(struct agent *agent, uint64_t superstep, enum wire_barrier barrier);
void agent_rank_exited(struct agent *agent, int pid, const struct death *death, const char *text);

/* ---- stop.c ---- */

/* What the user is told of a job that ends now; the first reason stays. */
void agent_blame(struct agent *agent, const char *text, bool with_table);
void agent_forget_blame(struct agent *agent);
/* Rows of another host for the table of where every process was, if there is one. */
void agent_add_to_table(struct agent *agent, const char *rows);
/* The verdict ends the job: remembers the message and asks Processor Zero for the end. */
void agent_abort(struct agent *agent, int pid, const struct verdict *verdict);
/* Nobody is left who could be told of the end, or asked: bsprun is gone, or done with this agent. */
bool agent_is_alone(const struct agent *agent);
/* The end where that is so, whatever is under way. */
void agent_end_alone(struct agent *agent);
/* bsprun, a signal or the time limit asks for the end. */
void agent_stop(struct agent *agent, enum wire_stop_how how, int signal, const char *text);
/* Ranks shall leave: a moment of grace, then SIGKILL. */
void agent_stop_ranks(struct agent *agent, enum wire_cause cause, int status);
/* Kills whatever is left, at once. */
void agent_kill(struct agent *agent);
/* Nothing watched runs any more after a stop: sweeps up the rest. */
void agent_sweep(struct agent *agent);
/* END of Processor Zero elsewhere: nothing of the job goes on here. */
void agent_end_here(struct agent *agent, const struct wire_end *end);
/* The job is over: tell bsprun (or the user), then leave. */
void agent_finish(struct agent *agent, const struct coord_outcome *outcome);

/* ---- root.c ---- */

/* Starts the program; on failure fills *verdict and returns false. */
bool agent_start_program(struct agent *agent, const struct wire_start *start,
                         struct verdict *verdict);
/* The value of BSPZ_ENV_BOARD, behind its name and "="; for free(), NULL: no memory. */
char *agent_board_variable(const struct agent *agent);

/* A process to be started: as the program is, but for what is said here. */
struct agent_launch {
    const struct agent *agent;
    const char *path;
    char **arguments;
    char **environment;
    const char *directory;
    bool own_group;           /* not the program's */
    int standard[3];          /* its descriptors 0 to 2, -1 = inherit */
    const int *handed_on;     /* descriptors that stay open under their numbers */
    int handed_on_count;
    const struct shares *shares; /* those of `group` are; NULL: none */
    uint32_t group;
    pid_t parent;             /* from here on by agent_launch */
    int errors;
};
/* Forks and waits until the exec has succeeded or failed.  The child's id, or -errno. */
pid_t agent_launch(struct agent_launch *launch);

/* ---- control.c ---- */

int agent_control_open(struct agent *agent, int fd, const struct net_options *options);
/* Sends to bsprun; nothing happens when there is none.  0 or what net_send says. */
int agent_send(struct agent *agent, struct wire_message *message);
void agent_notice(struct agent *agent, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void agent_send_end(struct agent *agent);
/* That no process of the job lives here, whose output others would wait for. */
void agent_say_idle(struct agent *agent);
/* PASSED, if bsprun waits for it and it is so. */
void agent_answer_passed(struct agent *agent);

/* ---- join.c ---- */

/* Waits for JOIN on standard input, then calls bsprun.  False: that cannot be, which was said; then
 * the loop ends. */
bool agent_join(struct agent *agent);
void agent_say_hello(struct agent *agent);

/* ---- output.c ---- */

/* Streams that the program writes to instead of bsprun's; 0 or -errno. */
int agent_relay_open(struct agent *agent, const struct wire_start *start);
/* What the program has as stream 1 or 2. */
int agent_relay_writer(const struct agent_relay *relay, int stream);
/* What its ranks change to in bsp_begin, inherited under the same number; -1: nothing. */
int agent_relay_writer_of_ranks(const struct agent_relay *relay, int stream);
/* The stream that all processes share, for one that is restored. */
int agent_relay_socket(const struct agent_relay *relay, int stream);
void agent_relay_started(struct agent *agent); /* the program has its ends: close ours */
/* True once everything that was written has been passed on; otherwise agent_finish is repeated. */
bool agent_relay_drained(struct agent *agent);
/* Passes on what the streams hold now, nearly always all of it: nobody who could fill them while
 * they are emptied runs, but for processes that the program has started. */
void agent_relay_pass_on(struct agent *agent);
/* The descriptor where what is written to stream 1 or 2 comes out; -1: none. */
int agent_relay_reader(const struct agent_relay *relay, int stream);
/* How many bytes each stream has brought. */
void agent_relay_counts(const struct agent *agent, uint64_t counts[2]);
/* The job goes on from there. */
void agent_relay_set_superstep(struct agent *agent, uint64_t superstep);
/* Passes on what was written until the end of that superstep; false: not all processes of this host
 * have come there, or bsprun cannot take more now. */
bool agent_relay_passed(struct agent *agent, uint64_t superstep);
void agent_relay_set_counts(struct agent *agent, const uint64_t counts[2]);
void agent_relay_resume(struct agent *agent);
/* The program waits in bsp_begin: what it printed before goes before what its ranks will print. */
void agent_relay_begin(struct agent *agent);
/* The user's terminal has another size. */
void agent_relay_resize(struct agent *agent, unsigned rows, unsigned columns);
void agent_relay_close(struct agent *agent);

/* ---- agent_store.c, agent_snapshots.c, agent_costs.c, agent_faults.c: with snapshots, else these do
 * nothing ---- */

/* Opens the store that START names.  0, or -errno and a line in `why`. */
#define AGENT_WHY 600u
int agent_snapshots_open(struct agent *agent, const struct wire_start *start, char why[AGENT_WHY]);
/* What process 0 gives the agent of its files goes through it: a descriptor for it to inherit, -1:
 * none. */
int agent_snapshots_offer(struct agent *agent);
/* Ends copies and writers, takes back half a snapshot: the job is over. */
void agent_snapshots_close(struct agent *agent);
void agent_snapshots_free(struct agent *agent);
/* p is known. 0 or -errno. */
int agent_snapshots_place(struct agent *agent, int nprocs);
/* Orders snapshot 0, which process 0 takes when it is let out of bsp_begin. */
void agent_snapshots_order_first(struct agent *agent);
/* Process 0 takes snapshot 0 on another host: what this one has written comes before it. */
void agent_snapshots_mark_first(struct agent *agent);
/* bsprun has what this host wrote before the snapshot of that superstep. */
void agent_snapshots_echoed(struct agent *agent, uint64_t superstep);
/* On how many hosts each image shall be. */
/* Whether faults are recovered from: the user wants snapshots. */
bool agent_recovers(const struct agent *agent);
void agent_snapshots_copies(struct agent *agent, uint32_t copies);
/* Whether snapshots are written to the directory that bsprun sees. */
bool agent_store_is_shared(const struct agent *agent);
/* Whether faults are recovered from: the user wants snapshots. */
bool agent_recovers(const struct agent *agent);
/* Not only the one of which other hosts begin. */
bool agent_takes_snapshots(const struct agent *agent);
/* Orders a snapshot at the barrier that ends the superstep.  False: the barrier is to be answered
 * later, in agent_snapshots_resume. */
bool agent_snapshots_order(struct agent *agent, uint64_t superstep);
void agent_snapshots_resume(struct agent *agent, uint64_t superstep, uint64_t consult);
/* Looks at what ranks, copies and writers have left on the board. */
void agent_snapshots_scan(struct agent *agent);
/* What Processor Zero says of a snapshot, and of a restore. */
void agent_snapshots_message(struct agent *agent, const struct wire_message *message);
/* A rank is gone that had more to do.  True: that is no reason to end the job by itself, Processor
 * Zero has been told. */
bool agent_snapshots_fault(struct agent *agent, int pid, const struct verdict *verdict);
/* Copies and writers have ended that had that much processor time. */
void agent_snapshots_buried(struct agent *agent, uint64_t cpu_ns);
/* Whether it is a copy or a writer that nobody watches yet. */
bool agent_snapshots_expect(const struct agent *agent, pid_t ospid);
/* For the configuration of Processor Zero. */
void agent_snapshots_configure(struct agent *agent, struct coord_config *config);

/* ---- agent_terms.c: one term after the other ---- */

/* bsprun elects: a job that begins is Processor Zero's business, one that goes on from a snapshot
 * first ends what there is of older terms. */
void agent_take_election(struct agent *agent, const struct wire_message *message);
/* The term is over by a fault, the job is not. */
void agent_term_over(struct agent *agent, const struct coord_outcome *outcome);
/* Ends everything of the term but frozen copies. */
void agent_rewind(struct agent *agent);
/* Between two terms: the end of the job belongs to the one that bsprun waits for. */
void agent_enter_term(struct agent *agent);
/* Something has ended meanwhile: can the next term begin? */
void agent_check_rewound(struct agent *agent);

/* ---- agent_opened.c ---- */

/* The processes run: what they have open is looked at from now on, if the job may be rolled back. */
void agent_opened_begin(struct agent *agent);

/* ---- agent_input.c: stdin of process 0 in a job with snapshots ---- */

int agent_input_open(struct agent *agent);
void agent_input_close(struct agent *agent);
/* The descriptor that process 0 has as its stdin; -1: it inherits ours. */
int agent_input_reader(const struct agent *agent);
/* How many bytes process 0 has read. */
uint64_t agent_input_position(const struct agent *agent);
/* Of these bytes (lib/base/digest.h); unknown after a restart from a snapshot that does not say. */
uint64_t agent_input_digest(const struct agent *agent);
void agent_input_take(struct agent *agent, const struct wire_message *message);
/* As when process 0 had read so many, of that digest; bsprun is to send again from there on. */
void agent_input_rewind(struct agent *agent, uint64_t position, uint64_t digest);

#endif
