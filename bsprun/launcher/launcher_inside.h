/* launcher_inside.h - bsprun's job: what its files share; each calls only functions of those below
 * it.  Internal.
 *
 *   launcher.c         set-up
 *   launcher_talk.c    messages and losses of agents
 * launcher_requests.c requests of the user: signals, bspctl, bspkill
 * launcher_owners.c   the owners of hosts
 * launcher_places.c   ... about hosts and places
 * launcher_allocation.c nodes that the Slurm allocation loses and gains
 * launcher_replicas.c ... about the number of replicas
 *   launcher_finish.c  events; the end
 *   launcher_start.c   START
 *   launcher_status.c  answers to bspstat; progress
 *   launcher_stacks.c  the C stacks of all processes
 *   launcher_job.c     the job machine: events to it, effects of it
 *   launcher_expect.c  where processes will be after a move
 *   launcher_cells.c   which host has which replicas
 *   launcher_report.c  --report
 *   launcher_page.c    --report=html
 *   launcher_end.c     messages about the end
 *   launcher_left.c    ... and the snapshot to restart from
 *   launcher_faults.c  messages about faults
 *
 * They use modules with separate internals: agents.h (sessions with agents), output.h, stdin.h,
 * learning.h (failures and costs; job_history.h), saved.h (the directory of snapshots),
 * job_machine.h (decisions), account.h; all share common.h.
 */
#ifndef BSPRUN_LAUNCHER_INSIDE_H
#define BSPRUN_LAUNCHER_INSIDE_H

#include "bsprun/launcher/account.h"
#include "bsprun/launcher/agents.h"
#include "bsprun/launcher/allocation.h"
#include "bsprun/launcher/common.h"
#include "bsprun/launcher/debugger.h"
#include "bsprun/launcher/job_machine.h"
#include "bsprun/launcher/launcher.h"
#include "bsprun/launcher/learning.h"
#include "bsprun/launcher/output.h"
#include "bsprun/launcher/owners.h"
#include "bsprun/launcher/past.h"
#include "bsprun/launcher/replica_view.h"
#include "bsprun/launcher/room.h"
#include "bsprun/launcher/show.h"
#include "bsprun/launcher/stdin.h"
#include "bsprun/launcher/timeline.h"
#include "bsprun/launcher/wanted_moves.h"
#include "bsprun/status/stacks_text.h"
#include "bsprun/status/status_socket.h"

#define LAUNCHER_STOPS        5
#define LAUNCHER_SAME_MS      1000u /* within which equal signals count as one */
#define LAUNCHER_STACKS_MS    5000u /* for stacks before the end of the job */
#define LAUNCHER_EVENTS       64u
#define LAUNCHER_NOT_RUNNABLE 126 /* exit status */

/* An agent's answer about the places of its processes. */
struct host_places {
    bool answered; /* to the last question */
    uint32_t term; /* in which it has */
    struct wire_where *items;
    uint32_t count;
    uint64_t available; /* bytes of memory for further processes; PLACEMENT_UNKNOWN */
    char *alone; /* why they cannot have replicas; NULL: nothing is known that speaks against it */
};

struct launcher;

/* The question for the stacks of all processes. */
struct stacks_request {
    bool gathering;
    bool has_limit;          /* the job's time limit is set */
    uint32_t number;         /* of the last question */
    bool awaited[HOSTS_MAX]; /* hosts of which answers are missing */
    struct stacks stacks;    /* so far */
    uv_timer_t limit_timer;
    uv_timer_t job_timer; /* the job's time limit, with --stacks */
    void (*then)(struct launcher *launcher, const char *text); /* also gets the text; or NULL */
};

/* What ELECT and TAKE_OVER say of hosts, and the slots are counted of.  Not on the stack, either.
 */
struct elect_lists {
    struct wire_host hosts[HOSTS_MAX];
    const char *addresses[HOSTS_MAX];
    uint64_t busy[HOSTS_MAX], speeds[HOSTS_MAX], lost[HOSTS_MAX];
};

