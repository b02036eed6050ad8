/* launcher_inside.h - bsprun's job: what the files that carry it out share, of which each calls
 * only what stands below it.  Internal.
 *
 *   launcher.c         set-up
 *   launcher_talk.c    what agents say, and what becomes of them
 *   launcher_wishes.c  what the user wants: signals, bspkill
 *   launcher_finish.c  events; the end
 *   launcher_start.c   START
 *   launcher_status.c  answers to bspstat; progress
 *   launcher_job.c     the job machine: events to it, effects of it
 *   launcher_report.c  --report
 *   launcher_end.c     what is said of the end
 *   launcher_left.c    ... and of what there is to go on from
 *   launcher_faults.c  what is said of faults
 *
 * They stand on modules that know nothing of each other's insides: agents.h (sessions with agents),
 * output.h, stdin.h, learning.h (failures and costs; job_history.h), saved.h (the directory of
 * snapshots), job_machine.h (what is to be done), account.h; and all share what is in common.h.
 */
#ifndef BSPRUN_LAUNCHER_INSIDE_H
#define BSPRUN_LAUNCHER_INSIDE_H

#include "bsprun/launcher/account.h"
#include "bsprun/launcher/agents.h"
#include "bsprun/launcher/common.h"
#include "bsprun/launcher/job_machine.h"
#include "bsprun/launcher/launcher.h"
#include "bsprun/launcher/learning.h"
#include "bsprun/launcher/output.h"
#include "bsprun/launcher/show.h"
#include "bsprun/launcher/stdin.h"
#include "bsprun/status/status_socket.h"

#define LAUNCHER_STOPS        5
#define LAUNCHER_EVENTS       64u
#define LAUNCHER_NOT_RUNNABLE 126 /* exit status */

/* What an agent has answered of where its processes are. */
struct host_places {
    bool answered; /* since it was asked */
    struct wire_where *items;
    uint32_t count;
};

struct launcher {
    struct common common;
    struct agents agents;
    struct output output;
    struct stdin_relay input;
    struct learning learning;

    /* What the user wants. */
    uv_signal_t stops[LAUNCHER_STOPS], save_signal, window_signal;
    uint64_t saving_ms; /* when a signal asked for a snapshot before the end; 0: none did */
    bool wished;        /* bspkill has asked for the end */

    /* START. */
    char program[PATH_MAX], working[PATH_MAX]; /* for an agent elsewhere */
    uint64_t begun_ms; /* when the first agent was told to start; 0: not yet */

    /* The job. */
    struct job_machine *machine;
    uv_timer_t machine_timer;
    uv_timer_cb machine_due;                  /* what it calls when the machine has set it */
    struct job_event events[LAUNCHER_EVENTS]; /* to come, while one is being handled */
    uint32_t event_count;
    bool handling;
    struct coord_name committed;                  /* the newest snapshot, term 0: none */
    bool savers[HOSTS_MAX];                       /* hosts that were in the job then */
    uint64_t snapshots, snapshot_bytes, pause_ns; /* of all so far */
    struct account account;
    int status;

    /* Faults. */
    uint32_t faults;          /* that were recovered from */
    uint32_t *process_faults; /* of each process, by signal or the like; NULL: nobody had one */
    uint32_t process_count;   /* ... so many are there */
    char *fault_text;         /* of the newest fault */
    uint32_t fault_repeats;   /* how often in a row it was exactly this one */
    bool fault_untold;        /* it was recovered from, which nobody has been told */
    char loss_text[512];      /* what Processor Zero said of the host that it lost */
    char link_text[160];      /* why a connection between two hosts broke */

    /* The end. */
    char *last_text, *last_table; /* of ENDED */
    enum wire_cause last_cause;
    int forced_status; /* 0: the machine's */
    int agent_status;  /* of one that was lost: 128 + signal, or 1 */
    bool finish_noted;
    bool end_told;             /* why the job ends was said already */
    bool reports_awaited;      /* the job's own end: every agent has something to add */
    struct wire_usage *usages; /* what the processes used; NULL: unknown */
    uint32_t usage_count;

    /* Status and progress. */
    uv_timer_t progress_timer;
    struct progress progress;
    struct host_places *places; /* by host */
    double status_seconds;      /* as Processor Zero's agent says */
    uint32_t status_processes;
    struct status_socket *status_socket; /* NULL: there is none */
    struct status_calls status_calls;
    char *command_line, *directory; /* what runs, where it was started */
    uint64_t saved_ms;              /* when the newest snapshot was committed; 0: not by us */
    struct status_host *status_hosts;
    struct learned_facts learned;
};

