/* job_machine.h - bsprun's state machine of a job: terms, elections, replacements, restarts.
 *
 *   job_machine_step(machine, event, effects)
 *
 * Pure like Processor Zero (coordinator/core/coord.h), which decides within a term; this machine
 * decides what follows it.  No clock, no I/O, no allocation in a step.
 *
 * States, and what each waits for:
 *
 *   GATHERING  agents are being started, or were lost: waits until every host that takes part is
 *              up, the fence has expired for those that may still compute unheard, and, in a job
 *              that begins, process 0 has registered; then ELECT opens a term
 *   RUNNING    Processor Zero decides: waits for ENDED or TERM_OVER, or for the loss of a host
 *   FINISHING  the program has ended well, which is being recorded
 *   OVER       EXIT was emitted: every agent is to leave
 *
 * Only this machine assigns terms, each once.  A term that begins from a snapshot does nothing
 * before the snapshot's name is durable (RECORD_TERM, then TERM_RECORDED).  Faults are counted
 * since the newest commit; one more than max_restarts ends the job with the last one as its cause.
 * After CLOSED nothing is rolled back, unless Processor Zero had ended the term before it received
 * CLOSED (TERM_OVER): then no process has left bsp_end.
 *
 * When a host reports another one lost, all are called first, to distinguish a host failure from a
 * link failure: a lost host does not answer.  If all answer, it is a link failure.  The next term
 * tries again; if it loses such a link, too, one of those hosts is excluded from then on: the one
 * that most others do not hear, preferably not Processor Zero's nor bsprun's own, preferably a
 * later one in the list.
 *
 * A drained host gets no processes while there is another.  To move what it has, the term is asked
 * to end at the commit of a snapshot (TERM_OVER with the cause MOVED, which is no fault), and the
 * next one begins there.  A host to be removed is then dismissed.  One that is no member and is to
 * be used, a new one, a spare, or one that was lost or removed, gets an agent while the term goes
 * on, and the term is asked to end when that is up.  While fewer hosts take part than at the
 * beginning, lost ones are tried again in this way now and then.
 *
 * A snapshot that the user asks for is owed until one that was taken later is committed, or has
 * failed: each Processor Zero is asked for it, also that of the next term.
 *
 * Where the processes of a host can be restarted alone on others (BEARABLE), its loss is Processor
 * Zero's to decide: the term goes on (SURVIVED), or is over (TERM_OVER).  If it is the host of
 * Processor Zero another one is named (TAKE_OVER), and decides that.
 *
 * EXIT is emitted exactly once, as the last effect of all.
 */
#ifndef BSPRUN_JOB_MACHINE_H
#define BSPRUN_JOB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/core/coord.h"

#define JOB_EFFECTS_MAX  16u
#define JOB_STATUS_SAVED 123 /* "restart me" */
#define JOB_NO_HOST      UINT32_MAX

enum job_machine_state {
    JOB_MACHINE_GATHERING,
    JOB_MACHINE_RUNNING,
    JOB_MACHINE_FINISHING,
    JOB_MACHINE_OVER,
    JOB_MACHINE_STATE_COUNT
};

enum job_event_kind {
    JOB_EVENT_AGENT_UP,   /* host: it waits for ELECT; the first one is elected */
    JOB_EVENT_AGENT_LOST, /* host, unheard, usable, away; also if it could not be started */
    JOB_EVENT_PLACED,     /* term, replicas: all hosts have snapshot 0, to make processes of it */
    JOB_EVENT_RUNNING,    /* term, replicas: its processes run */
    JOB_EVENT_BEARABLE,   /* term, host, bears: whether the term may go on without it */
    JOB_EVENT_SURVIVED,   /* term, host: it is lost, and its processes are restarted elsewhere */
    JOB_EVENT_REGISTERED, /* host: process 0 is in bsp_begin */
    JOB_EVENT_CHOSEN,     /* term, name: Processor Zero wants to begin from there */
    JOB_EVENT_RECORDED,   /* term, name, error: RECORD_TERM is done */
    JOB_EVENT_COMMITTED,  /* term, name, age_ms */
    JOB_EVENT_UNSAVED,    /* term, age_ms: a snapshot has failed */
    JOB_EVENT_CLOSING,    /* term, cut_short: every process is in bsp_end, or is ended before */
    JOB_EVENT_TERM_OVER,  /* term, outcome: a fault */
    JOB_EVENT_LINK_LOST,  /* term, host, behind: it no longer hears peer; peer == host: bsprun */
    JOB_EVENT_ROLL,       /* CALL is done: every agent that is not lost has answered */
    JOB_EVENT_ENDED,      /* term, outcome: the job is over; term 0: before the first */
    JOB_EVENT_STOP,       /* how, signal: the user requests the end */
    JOB_EVENT_SAVE,       /* stop, signal, grace_ms: the user requests a snapshot */
    JOB_EVENT_USE,        /* host, use: what the user wants it for; it may be a new one */
    JOB_EVENT_PLACE,      /* processes are to be placed anew */
    JOB_EVENT_MOVE,       /* some are to be moved; the caller knows which */
    JOB_EVENT_REPLICAS,   /* processes are to have another number of replicas; the caller knows */
    JOB_EVENT_FINISH_RECORDED, /* RECORD_FINISH is done, or failed */
    JOB_EVENT_TIMER,           /* the timer set by SET_TIMER */
    JOB_EVENT_KIND_COUNT
};