struct launcher {
    struct common common;
    struct agents agents;
    struct output output;
    struct stdin_relay input;
    struct learning learning;

    /* Requests of the user. */
    uv_signal_t stops[LAUNCHER_STOPS], save_signal, window_signal;
    uint64_t saving_ms; /* when a signal requested a snapshot before the end; 0: none */
    uint32_t debuggers; /* that run */
    struct debugger_terminal terminal;
    bool end_requested; /* bspkill has requested the end, */
    bool has_leisure;   /* ... after a snapshot, whenever that is: a signal may be in a hurry */
    bool has_elected;
    double moving_seconds;  /* what moves by Processor Zero's decision have cost at most ... */
    double passed_seconds;  /* ... of so much time; both as the last TERM_OVER has said */
    uint32_t processes;     /* 0: they do not run yet */
    uint32_t move_asked_in; /* term in which processes were to be moved; 0: none are */
    uint32_t expects_in;    /* term in which Processor Zero will be told where they go; 0: none */
    struct wanted_moves wanted_moves;
    struct replica_view replicas;
    char replicas_text[REPLICA_TEXT];      /* for status facts */
    char refusal[PLACEMENT_TEXT_MAX + 64]; /* of the last request */
    struct wire_move *missed; /* processes of the term that are not where they were to be ... */
    uint32_t missed_count;
    char why_missed[PLACEMENT_TEXT_MAX]; /* ... the first of them, because there is too little
                                            memory */
    bool leaving[HOSTS_MAX]; /* hosts whose agents were told to end, since leave_timer was set */
    uv_timer_t leave_timer;
    bool to_remove[HOSTS_MAX]; /* drained, to be removed when they have no processes */
    bool holds_over; /* TERM_OVER, until the agents have said how much memory they have left */
    struct job_event held_over;
    uv_timer_t removal_timer;
    struct owners owners;
    struct allocation allocation;

    /* START. */
    char program[PATH_MAX], working[PATH_MAX]; /* for agents of other hosts */
    uint64_t begun_ms;                         /* when the first START was sent; 0: not yet */
    uint32_t begin_wanted;                     /* the program calls bsp_begin with it */

    /* The job. */
    struct job_machine *machine;
    struct elect_lists elect_lists;
    uv_timer_t machine_timer;
    uv_timer_cb machine_due;                  /* the machine's timer callback */
    struct job_event events[LAUNCHER_EVENTS]; /* queued while one is being handled */
    uint32_t event_count;
    bool handling;
    struct job_effects effects;          /* of that event; not on the stack, which may be small */
    struct bspz_snapshot_name committed; /* the newest snapshot, term 0: none */
    struct bspz_snapshot_name known;     /* ... of which all hosts know */
    bool savers[HOSTS_MAX];              /* members at that time */
    uint64_t snapshots, snapshot_bytes, pause_ns; /* of all so far */
    struct account account;
    struct timeline timeline;
    struct past past; /* of the job, with snapshots */
    uv_timer_t live_timer;
    int status;

    /* Faults. */
    uint32_t faults;           /* faults from which the job recovered */
    uint32_t restarted_alone;  /* processes, while the others went on */
    uint32_t *process_faults;  /* by process; NULL: none */
    size_t process_count;      /* their number */
    char *fault_text;          /* of the newest fault */
    uint32_t fault_repeats;    /* consecutive equal faults */
    bool fault_untold;         /* the recovery has not been reported yet */
    char loss_text[512];       /* Processor Zero's text about the host it lost */
    struct broken_link *links; /* of the newest term that had any, as it was told of them */
    size_t link_count;

    /* The end. */
    char *last_text, *last_table; /* of ENDED */
    bool last_unaware;            /* ... too: more is to be said */
    enum wire_cause last_cause;
    int forced_status;     /* 0: the machine's */
    uint32_t running_term; /* the last one whose processes ran */
    int agent_status; /* of an agent that was lost in this term: 128 + signal, or 1; or what it said
                       */
    bool finish_noted;
    bool end_told;             /* the cause of the end has been reported */
    bool unrecorded_told;      /* ... and why a term could not be recorded */
    bool reports_awaited;      /* after a normal end: every agent sends a REPORT */
    struct wire_usage *usages; /* of the processes; NULL: unknown */
    uint32_t usage_count;