static inline bool launcher_has_snapshots(const struct launcher *launcher)
{
    return saved_recovers(&launcher->common.saved);
}

/* ---- launcher_talk.c ---- */

extern const struct agents_calls launcher_agents_calls;

/* ---- launcher_wishes.c ---- */

/* Only now are signals caught: a child that is not yet the agent would pass its own on to us. */
void launcher_catch_signals(struct launcher *launcher);
/* An agent got the signal, which asks for the end of the job, as bsprun may have or will. */
void launcher_asked_by_agent(struct launcher *launcher, int signal);
/* What bspkill wants; NULL, or why not. */
const char *launcher_take_wish(void *launcher, enum status_wish what);

/* ---- launcher_finish.c ---- */

/* Takes an event, the time of which is filled in; the effects are carried out before it returns,
 * unless another event is just being handled. */
void launcher_event(struct launcher *launcher, struct job_event event);
/* The timer that the job machine has set. */
void launcher_machine_due(uv_timer_t *timer);
/* The job is over, and perhaps its output is out, too. */
void launcher_finish(struct launcher *launcher);
/* The job has ended, and this agent will not say what it still has to say, if so. */
void launcher_tell_incomplete(struct launcher *launcher, const struct launcher_agent *agent);
/* The line to an agent has ended. */
void launcher_line_ended(void *launcher);

extern const struct output_calls launcher_output_calls;
/* Process 0 cannot be given what it would have read: why. */
void launcher_wrong_input(void *launcher, const char *text);

/* ---- launcher_start.c ---- */

/* START to all agents that have come.  The program may ask how many processes there can be before
 * it comes to bsp_begin: so it begins when that is known. */
void launcher_start_when_possible(struct launcher *launcher);

/* ---- launcher_status.c ---- */

/* Answers who asks, from now on, if that is possible; wishes go to `wish`. */
void launcher_open_status(struct launcher *launcher,
                          const char *(*wish)(void *launcher, enum status_wish what));
void launcher_close_status(struct launcher *launcher);
void launcher_query_status(struct launcher *launcher);
/* A new agent is there, which has not been asked. */
void launcher_forget_status(struct launcher *launcher, uint32_t host);
void launcher_take_status(struct launcher *launcher, const struct launcher_agent *agent,
                          const struct wire_status *status);

/* ---- launcher_job.c ---- */

/* The machine of this job.  False: no memory. */
bool launcher_begin_job(struct launcher *launcher);
/* Of launcher_event; `over` is then for launcher_finish.c to see. */
void launcher_step(struct launcher *launcher, struct job_event event);
/* The job is over, in this way: no agent is lost any more. */
void launcher_over(struct launcher *launcher, enum life_state state, int status);

/* ---- launcher_report.c ---- */

/* REPORT came. */
void launcher_take_report(struct launcher *launcher, const struct wire_report *report);
void launcher_tell_report(struct launcher *launcher);
/* What --report=FILE asks for. */
void launcher_write_report(struct launcher *launcher);

/* ---- launcher_end.c ---- */

/* Why the job has ended. */
void launcher_tell_end(struct launcher *launcher);
/* One line for a status that is not 0 and of which nobody has said anything.  Process 0's own,
 * after bsp_end, needs none but with -v. */
void launcher_tell_reason(struct launcher *launcher, int status);

/* ---- launcher_left.c ---- */

/* Which snapshot survives, where, and the command that goes on from it. */
void launcher_tell_left(struct launcher *launcher);

/* ---- launcher_faults.c ---- */

/* What the newest fault is; the one before is told, if nobody could be told of it yet. */
void launcher_fault_text(struct launcher *launcher, const char *text);
const char *launcher_last_fault(const struct launcher *launcher);
/* One line for each rollback, once it is known where to; NULL: there was another fault first. */
void launcher_tell_rollback(struct launcher *launcher, const struct coord_name *from);
/* What the fault is, as the job machine has found. */
void launcher_blame(struct launcher *launcher, const struct job_effect *effect);
/* Tells Processor Zero that a host is lost: where nothing is rolled back, it decides what comes of
 * it. */
void launcher_lost_to_zero(struct launcher *launcher, uint32_t host, const char *text);
/* For the report; without memory for it the sum is what is told. */
void launcher_count_process_fault(struct launcher *launcher, uint32_t pid);

#endif
