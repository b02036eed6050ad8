/* launcher_inside.h - what the files of bsprun's launcher share.  Internal.
 *
 *   launcher.c         set-up, the user's signals
 *   launcher_agents.c  the table of agents: their starts, lines and ends
 *   launcher_remote.c  agents of other hosts
 *   launcher_faults.c  which host is to blame
 *   launcher_job.c     the job machine: events to it, effects of it
 *   launcher_end.c     what is said of faults and of the end
 *   launcher_left.c    ... and of what there is to go on from
 *   launcher_talk.c    what agents say, and what they are told
 *   launcher_start.c   START
 *   launcher_output.c  relayed output and input
 *   launcher_status.c  answers to bspstat and bspkill
 *   launcher_learn.c   failures, and what is learned of them
 *   launcher_history.c what earlier jobs saw, and later ones shall know
 */
#ifndef BSPRUN_LAUNCHER_INSIDE_H
#define BSPRUN_LAUNCHER_INSIDE_H

#include <uv.h>

#include "bsprun/history/history.h"
#include "bsprun/launcher/evidence.h"
#include "bsprun/launcher/feed.h"
#include "bsprun/launcher/input.h"
#include "bsprun/launcher/input_same.h"
#include "bsprun/launcher/job_machine.h"
#include "bsprun/launcher/launcher.h"
#include "bsprun/launcher/launcher_agents.h"
#include "bsprun/launcher/order.h"
#include "bsprun/launcher/replay.h"
#include "bsprun/launcher/saved.h"
#include "bsprun/launcher/show.h"
#include "bsprun/launcher/sink.h"
#include "bsprun/launcher/whole.h"
#include "bsprun/launcher/account.h"
#include "lib/net/meet.h"
#include "bsprun/status/learned_text.h"
#include "bsprun/status/status_socket.h"

#define LAUNCHER_STOPS        5
#define LAUNCHER_EVENTS       64u
#define LAUNCHER_NOT_RUNNABLE 126 /* exit status */

/* What is to be told to later jobs. */
struct launcher_history {
    bool on, begun, ended;
    char path[HISTORY_PATH_MAX], site[HISTORY_NAME_MAX + 1];
    char lines[HISTORY_APPEND_MAX]; /* to be written */
    size_t size;
    struct estimate told; /* up to here */
    uint64_t flushed_ms;  /* when; 0: not yet */

    /* A thread's, while it writes. */
    bool writing, failed, failure_told;
    uv_work_t work;
    char written[HISTORY_APPEND_MAX], why[512];
    size_t written_size;
};

struct launcher {
    const struct options *options;
    const struct process_signals *process_signals;
    uv_loop_t loop;
    struct launcher_agent *agents; /* by host */
    uint32_t agent_count, spares;
    struct remote *remote; /* what agents of other hosts need; NULL: there are none */
    char program[PATH_MAX], working[PATH_MAX]; /* for an agent elsewhere */
    unsigned char job[WIRE_JOB_SIZE];
    uint64_t begun_ms; /* when the first agent was told to start; 0: not yet */

    uv_signal_t stops[LAUNCHER_STOPS], save_signal, window_signal;
    uv_timer_t progress_timer, prompt_timer, line_timer, machine_timer;
    int signals_seen;
    uint64_t saving_ms; /* when a signal asked for a snapshot before the end; 0: none did */

    /* The job. */
    struct job_machine *machine;
    struct job_event events[LAUNCHER_EVENTS]; /* to come, while one is being handled */
    uint32_t event_count;
    bool handling;
    struct saved saved;
    struct coord_name committed;                  /* the newest snapshot, term 0: none */
    uint64_t snapshots, snapshot_bytes, pause_ns; /* of all so far */
    uint32_t faults;
    uint32_t *process_faults; /* of each process, by signal or the like; NULL: nobody had one */
    uint32_t process_count;   /* ... so many are there */
    struct account account;
    struct evidence evidence; /* of failures */
    uint32_t processes;       /* 0: not known yet */
    double most_hosts;        /* of any term */
    uint64_t newest_bytes;    /* of the images of the newest snapshot */
    uint64_t told_interval_ns;
    uint32_t told_why; /* plus 1; 0: nothing was told */
    bool hardly_told;
    bool wished; /* bspkill has asked for the end */
    struct launcher_history history;
    char *fault_text;       /* of the newest fault */
    uint32_t fault_repeats; /* how often in a row it was exactly this one */
    bool calling;           /* all agents */
    char loss_text[512];    /* what Processor Zero said of the host that it lost */
    char link_text[160];    /* why a connection between two hosts broke */
    bool fault_untold;               /* it was recovered from, which nobody has been told */
    char *last_text, *last_table;    /* of ENDED */
    enum wire_cause last_cause;
    int forced_status; /* 0: the machine's */
    int agent_status;  /* of one that was lost: 128 + signal, or 1 */
    bool finish_noted;
    bool end_told; /* why the job ends was said already */
    unsigned lines; /* said so far, of whatever */
    bool over;     /* EXIT: what is left to do is to show the rest of the output ... */
    bool said;     /* ... and to say why, which has been done: the agents leave */
    bool output_finished;
    bool wound_up;
    bool reports_awaited;      /* the job's own end: every agent has something to add */
    struct wire_usage *usages; /* what the processes used; NULL: unknown */
    uint32_t usage_count;
    int status;