    /* Status and progress. */
    uv_timer_t progress_timer;
    struct progress progress;
    struct host_places *places; /* by host */
    double status_seconds;      /* from Processor Zero's agent */
    uint32_t status_processes;
    struct status_socket *status_socket; /* NULL: there is none */
    struct status_calls status_calls;
    char *command_line, *directory; /* of the program */
    uint64_t saved_ms; /* when the newest snapshot was committed; 0: none by this bsprun */
    struct status_host *status_hosts;
    struct learned_facts learned;
    struct stacks_request stacks;
};

static inline bool launcher_has_snapshots(const struct launcher *launcher)
{
    return saved_recovers(&launcher->common.saved);
}

/* ---- launcher_talk.c ---- */

extern const struct agents_calls launcher_agents_calls;

/* ---- launcher_requests.c ---- */

/* Signals are caught only from now on: earlier, a child before its exec could pass signals on. */
void launcher_catch_signals(struct launcher *launcher);
/* An agent received a signal that requests the end of the job, or of its part on that host; bsprun
 * may receive it, too. */
void launcher_asked_by_agent(struct launcher *launcher, const struct launcher_agent *agent,
                             int signal);
/* The job is to be saved and stopped as if bsprun had got this signal.  Of a job with snapshots. */
void launcher_save_and_stop(struct launcher *launcher, int signal);
/* A request of bspctl or bspkill.  Returns NULL, or the reason for a refusal, valid until the next
 * one. */
const char *launcher_take_request(void *launcher, struct status_order *order);

/* ---- launcher_removals.c ---- */

void launcher_begin_removals(struct launcher *launcher);
/* A term is over: for the machine, at once or when it is known whether hosts can be removed. */
void launcher_end_term(struct launcher *launcher, const struct job_event *event);
/* An agent has answered launcher_query_status. */
void launcher_check_removals(struct launcher *launcher);

/* ---- launcher_owners.c ---- */

/* OWNER: that of a host is active or quiet. */
void launcher_take_owner(struct launcher *launcher, struct launcher_agent *agent,
                         const struct wire_owner *owner);
/* A term runs. */
void launcher_owners_running(struct launcher *launcher);
/* The agent is lost. */
void launcher_owner_lost(struct launcher *launcher, const struct launcher_agent *agent);

/* ---- launcher_places.c ---- */

/* Why what is ordered does not fit into the memory of the hosts, as far as they have said what they
 * have; NULL: it does.  host: that the order names; ROOM_NOBODY.  Valid until the next call. */
const char *launcher_refuse_room(struct launcher *launcher, const struct status_order *order,
                                 uint32_t host);

/* The host of that name, or of this host's by any of its names; NULL: there is none. */
struct launcher_agent *launcher_find_host(const struct launcher *launcher, const char *name);
/* Processes are about to be moved: requests for that are fulfilled when a later term runs. */
void launcher_await_next_term(struct launcher *launcher);
/* --display-map: says on which host each process of the term is. */
void launcher_tell_map(struct launcher *launcher);
/* A request about hosts or places, as above. */
const char *launcher_change_places(struct launcher *launcher, struct status_order *order);
/* The host is to be left: its processes move at the next barrier.  `why` says so to the user, as in
 * "as its agent was told to end by SIGTERM". */
void launcher_leave_host(struct launcher *launcher, struct launcher_agent *agent, const char *why);
/* Processor Zero has ended the term, perhaps to move processes. */
void launcher_take_moves(struct launcher *launcher, const struct wire_term_over *over);
/* CHOSEN: says which processes are not where they were to be. */
void launcher_take_missed(struct launcher *launcher, const struct wire_chosen *chosen);
/* A term runs, with so many processes: those that were to be moved have been, but those that
 * CHOSEN has named. */
