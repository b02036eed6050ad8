/* coord.h - Processor Zero: the pure state machine that starts, releases, ends and aborts a job.
 *
 *   coord_step(state, event, effects)
 *
 * An event is something that happened (a message, a loss, a timer), an effect something the caller
 * must do.  There is no clock, no I/O and no allocation in a step: all memory is taken by
 * coord_new, so the same events always give the same effects.  The shell around it
 * (coordinator/shell.h) turns messages into events and effects into messages.
 *
 * Life of a job, the states and what each waits for:
 *
 *   WAITING    elected; waits for HOST_READY from every host and REGISTERED from one
 *   PLACING    PLACE is out; waits for RANKS_READY from every host
 *   RUNNING    RUN is out; decides the barriers it is consulted about
 *   ENDING     every process is past bsp_end; waits for RANK_EXITED of all
 *   ENDED      over, the program ran to its end; FINISH was emitted
 *   ABORTING   STOP_RANKS is out; waits for RANKS_STOPPED (or the loss) of every host
 *   ABORTED    over, the job was cut short; FINISH was emitted
 *
 * FINISH is emitted exactly once, as the last effect of all.  After a loss, an abort, a request to
 * stop or the kill timer every path leads there, whatever is lost further.
 *
 * Consultation.  On one host processes pass their barriers by themselves.  RUN and RELEASE name
 * the next superstep whose end Processor Zero wants to decide (COORD_NEVER: none): the host then
 * lets nobody leave that barrier, reports ARRIVED for it and waits for RELEASE.  With several
 * hosts this is every superstep.
 *
 * Terms.  Every event carries the term it was sent in.  An event of an older term does nothing; one
 * of a newer term is a broken rule, since a machine never outlives its term.
 *
 * Broken rules.  What a peer can cause is never an assertion: coord_step returns -EPROTO, the state
 * is as before, `complaint` says why.  The caller drops that peer and reports HOST_LOST.
 */
#ifndef COORD_H
#define COORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/wire.h"

#define COORD_NEVER       WIRE_NEVER
#define COORD_EFFECTS_MAX 8u    /* effects of one step, at most */
#define COORD_TEXT_MAX    4096u /* bytes of the text of an abort that are kept */
#define COORD_COMPLAINT   160u
#define COORD_HOSTS_MAX   1024u
#define COORD_NOBODY      (-1) /* instead of a pid: no process is to blame */

enum coord_phase {
    COORD_WAITING,
    COORD_PLACING,
    COORD_RUNNING,
    COORD_ENDING,
    COORD_ENDED,
    COORD_ABORTING,
    COORD_ABORTED,
    COORD_PHASE_COUNT
};

/* ---- Events ------------------------------------------------------------------------------- */

enum coord_event_kind {
    COORD_EVENT_HOST_READY,  /* host, slots: its agent is connected; also the own host's */
    COORD_EVENT_REGISTERED,  /* host, wanted: process 0 is in bsp_begin(wanted); after HOST_READY */
    COORD_EVENT_RANKS_READY, /* host, count: the processes placed there wait in bsp_begin */
    COORD_EVENT_ARRIVED,     /* host, superstep, barrier, bytes_to, output */
    COORD_EVENT_RANK_EXITED, /* host, pid, status, signal */
    COORD_EVENT_ABORT,       /* host, pid or COORD_NOBODY, cause, status, text */
    COORD_EVENT_STOP,        /* how, signal, text: bsprun wants the end */
    COORD_EVENT_RANKS_STOPPED, /* host: nothing of the job runs there any more */
    COORD_EVENT_HOST_LOST,     /* host: its agent is gone or broke a rule */
    COORD_EVENT_TIMER,         /* the timer set by SET_TIMER expired */
    COORD_EVENT_KIND_COUNT
};

/* Everything here belongs to the caller and is not referred to after the step. */
struct coord_event {
    enum coord_event_kind kind;
    uint32_t term; /* of whoever sent it; the shell's own events carry the machine's term */
    uint32_t host;
    union {
        struct {
            uint32_t slots; /* usable cores; used when the configuration gives none */
        } host_ready;
        struct {
            uint32_t wanted; /* 0: as many as there are slots */
        } registered;
        struct {
            uint32_t count;
        } ranks_ready;
        /* A host with all its processes at the barrier that ends `superstep`.  barrier END is
         * always reported, consulted or not: on one host, before any RANK_EXITED of a process that
         * is past bsp_end; the RELEASE that answers is a formality there. */
        struct {
            uint64_t superstep;
            enum wire_barrier barrier;
            const uint64_t *bytes_to; /* per host in the order of the configuration, or NULL */
            uint64_t output[2];       /* bytes written to stdout and stderr so far */
        } arrived;
        struct {
            uint32_t pid;
            uint32_t status; /* exit status, when signal is 0 */
            uint32_t signal;
        } rank_exited;
        struct {
            int32_t pid;
            enum wire_cause cause;
            int32_t status;   /* what bsprun shall return; 0 is taken as 1 */
            const char *text; /* for the user; NULL or "" is fine */
        } abort;
        struct {
            enum wire_stop_how how;
            uint32_t signal;
            const char *text;
        } stop;
    };
};