    /* Output. */
    struct show *show;
    struct sink sinks[2];    /* our stdout and stderr, for relayed output */
    struct replay *replay;   /* NULL: nothing is rolled back */
    struct whole whole;      /* lines of several hosts */
    struct order *order;     /* NULL: there is but one host */
    struct coord_name known; /* the newest snapshot that all agents know to be committed */
    bool any_output;
    bool differs_told, unkept_told;
    bool paused;
    bool prompts; /* somebody looks on: beginnings of lines are shown, too */
    bool output_closed;
    bool terminal;      /* stderr is one: progress is one live line */
    bool line_shown;    /* ... and it is on the screen */
    bool within_line;   /* what was shown last has not come to the end of its line */
    struct progress progress;
    double status_seconds; /* as Processor Zero's agent says */
    uint32_t status_processes;

    /* For bspstat. */
    struct status_socket *status_socket; /* NULL: there is none */
    char *command_line, *directory;      /* what runs, where it was started */
    uint64_t saved_ms;                   /* when the newest snapshot was committed; 0: not by us */
    struct status_host *status_hosts;
    struct learned_facts learned;

    /* Input, with snapshots. */
    struct feed feed;
    struct input input;
    struct launcher_agent *reader; /* where process 0 is; NULL: unknown */
};

/* ---- launcher.c ---- */