/* What the user wants a host for. */
enum job_use {
    JOB_USE_OPEN,
    JOB_USE_DRAINED, /* no processes while there is another */
    JOB_USE_LEFT,    /* the same, for now: if it is lost it is tried again */
    JOB_USE_REMOVED, /* no agent either: the job continues without it */
};

struct job_event {
    enum job_event_kind kind;
    uint64_t now_ms; /* of a monotonic clock */
    uint32_t host, peer;
    uint32_t term;
    bool unheard; /* AGENT_LOST: its processes may run until it notices that it is cut off */
    bool usable;  /* AGENT_LOST: another agent can be started there */
    bool away; /* AGENT_LOST: the host is no longer the job's, and is not tried again by itself */
    struct bspz_snapshot_name name;
    uint32_t error;
    struct coord_outcome outcome;
    enum wire_stop_how how;
    bool stop, cut_short;
    enum job_use use;
    uint32_t signal;
    uint64_t grace_ms;
    uint64_t age_ms; /* COMMITTED, UNSAVED: since the processes went on from there */
    bool bears;
    bool behind;       /* LINK_LOST: as the peer is too far behind its replicas */
    uint32_t replicas; /* REPLICAS: the most of one process, from the next term on; PLACED, RUNNING:
                          whether there are any */
};

/* Effects of a step are in this order. */
enum job_effect_kind {
    JOB_EFFECT_CALL,  /* every agent, for an answer; ROLL */
    JOB_EFFECT_BLAME, /* the cause of the fault: host and peer do not hear each other; if equal,
                         host does not hear bsprun; JOB_NO_HOST: as in TERM_OVER. gone: the job goes
                         on without host */
    JOB_EFFECT_LOST_TO_ZERO,  /* to Processor Zero: host is lost */
    JOB_EFFECT_RECORD_TERM,   /* make durable: term begins from name; RECORDED */
    JOB_EFFECT_RECORD_FINISH, /* make durable: the job has ended with status; FINISH_RECORDED */
    JOB_EFFECT_START_AGENT,   /* host; AGENT_UP or AGENT_LOST */
    JOB_EFFECT_DISMISS,       /* host: it must leave; AGENT_LOST when its processes have ended */
    JOB_EFFECT_SAY_AGAIN,     /* report the fault and the rollback to the user (job_fault) */
    JOB_EFFECT_ELECT,     /* to every member: host is Processor Zero of term; anew: processes are
                             placed as if there were no frozen copies of them */
    JOB_EFFECT_TAKE_OVER, /* to every member: host is Processor Zero of the same term from now on,
                             in the place of peer */
    JOB_EFFECT_TERM_RECORDED, /* to Processor Zero */
    JOB_EFFECT_CLOSED,        /* to Processor Zero */
    JOB_EFFECT_STOP,      /* host: Processor Zero, or the agent of a program alone: how, signal */
    JOB_EFFECT_SAVE,      /* to Processor Zero: stop, move, signal, grace_ms */
    JOB_EFFECT_SET_TIMER, /* milliseconds; replaces the previous one */
    JOB_EFFECT_EXIT,      /* end every agent, then return status (job_outcome) */
    JOB_EFFECT_KIND_COUNT
};

struct job_effect {
    enum job_effect_kind kind;
    uint32_t host, peer;
    bool gone;
    uint32_t term;
    struct bspz_snapshot_name name;
    int32_t status;
    enum wire_stop_how how;
    bool stop, move;
    bool anew;
    bool again; /* START_AGENT: it was lost, and may still not be there */
    uint32_t signal;
    uint64_t milliseconds; /* SET_TIMER; SAVE: the grace */
};