/* ---- Effects ------------------------------------------------------------------------------ */

/* In this order within a step: what must be durable first (nothing yet), then what is sent, then
 * timers, then FINISH.  Sends go to every host for which coord_host_alive is true, the own one
 * included: those that are ready and not lost. */
enum coord_effect_kind {
    COORD_EFFECT_PLACE,        /* send: processes; coord_host_of tells the host of each pid */
    COORD_EFFECT_RUN,          /* send: processes, consult */
    COORD_EFFECT_RELEASE,      /* send: superstep, decision, consult; coord_expected the bytes */
    COORD_EFFECT_STOP_RANKS,   /* send: kill what runs, answer RANKS_STOPPED */
    COORD_EFFECT_END,          /* send: the job is over, expect nothing more */
    COORD_EFFECT_SET_TIMER,    /* one timer; setting it again replaces it */
    COORD_EFFECT_CANCEL_TIMER, /* */
    COORD_EFFECT_FINISH,       /* tell bsprun how the job ended (coord_outcome) */
    COORD_EFFECT_KIND_COUNT
};

struct coord_effect {
    enum coord_effect_kind kind;
    uint32_t term;
    uint32_t processes;          /* PLACE, RUN */
    uint64_t superstep;          /* RELEASE: of the barrier; else the last one known */
    enum wire_decision decision; /* RELEASE */
    uint64_t consult;            /* RUN, RELEASE */
    uint64_t milliseconds;       /* SET_TIMER */
};

struct coord_effects {
    uint32_t count;
    struct coord_effect items[COORD_EFFECTS_MAX];
    bool dropped;                    /* the event was of an older term or came after the end */
    char complaint[COORD_COMPLAINT]; /* with -EPROTO: which rule was broken */
};

/* How the job ended, as known so far; complete once FINISH was emitted. */
struct coord_outcome {
    int32_t status;        /* bsprun's exit status */
    enum wire_cause cause; /* WIRE_CAUSE_NONE: it ran to its end */
    int32_t pid;           /* who is to blame, or COORD_NOBODY */
    uint32_t signal;       /* of that process, or the one bsprun got; 0 if none */
    uint64_t superstep;    /* the newest that Processor Zero knows of */
    const char *text;      /* what came with the abort; "" if nothing; lives with the state */
};

/* ---- The machine -------------------------------------------------------------------------- */

struct coord_config {
    uint32_t term; /* at least 1 */
    uint32_t host_count;
    const struct wire_host *hosts; /* in placement order; slots 0: what HOST_READY says; copied */
    uint32_t process_limit;        /* bsprun's -np or BSP_PROCS; 0: none */
    uint32_t processes_max;        /* more than this is refused; 0: WIRE_RANKS_MAX */
    uint64_t consult_every;        /* decide every n-th barrier; 0: none (one host only) */
    uint64_t abort_at;             /* for tests: abort at the end of this superstep; COORD_NEVER */
    uint64_t stop_grace_ms;        /* from STOP_RANKS to giving up on hosts; 0: 10 seconds */
    /* Called with every change of state, for a trace; may be NULL. */
    void (*moved)(void *context, enum coord_phase from, enum coord_phase to);
    void *context;
};

struct coord;

/* NULL when the configuration is senseless (no host, a host twice, term 0) or memory is short. */
struct coord *coord_new(const struct coord_config *config);
void coord_free(struct coord *state); /* NULL is fine */

/* Takes one event and fills `effects` (whose earlier content is overwritten).  0, or -EPROTO. */
int coord_step(struct coord *state, const struct coord_event *event, struct coord_effects *effects);

enum coord_phase coord_phase(const struct coord *state);
uint32_t coord_term(const struct coord *state);
uint32_t coord_processes(const struct coord *state); /* 0 before PLACE */
/* The host of a pid < coord_processes. */
uint32_t coord_host_of(const struct coord *state, uint32_t pid);
/* The pids of a host, which are consecutive: the first one and how many. */
uint32_t coord_pids_of(const struct coord *state, uint32_t host, uint32_t *first);
/* Bytes that host `from` sends to host `to` in the superstep just released; until the next step. */
uint64_t coord_expected(const struct coord *state, uint32_t from, uint32_t to);
/* Whether sends still go to this host. */
bool coord_host_alive(const struct coord *state, uint32_t host);
struct coord_outcome coord_outcome(const struct coord *state);

/* One line each for traces, always terminated; the name of a phase. */
void coord_event_text(const struct coord_event *event, char *text, size_t size);
void coord_effect_text(const struct coord_effect *effect, char *text, size_t size);
const char *coord_phase_name(enum coord_phase phase);

#endif