void launcher_tell_moved(struct launcher *launcher, uint32_t processes);

/* ---- launcher_replicas.c ---- */

/* A request about the number of replicas, as above; it is in order->host. */
const char *launcher_change_replicas(struct launcher *launcher, struct status_order *order);

/* ---- launcher_allocation.c ---- */

/* What Slurm says of the allocation. */
void launcher_take_allocation(void *launcher, const struct hosts *nodes, bool preempted);

/* ---- launcher_finish.c ---- */

/* Handles an event, after filling in its time; the effects are carried out before it returns,
 * unless another event is being handled. */
void launcher_event(struct launcher *launcher, struct job_event event);
/* From now on nothing is rolled back: answers CLOSING. */
void launcher_close(struct launcher *launcher, bool cut_short);
/* The timer that the job machine has set. */
void launcher_machine_due(uv_timer_t *timer);
/* Continues the end of the job: to be called when it is over or its output may be complete. */
void launcher_finish(struct launcher *launcher);
/* The agent has lost its line.  If the job is over, or ends well in this term, and the agent has
 * not sent its REPORT, it is reported that output of its may be missing. */
void launcher_note_leaver(struct launcher *launcher, struct launcher_agent *agent);
/* The loss of a line was handled. */
void launcher_settled(void *launcher);
/* The line to an agent has ended. */
void launcher_line_ended(void *launcher);

extern const struct output_calls launcher_output_calls;
/* Process 0 cannot get the right input; `text` is the reason. */
void launcher_wrong_input(void *launcher, const char *text);

/* ---- launcher_start.c ---- */

/* Sends START to all agents that are up.  The program may ask for the maximal number of processes
 * before bsp_begin, so it starts when that is known. */
void launcher_start_when_possible(struct launcher *launcher);
/* If the user named hosts or slots, warns of more processes than slots; when the program has called
 * bsp_begin and all hosts that begin the job have said how many cores they have. */
void launcher_warn_oversubscribed(struct launcher *launcher);

/* ---- launcher_status.c ---- */

/* A host that was to join does not: the job continues without it. */
void launcher_tell_not_joined(struct launcher *launcher, const struct launcher_agent *agent,
                              const char *why);
/* Opens the status socket, if possible; requests go to `request`. */
void launcher_open_status(struct launcher *launcher,
                          const char *(*request)(void *launcher, struct status_order *order));
void launcher_close_status(struct launcher *launcher);
/* times: the processes count the times of their activities for the next minutes. */
void launcher_query_status(struct launcher *launcher, bool times);
/* Drops the answer of a replaced agent. */
void launcher_forget_status(struct launcher *launcher, uint32_t host);
void launcher_take_status(struct launcher *launcher, const struct launcher_agent *agent,
                          const struct wire_status *status);

/* ---- launcher_stacks.c ---- */

/* Asks all agents for the stacks of their processes, unless that is under way; within the limit
 * clients that wait for them get the text (stacks_text.h), and `then` is called with it, from the
 * loop (NULL: for the clients alone), unless the job ends first. */
void launcher_ask_stacks(struct launcher *launcher, uint32_t limit_ms,
                         void (*then)(struct launcher *launcher, const char *text));
void launcher_take_stack(struct launcher *launcher, const struct launcher_agent *agent,
                         const struct wire_stack *answer);
/* --stacks: prints them at the job's time limit, which ends the job then.  From now on; only the
 * first call counts. */
void launcher_limit_with_stacks(struct launcher *launcher);
/* Prints them on stderr. */
void launcher_tell_stacks(struct launcher *launcher, const char *text);
/* The agent is lost. */
void launcher_stacks_lost(struct launcher *launcher, const struct launcher_agent *agent);
void launcher_open_stacks(struct launcher *launcher);
void launcher_close_stacks(struct launcher *launcher);

/* ---- launcher_job.c ---- */

