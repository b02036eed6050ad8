/* job_machine.h - the life of a job as bsprun sees it: terms, elections, replacements, restarts.
 *
 *   job_machine_step(machine, event, effects)
 *
 * Pure like Processor Zero (coordinator/core/coord.h), which decides within a term; this machine
 * decides what comes after it.  No clock, no I/O, no allocation in a step.
 *
 * States, and what each waits for:
 *
 *   GATHERING  agents are being started, or were lost: waits until every host that takes part is
 *              up, those that may still compute unheard have had their time (fence), and, in a job
 *              that begins, process 0 has registered; then ELECT opens a term
 *   RUNNING    Processor Zero decides: waits for ENDED or TERM_OVER, or for the loss of a host
 *   FINISHING  the program has ended well, which is being recorded
 *   OVER       EXIT was emitted: every agent is to leave
 *
 * Only this machine hands out terms, each once.  A term that goes on from a snapshot does nothing
 * before the snapshot's name is durable (RECORD_TERM, then TERM_RECORDED).  Faults count since the
 * newest commit; one more than max_restarts ends the job with what the last one was.  After CLOSED
 * nothing is rolled back, unless Processor Zero had ended the term before CLOSED came to it
 * (TERM_OVER): then nobody has left bsp_end.
 *
 * When a host is said to be lost by another one, all are called first: one that is gone does not
 * answer, and is what was lost.  If all do, it is the way between two.  The next term tries again;
 * if it loses such a link, too, it is the last with one of those hosts: the one that most do not
 * hear, rather not Processor Zero's, nor bsprun's own, rather a later one of the list.
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
    JOB_EVENT_AGENT_UP,        /* host: it waits for ELECT; the first to come is elected */
    JOB_EVENT_AGENT_LOST,      /* host, unheard, usable; also: it could not be started */
    JOB_EVENT_REGISTERED,      /* host: process 0 is in bsp_begin */
    JOB_EVENT_CHOSEN,          /* term, name: Processor Zero wants to begin from there */
    JOB_EVENT_RECORDED,        /* term, name, error: RECORD_TERM is done */
    JOB_EVENT_COMMITTED,       /* term, name */
    JOB_EVENT_CLOSING,         /* term: every process is in bsp_end */
    JOB_EVENT_TERM_OVER,       /* term, outcome: a fault */
    JOB_EVENT_LINK_LOST,       /* term, host: it does not hear peer any more; itself: bsprun */
    JOB_EVENT_ROLL,            /* CALL is done: every agent that is not lost has answered */
    JOB_EVENT_ENDED,           /* term, outcome: the job is over; term 0: before it was in one */
    JOB_EVENT_STOP,            /* how, signal: the user wants the end */
    JOB_EVENT_SAVE,            /* stop, signal, grace_ms: the user wants a snapshot */
    JOB_EVENT_FINISH_RECORDED, /* RECORD_FINISH is done, or failed */
    JOB_EVENT_TIMER,           /* the timer set by SET_TIMER */
    JOB_EVENT_KIND_COUNT
};

struct job_event {
    enum job_event_kind kind;
    uint64_t now_ms; /* of a clock that does not go back */
    uint32_t host, peer;
    uint32_t term;
    bool unheard; /* AGENT_LOST: what runs there may go on until it notices that it is cut off */
    bool usable;  /* AGENT_LOST: another agent can be started there */
    struct coord_name name;
    uint32_t error;
    struct coord_outcome outcome;
    enum wire_stop_how how;
    bool stop;
    uint32_t signal;
    uint64_t grace_ms;
};

/* In this order within a step. */
enum job_effect_kind {
    JOB_EFFECT_CALL,  /* every agent, to see who is there; ROLL */
    JOB_EFFECT_BLAME, /* what the fault is: host and peer do not hear each other; the same: it
                         does not hear bsprun; JOB_NO_HOST: what TERM_OVER said.  gone: the
                         job goes on without host */
    JOB_EFFECT_LOST_TO_ZERO,  /* to Processor Zero: host is lost */
    JOB_EFFECT_RECORD_TERM,   /* make durable: term begins from name; RECORDED */
    JOB_EFFECT_RECORD_FINISH, /* make durable: the job has ended with status; FINISH_RECORDED */
    JOB_EFFECT_START_AGENT,   /* host; AGENT_UP or AGENT_LOST */
    JOB_EFFECT_DISMISS,   /* host: it is to leave; AGENT_LOST when nothing of it runs any more */
    JOB_EFFECT_SAY_AGAIN, /* tell the user of the fault and the rollback (job_fault) */
    JOB_EFFECT_ELECT,     /* to every member: host is Processor Zero of term */
    JOB_EFFECT_TERM_RECORDED, /* to Processor Zero */
    JOB_EFFECT_CLOSED,        /* to Processor Zero */
    JOB_EFFECT_STOP,      /* host: Processor Zero, or the agent of a program alone: how, signal */
    JOB_EFFECT_SAVE,      /* to Processor Zero: stop, signal, grace_ms */
    JOB_EFFECT_SET_TIMER, /* milliseconds; replaces the one before */
    JOB_EFFECT_EXIT,      /* end every agent, then return status (job_outcome) */
    JOB_EFFECT_KIND_COUNT
};