/* A line of bsprun's own. */
void launcher_say(struct launcher *launcher, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void launcher_clear_progress(struct launcher *launcher);
/* An agent got the signal, which asks for the end of the job, as bsprun may have or will. */
void launcher_asked_by_agent(struct launcher *launcher, int signal);
uint64_t launcher_now_ms(void);
/* Nothing is left to do, once the agents are gone. */
void launcher_wind_up(struct launcher *launcher);
bool launcher_has_snapshots(const struct launcher *launcher); /* the user wants them */
bool launcher_has_store(const struct launcher *launcher);

/* ---- launcher_remote.c ---- */

/* What several hosts need, if there are several.  0 or -errno. */
struct net_ports launcher_ports(const struct launcher *launcher);
int launcher_open_remote(struct launcher *launcher);
void launcher_close_remote(struct launcher *launcher);
/* All at once, as far as there is room.  False: said why not. */
bool launcher_start_remotes(struct launcher *launcher, const uint32_t *hosts, uint32_t count);
void launcher_remote_closed(struct launcher_agent *agent, enum net_end end, const char *text);
/* The first message to an agent of a job with several hosts.  False: said why not. */
bool launcher_send_join(struct launcher_agent *agent);
/* Whether that child of ours has brought an agent elsewhere on its way. */
bool launcher_is_launching(const struct launcher *launcher, pid_t pid);

/* ---- launcher_job.c ---- */

/* The machine of this job; its effects are carried out at once.  False: no memory. */
bool launcher_begin_job(struct launcher *launcher);
/* now_ms is filled in. */
void launcher_event(struct launcher *launcher, struct job_event event);
/* The job is over, and perhaps its output is out, too. */
void launcher_finish(struct launcher *launcher);
/* The job has ended, and this agent will not say what it still has to say, if so. */
void launcher_tell_incomplete(struct launcher_agent *agent);

/* ---- launcher_end.c ---- */

/* What the newest fault is; the one before is told, if nobody could be told of it yet. */
void launcher_fault_text(struct launcher *launcher, const char *text);
const char *launcher_last_fault(const struct launcher *launcher);
/* One line for each rollback, once it is known where to; NULL: there was another fault first. */
void launcher_tell_rollback(struct launcher *launcher, const struct coord_name *from);
/* Why the job has ended. */
void launcher_tell_end(struct launcher *launcher);
/* One line for a status that is not 0 and of which nobody has said anything.  Process 0's own, after
 * bsp_end, needs none but with -v. */
void launcher_tell_reason(struct launcher *launcher, int status);

/* ---- launcher_left.c ---- */

/* Which snapshot survives, where, and the command that goes on from it. */
void launcher_tell_left(struct launcher *launcher);

/* ---- launcher_faults.c ---- */

void launcher_call_roll(struct launcher *launcher);
/* An agent that was called may have been lost. */
void launcher_check_roll(struct launcher *launcher);
/* What the fault is. */
void launcher_blame(struct launcher *launcher, const struct job_effect *effect);
void launcher_dismiss(struct launcher_agent *agent);
void launcher_lost_to_zero(struct launcher *launcher, uint32_t host, const char *text);
void launcher_take_alive(struct launcher_agent *agent);
void launcher_take_link_lost(struct launcher_agent *agent, const struct wire_message *message);
/* Where it is Processor Zero that decides what comes of the loss. */
void launcher_tell_zero_lost(struct launcher_agent *agent, const char *text);
/* Whether such an agent will do; else it is given up. */
bool launcher_accepts(struct launcher_agent *agent, const struct wire_hello *hello);

/* ---- launcher_talk.c ---- */

/* Whether it was sent in the present term. */
bool launcher_is_present(const struct launcher *launcher, const struct wire_message *message);
void launcher_take(struct launcher_agent *agent, const struct wire_message *message);
void launcher_query_status(struct launcher *launcher);
void launcher_resize(struct launcher *launcher);
void launcher_tell_report(struct launcher *launcher);

/* ---- launcher_start.c ---- */

/* START to an agent that has come.  The program may ask how many processes there can be before it
 * comes to bsp_begin: so it begins when that is known. */
void launcher_start_when_possible(struct launcher_agent *agent);

/* ---- launcher_status.c ---- */

/* Answers who asks, from now on, if that is possible. */
void launcher_open_status(struct launcher *launcher);
void launcher_close_status(struct launcher *launcher);

/* ---- launcher_learn.c ---- */

/* Reads what earlier jobs saw; after the hosts are known. */
void launcher_learn_begin(struct launcher *launcher);
struct evidence_time launcher_evidence_now(void);
/* Before anything changes in who lives: the time up to now counts. */
void launcher_watch(struct launcher *launcher);
/* Something was lost; agent NULL: a process, or no host in particular.  Before the job machine knows
 * of it. */
void launcher_saw(struct launcher *launcher, struct launcher_agent *agent, enum evidence_loss how);
/* No agent can be started there again: it was not the agent alone that was lost. */
void launcher_saw_no_agent(struct launcher_agent *agent);
/* What Processor Zero says that it has learned. */
void launcher_take_learned(struct launcher *launcher, const struct wire_message *message,
                           struct wire_real_list estimate, uint64_t interval_ns, uint32_t why);
struct learned_facts launcher_learned(const struct launcher *launcher);
/* For the report; to be freed; NULL: no memory. */
char *launcher_learned_table(struct launcher *launcher);
/* What --report=FILE asks for. */
void launcher_write_report(struct launcher *launcher);

/* ---- launcher_history.c ---- */

/* Adds what earlier jobs saw to the prior. */
void launcher_history_begin(struct launcher *launcher, struct estimate *prior);
void launcher_history_running(struct launcher *launcher);
void launcher_history_lost(struct launcher_agent *agent, enum estimate_kind kind);
/* A snapshot is committed: a good time to tell what was seen, if it is long ago. */
void launcher_history_saved(struct launcher *launcher);
void launcher_history_flush(struct launcher *launcher);
/* The job is over; preempted: somebody else wanted its hosts. */
void launcher_history_end(struct launcher *launcher, bool preempted);

/* ---- launcher_output.c ---- */

/* How the program's output comes: with snapshots through bsprun, which can leave out what is written
 * again, and with a live line of progress, which must be wiped before it. */
enum wire_stdio launcher_stdio(const struct launcher *launcher);
/* 0 or -errno. */
int launcher_open_streams(struct launcher *launcher);
void launcher_close_streams(struct launcher *launcher);
void launcher_show_output(struct launcher_agent *agent, const struct wire_message *message);
/* No more will come: beginnings of lines are shown, too. */
void launcher_finish_output(struct launcher *launcher);
/* Whether the user's readers have taken all of it. */
bool launcher_output_is_out(const struct launcher *launcher);
/* The user wants the end, not the rest of the output. */
void launcher_drop_output(struct launcher *launcher);
void launcher_mark(struct launcher_agent *agent, const struct wire_message *message);
void launcher_passed(struct launcher_agent *agent, const struct wire_message *message);
/* A term begins with those hosts; the line to one has ended. */
void launcher_order_term(struct launcher *launcher);
void launcher_order_lost(struct launcher_agent *agent);
void launcher_forget(struct launcher *launcher, struct coord_name name);
void launcher_go_back(struct launcher *launcher, struct coord_name name);
void launcher_input_taken(struct launcher_agent *agent, uint64_t position, uint64_t digest);

#endif