/* The machine of this job.  False: no memory. */
bool launcher_begin_job(struct launcher *launcher);
/* Part of launcher_event; launcher_finish.c then checks whether the job is over. */
void launcher_step(struct launcher *launcher, struct job_event event);
/* The job is over: the loss of an agent no longer counts. */
void launcher_over(struct launcher *launcher, enum life_state state, int status);

/* ---- launcher_expect.c ---- */

/* What is known of the hosts, and of the processes on them, for room.h: an entry for each host, and
 * for each process.  hosts: with what is asked for, which says who goes on having a process. */
void launcher_describe_hosts(const struct launcher *launcher, struct room_host *hosts);
void launcher_describe_processes(const struct launcher *launcher, const struct room_host *hosts,
                                 struct room_process *processes);
/* Sends SAVE to the host of Processor Zero, with what is expected of the move that it asks for, as
 * far as that is known.  False: not all of it; hosts are to be asked for their processes. */
bool launcher_ask_to_move(struct launcher *launcher, uint32_t zero, struct wire_message *save);
/* All have answered: if a move was asked for in this term, says again what is expected of it. */
void launcher_expect_again(struct launcher *launcher);

/* ---- launcher_cells.c ---- */

/* A term begins, from now on with the number that is wanted; before ELECT. */
void launcher_replicas_elect(struct launcher *launcher);
/* It runs. */
void launcher_replicas_run(struct launcher *launcher, const struct wire_running *running);
/* Who waits for another number of replicas is told that they are there, or how many are not. */
void launcher_replicas_tell(struct launcher *launcher);
/* The agent of that host is lost; before the job machine knows. */
void launcher_replicas_lose(struct launcher *launcher, uint32_t host);
void launcher_describe_replicas(struct launcher *launcher, struct status_facts *facts);

/* ---- launcher_report.c ---- */

/* REPORT was received. */
void launcher_take_report(struct launcher *launcher, const struct wire_report *report);
void launcher_tell_report(struct launcher *launcher);
/* Whether the files of --report=FILE and --report=html FILE can be written, before a job is begun
 * that may take days; what is wrong has been said. */
bool launcher_reports_can_be_written(struct common *common);
/* Writes the report of --report=FILE. */
void launcher_write_report(struct launcher *launcher);

/* ---- launcher_page.c ---- */

/* Writes the page of --report=html. */
void launcher_write_page(struct launcher *launcher);

/* ---- launcher_end.c ---- */

/* Reports why the job has ended. */
void launcher_tell_end(struct launcher *launcher);
/* One line for a status other than 0 that was not explained yet.  Process 0's own, after bsp_end,
 * is reported only with -v. */
void launcher_tell_reason(struct launcher *launcher, int status);

/* ---- launcher_left.c ---- */

/* Reports which snapshot survives, where, and the command to restart from it. */
void launcher_tell_left(struct launcher *launcher);

/* ---- launcher_faults.c ---- */

/* Sets the text of the newest fault; reports the previous one if that is pending. */
void launcher_fault_text(struct launcher *launcher, const char *text);
const char *launcher_last_fault(const struct launcher *launcher);
/* One line for each rollback, once it is known where to; NULL: there was another fault first. */
void launcher_tell_rollback(struct launcher *launcher, const struct bspz_snapshot_name *from);
/* Keeps what a host says of a connection that broke, for launcher_blame. */
void launcher_note_link(struct launcher *launcher, uint32_t host,
                        const struct wire_message *message);
/* Reports the cause of the fault that the job machine has found. */
void launcher_blame(struct launcher *launcher, const struct job_effect *effect);
/* Tells Processor Zero that a host is lost: it decides if nothing is rolled back. */
void launcher_lost_to_zero(struct launcher *launcher, uint32_t host, const char *text);
/* For the page of the report; at_ms 0: now.  The text is copied. */
void launcher_note(struct launcher *launcher, const struct timeline_event *event);
/* The processes have stopped computing: a fault, a move, or the end.  Idempotent. */
void launcher_note_stopped(struct launcher *launcher);
/* For the report; without memory only the total is reported. */
void launcher_count_process_fault(struct launcher *launcher, uint32_t pid);

#endif