struct job_effect {
    enum job_effect_kind kind;
    uint32_t host, peer;
    bool gone;
    uint32_t term;
    struct coord_name name;
    int32_t status;
    enum wire_stop_how how;
    bool stop;
    uint32_t signal;
    uint64_t milliseconds; /* SET_TIMER; SAVE: the grace */
};

struct job_effects {
    uint32_t count;
    struct job_effect items[JOB_EFFECTS_MAX];
    bool dropped;
};

/* A fault that was, or was not, recovered from. */
struct job_fault {
    struct coord_outcome outcome; /* its text is not kept */
    uint32_t restarts;            /* since the newest commit, this one included */
    uint32_t repeats;             /* how often this very fault in a row: pid, signal, superstep */
};

struct job_machine_config {
    uint32_t host_count;
    const struct wire_host *hosts; /* copied; the last `spares` are used when others are lost */
    uint32_t spares;
    bool snapshots;
    bool restore;       /* begins from a snapshot, of which there is one ... */
    uint64_t wanted;    /* ... of so many supersteps; COORD_NEVER: the newest */
    uint32_t last_term; /* the newest on record, a job's first included; 0 in a new job */
    struct coord_lineage lineage;
    bool finished; /* the job to restart has ended, with this status */
    int32_t finished_status;
    uint32_t max_restarts;
    uint32_t own;      /* the host of bsprun itself; JOB_NO_HOST: none of them */
    uint64_t fence_ms; /* after which an agent that is not heard of has stopped its processes */
};

struct job_machine;

/* The caller starts the agents of all hosts but the spares.  `effects` is empty, or EXIT when the
 * job has ended already.  NULL: senseless (no host but spares, a host twice), or no memory. */
struct job_machine *job_machine_new(const struct job_machine_config *config,
                                    struct job_effects *effects);
void job_machine_free(struct job_machine *machine); /* NULL is fine */

/* Takes one event; what comes too late or from an older term is dropped. */
void job_machine_step(struct job_machine *machine, const struct job_event *event,
                      struct job_effects *effects);

enum job_machine_state job_machine_state(const struct job_machine *machine);
const char *job_machine_state_name(enum job_machine_state state);
uint32_t job_machine_term(const struct job_machine *machine); /* 0 before the first */
/* Of the present term; before the first: the host where the program begins. */
uint32_t job_machine_zero(const struct job_machine *machine);
/* Where a new job begins the program. */
uint32_t job_machine_program(const struct job_machine *machine);
/* Whether the host takes part in the term. */
bool job_machine_member(const struct job_machine *machine, uint32_t host);
/* For ELECT: whether the term goes on from a snapshot, which ones count, which are to be avoided.
 */
bool job_machine_restores(const struct job_machine *machine);
uint64_t job_machine_wanted(const struct job_machine *machine);
const struct coord_lineage *job_machine_lineage(const struct job_machine *machine);
uint32_t job_machine_avoid(const struct job_machine *machine, const struct coord_name **names);
struct job_fault job_machine_fault(const struct job_machine *machine);
/* Whether processes of the newest term may have passed bsp_end: then nothing is rolled back. */
bool job_machine_closed(const struct job_machine *machine);
/* After EXIT: how the job ended; `again`: it can be restarted from a snapshot. */
struct coord_outcome job_machine_outcome(const struct job_machine *machine);
/* The same in words, for who has heard nothing better; never "".  Returns `text`. */
#define JOB_REASON_MAX 192u
const char *job_machine_reason(const struct job_machine *machine, char text[JOB_REASON_MAX]);

#endif