struct job_effects {
    uint32_t count;
    struct job_effect items[JOB_EFFECTS_MAX];
    bool dropped;
};

/* A fault, whether or not the job recovered from it. */
struct job_fault {
    struct coord_outcome outcome; /* without its text */
    uint32_t restarts;            /* since the newest commit, including this one */
    uint32_t repeats;             /* consecutive equal faults: pid, signal, superstep */
};

struct job_machine_config {
    uint32_t host_count;
    const struct wire_host *hosts; /* copied; the last `spares` are spares */
    uint32_t spares;
    uint32_t room; /* the most hosts, with those that are added; 0: no more than these */
    bool snapshots;
    bool restore;       /* begins from an existing snapshot ... */
    uint64_t wanted;    /* ... of so many supersteps; COORD_NEVER: the newest */
    uint32_t last_term; /* the newest on record; 0 in a new job */
    struct coord_lineage lineage;
    bool finished; /* the job to restart has ended, with this status */
    int32_t finished_status;
    uint32_t max_restarts;
    bool replicas;     /* of processes: the loss of a host need not end a term */
    uint32_t own;      /* the host of bsprun itself; JOB_NO_HOST: not in the list */
    uint64_t fence_ms; /* after which a silent agent has stopped its processes */
    uint64_t retry_ms; /* a lost host is tried again after this, then after twice; 0: never */
};

struct job_machine;

/* The caller starts the agents of all hosts but the spares.  `effects` is empty, or EXIT when the
 * job has already ended.  NULL: invalid configuration (no host but spares, a host twice), or no
 * memory. */
struct job_machine *job_machine_new(const struct job_machine_config *config,
                                    struct job_effects *effects);
void job_machine_free(struct job_machine *machine); /* NULL is fine */

/* Handles one event; drops late ones and those of older terms. */
void job_machine_step(struct job_machine *machine, const struct job_event *event,
                      struct job_effects *effects);

enum job_machine_state job_machine_state(const struct job_machine *machine);
const char *job_machine_state_name(enum job_machine_state state);
uint32_t job_machine_term(const struct job_machine *machine); /* 0 before the first */
/* The host of Processor Zero; before the first term, the host where the program begins. */
uint32_t job_machine_zero(const struct job_machine *machine);
/* The host on which a new job starts the program. */
uint32_t job_machine_program(const struct job_machine *machine);
/* Whether the next term places processes without regard to where they were, by request or as a host
 * joins. */
bool job_machine_places_anew(const struct job_machine *machine);
/* Whether the host takes part in the term. */
bool job_machine_member(const struct job_machine *machine, uint32_t host);
/* Whether the term goes on with it. */
bool job_machine_goes_on(const struct job_machine *machine, uint32_t host);
/* Whether it takes no part yet, and is to from a later term on. */
bool job_machine_joins(const struct job_machine *machine, uint32_t host);
/* Whether its agent is being started. */
bool job_machine_awaits(const struct job_machine *machine, uint32_t host);
/* Whether nothing was started there yet. */
bool job_machine_spare(const struct job_machine *machine, uint32_t host);
/* Whether the user wants the job to go on without it. */
bool job_machine_removed(const struct job_machine *machine, uint32_t host);
/* Whether it gets no processes. */
bool job_machine_drained(const struct job_machine *machine, uint32_t host);
/* Whether there would be a host for processes if this one were drained. */
bool job_machine_can_drain(const struct job_machine *machine, uint32_t host);
/* Whether the user has asked for a snapshot that has neither been committed nor failed. */
bool job_machine_owes_snapshot(const struct job_machine *machine);
/* For ELECT: whether the term begins from a snapshot, which ones count, which to avoid. */
bool job_machine_restores(const struct job_machine *machine);
uint64_t job_machine_wanted(const struct job_machine *machine);
const struct coord_lineage *job_machine_lineage(const struct job_machine *machine);
uint32_t job_machine_avoid(const struct job_machine *machine,
                           const struct bspz_snapshot_name **names);
struct job_fault job_machine_fault(const struct job_machine *machine);
/* Whether processes of the newest term may have passed bsp_end, so that nothing is rolled back. */
bool job_machine_closed(const struct job_machine *machine);
/* After EXIT: how the job ended; `again`: it can be restarted from a snapshot. */
struct coord_outcome job_machine_outcome(const struct job_machine *machine);
/* The outcome in words, if there is no better text; never "".  Returns `text`. */
#define JOB_REASON_MAX 192u
const char *job_machine_reason(const struct job_machine *machine, char text[JOB_REASON_MAX]);

#endif
