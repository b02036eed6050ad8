/* coord.h - Processor Zero: the pure state machine that decides a term of a job.
 *
 *   coord_step(state, event, effects)
 *
 * An event is something that happened (a message, a loss, a timer), an effect something the caller
 * must do.  There is no clock, no I/O and no allocation in a step: all memory is taken by
 * coord_new, so the same events always give the same effects.  The shell around it
 * (coordinator/shell.h) turns messages into events and effects into messages.
 *
 * Life of a term, the states and what each waits for.  A job that begins:
 *
 *   WAITING    elected; waits for HOST_READY from every host and REGISTERED from one
 *   PLACING    PLACE is out; waits for RANKS_READY from every host
 *
 * or one that goes on from a snapshot:
 *
 *   WAITING    waits for HOST_READY from every host, which tells first what it has HELD
 *   CHOOSING   CHOOSE is out; waits for TERM_RECORDED: bsprun has noted where the term begins
 *   RESTORING  RESTORE is out; waits for STAGED from every host: nothing is irrevocable before
 *   PASSING    PASS is out; waits for RANKS_READY from every host
 *
 * and then:
 *
 *   RUNNING    RUN, RELEASE or RESUME is out; decides the barriers it is consulted about
 *   HELD_BACK  all have arrived and a snapshot is due, but the one before is not yet over
 *   CAPTURING  RELEASE with decision snapshot is out; waits for CAPTURED from every host
 *   SAVING     captured, and asked to stop: waits for the commit
 *   CLOSING    every process is in bsp_end: waits for CLOSED from bsprun (with snapshots only)
 *   ENDING     every process is past bsp_end; waits for RANK_EXITED of all
 *   ENDED      over, the program ran to its end; FINISH was emitted
 *   ABORTING   STOP_RANKS is out; waits for RANKS_STOPPED (or the loss) of every host
 *   ABORTED    over, the job was cut short; FINISH was emitted
 *   FAILED     over by a fault from which a next term can recover; FINISH was emitted
 *
 * FINISH is emitted exactly once, as the last effect of all.  After a loss, an abort, a request to
 * stop or the kill timer every path leads there, whatever is lost further.
 *
 * Snapshots.  Beside the state there is at most one ticket: the snapshot that is being taken.
 *
 *   NONE        there is none
 *   OPEN        waits for IMAGE_DURABLE of every process (and for all to be captured)
 *   PERSISTING  PERSIST is out; waits for PERSISTED, which makes it a committed snapshot
 *   ANNOUNCED   COMMITTED is out; waits for KNOWN from every host, then RETIRE
 *
 * A failure while it is OPEN or PERSISTING abandons it (ABANDON); the one committed before stays.
 *
 * Faults.  A process that dies by a signal and a host that is lost are faults.  With a committed
 * snapshot the term is then FAILED, and bsprun opens the next one; without, the job is aborted.
 * bsp_abort and an exit before bsp_end are the program's own end.  Once CLOSED has come nothing is
 * rolled back; CLOSE is also said, and not waited for, when the job is cut short, so that a host
 * lost meanwhile does not bring it back to life.
 *
 * Consultation.  On one host processes pass their barriers by themselves.  RUN, RELEASE and RESUME
 * name the next superstep whose end Processor Zero wants to decide (COORD_NEVER: none), CONSULT
 * asks for the next one, whichever it is: the host then lets nobody leave that barrier, reports
 * ARRIVED for it and waits for RELEASE.  Several hosts pass barriers like one, and each of them is
 * consulted at those of which this is wanted.  With snapshots the barrier of bsp_end is always
 * waited at.
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

#include "coordinator/core/learn.h"
#include "coordinator/core/lineage.h"
#include "coordinator/core/policy.h"
#include "lib/wire/wire.h"

#define COORD_NEVER       WIRE_NEVER
#define COORD_EFFECTS_MAX 12u   /* effects of one step, at most */
#define COORD_TEXT_MAX    4096u /* bytes of the text of an abort that are kept */
#define COORD_COMPLAINT   160u
#define COORD_HOSTS_MAX   1024u
#define COORD_HELD_MAX    16u  /* snapshots to choose from: the newest ones */
#define COORD_AVOID_MAX   16u  /* snapshots that could not be restored */
#define COORD_COPIES_MAX  4u   /* hosts on which an image must be durable, at most */
#define COORD_NOBODY      (-1) /* instead of a pid: no process is to blame */

enum coord_phase {
    COORD_WAITING,
    COORD_PLACING,
    COORD_RUNNING,
    COORD_ENDING,
    COORD_ENDED,
    COORD_ABORTING,
    COORD_ABORTED,
    COORD_CHOOSING,
    COORD_RESTORING,
    COORD_PASSING,
    COORD_HELD_BACK,
    COORD_CAPTURING,
    COORD_SAVING,
    COORD_CLOSING,
    COORD_FAILED,
    COORD_PHASE_COUNT
};

enum coord_ticket_state {
    COORD_TICKET_NONE,
    COORD_TICKET_OPEN,
    COORD_TICKET_PERSISTING,
    COORD_TICKET_ANNOUNCED,
    COORD_TICKET_STATE_COUNT
};

enum coord_timer {
    COORD_TIMER_STOP,     /* hosts that have not stopped by then are given up */
    COORD_TIMER_SNAPSHOT, /* a snapshot is due */
    COORD_TIMER_GRACE,    /* a snapshot before stopping takes too long */
    COORD_TIMER_COUNT
};

/* ---- Events ------------------------------------------------------------------------------- */

enum coord_event_kind {
    COORD_EVENT_HOST_READY,  /* host, slots: its agent is connected; also the own host's */
    COORD_EVENT_REGISTERED,  /* host, wanted: process 0 is in bsp_begin(wanted); after HOST_READY */
    COORD_EVENT_RANKS_READY, /* host, count: the processes placed there wait in bsp_begin */
    COORD_EVENT_ARRIVED,     /* host, superstep, barrier, output */
    COORD_EVENT_RANK_EXITED, /* host, pid, status, signal */
    COORD_EVENT_ABORT,       /* host, pid or COORD_NOBODY, cause, status, text */
    COORD_EVENT_STOP,        /* how, signal, text: bsprun wants the end */
    COORD_EVENT_RANKS_STOPPED, /* host: nothing of the job runs there any more */
    COORD_EVENT_HOST_LOST,     /* host: its agent is gone or broke a rule */
    COORD_EVENT_TIMER,         /* timer: one set by SET_TIMER expired */
    COORD_EVENT_HELD,          /* host, ...: what it has of a snapshot; before its HOST_READY */
    COORD_EVENT_TERM_RECORDED, /* bsprun answers CHOOSE */
    COORD_EVENT_STAGED,        /* host, count: the processes to restore there are complete */
    COORD_EVENT_CAPTURED,      /* host, superstep of the barrier, ... */
    COORD_EVENT_IMAGE_DURABLE, /* host, superstep of the snapshot, pid, ... */
    COORD_EVENT_IMAGE_FAILED,  /* host, superstep, pid, cause, text: not written or not restored */
    COORD_EVENT_PERSISTED,     /* host, superstep, error */
    COORD_EVENT_KNOWN,         /* host, superstep: answers COMMITTED */
    COORD_EVENT_SAVE,          /* stop, signal, grace_ms: bsprun wants a snapshot */
    COORD_EVENT_CLOSED,        /* bsprun answers CLOSE */
    COORD_EVENT_KIND_COUNT
};

/* Everything here belongs to the caller and is not referred to after the step. */
struct coord_event {
    enum coord_event_kind kind;
    uint32_t term; /* of whoever sent it; the shell's own events carry the machine's term */
    uint32_t host;
    uint64_t now_ns; /* of a clock that does not go back */
    union {
        struct {
            uint32_t slots; /* usable cores; used when the configuration gives none */
            bool shared;    /* its snapshots are in the directory that bsprun sees */
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
            uint64_t output[2];       /* bytes written to stdout and stderr so far */
        } arrived;
        struct {
            uint32_t pid;
            uint32_t status; /* exit status, when signal is 0 */
            uint32_t signal;
            const char *text; /* for the user; NULL or "" is fine */
        } rank_exited;
        struct {
            int32_t pid;
            enum wire_cause cause;
            int32_t status;   /* what bsprun shall return; 0 is taken as 1 */
            const char *text; /* for the user; NULL or "" is fine */
        } abort;
        struct {
            enum coord_timer timer;
        } timer;
        struct {
            struct coord_name name;
            uint32_t processes;
            bool manifest;              /* it has that: the snapshot is committed */
            bool all;                   /* it has every image */
            struct wire_numbers images; /* else of these processes */
            struct wire_numbers copies; /* and frozen copies of these */
            /* For each process the lowest with which it shall be on one host; empty: there are none
             * such. */
            struct wire_numbers together;
        } held;
        struct {
            uint32_t count;
        } staged;
        struct {
            uint64_t superstep;
            uint64_t pause_ns;
            uint64_t output[2], input, input_digest;
        } captured;
        struct {
            uint64_t superstep;
            uint64_t changed;
            struct wire_image image;
        } image_durable;
        struct {
            uint64_t superstep;
            uint32_t pid;
            enum wire_cause cause; /* REFUSED, NOT_WRITTEN, RANK_SIGNALLED (whoever wrote
                                      it) or NOT_RESTORED */
            const char *text;
        } image_failed;
        struct {
            uint64_t superstep;
            uint32_t error; /* errno value, 0: it is durable */
        } persisted;
        struct {
            uint64_t superstep;
            uint64_t busy_ns, copied_ns;  /* as in policy_costs */
            uint64_t read_bytes, read_ns; /* of an image, from the disk; 0: not tried */
        } known;
        struct {
            bool stop;
            uint32_t signal;
            uint64_t grace_ms;
        } save;
        struct {
            enum wire_stop_how how;
            uint32_t signal;
            const char *text;
        } stop;
    };
};

/* ---- Effects ------------------------------------------------------------------------------ */

/* In this order within a step: what must become durable, then what is sent, then timers, then
 * FINISH.  Sends go to every host for which coord_host_alive is true, the own one included: those
 * that are ready and not lost. */
enum coord_effect_kind {
    COORD_EFFECT_PERSIST,   /* write the manifest (coord_image, coord_position), answer PERSISTED;
                               to the hosts for which coord_host_persists is true */
    COORD_EFFECT_CHOOSE,    /* bsprun: note that the term begins from `name`; TERM_RECORDED */
    COORD_EFFECT_COMMITTED, /* send, and tell bsprun: name; KNOWN from every host */
    COORD_EFFECT_RETIRE,    /* send, and tell bsprun: what is older than `name` may go */
    COORD_EFFECT_ABANDON,   /* send: there will be no snapshot `name` */
    COORD_EFFECT_PLACE,   /* send: processes, snapshot; coord_host_of tells the host of each pid */
    COORD_EFFECT_RESTORE, /* send: processes, name; coord_host_of, coord_from_copy; STAGED */
    COORD_EFFECT_PASS,    /* send: all are staged; RANKS_READY */
    COORD_EFFECT_RUN,     /* send: processes, consult */
    COORD_EFFECT_RELEASE, /* send: superstep, decision, consult */
    COORD_EFFECT_RESUME,  /* send: superstep, consult: all are captured */
    COORD_EFFECT_CONSULT, /* send: ask at the next barrier, whichever it is */
    COORD_EFFECT_CLOSE,   /* bsprun: nothing is rolled back any more; CLOSED */
    COORD_EFFECT_STOP_RANKS, /* send: kill what runs, answer RANKS_STOPPED; again: do not answer */
    COORD_EFFECT_END,        /* send: the job is over, expect nothing more */
    COORD_EFFECT_SET_TIMER,  /* timer, milliseconds; setting it again replaces it */
    COORD_EFFECT_CANCEL_TIMER, /* timer */
    COORD_EFFECT_FINISH,       /* tell bsprun how the term ended (coord_outcome) */
    COORD_EFFECT_KIND_COUNT
};

struct coord_effect {
    enum coord_effect_kind kind;
    uint32_t term;
    uint32_t processes;          /* PLACE, RUN, RESTORE, PERSIST */
    uint64_t superstep;          /* RELEASE, RESUME: of the barrier; else the last one known */
    struct coord_name name;      /* of the snapshot */
    enum wire_decision decision; /* RELEASE */
    uint64_t consult;            /* RUN, RELEASE, RESUME */
    bool flag;                   /* PLACE: with snapshot 0; STOP_RANKS: again */
    enum coord_timer timer;
    uint64_t milliseconds; /* SET_TIMER */
};

struct coord_effects {
    uint32_t count;
    struct coord_effect items[COORD_EFFECTS_MAX];
    bool dropped;                    /* the event was of an older term or came after the end */
    char complaint[COORD_COMPLAINT]; /* with -EPROTO: which rule was broken */
};

/* How the job ended, as known so far; complete once FINISH was emitted. */
struct coord_outcome {
    int32_t status;              /* bsprun's exit status */
    enum wire_cause cause;       /* WIRE_CAUSE_NONE: it ran to its end */
    int32_t pid;                 /* who is to blame, or COORD_NOBODY */
    uint32_t signal;             /* of that process, or the one bsprun got; 0 if none */
    uint64_t superstep;          /* the newest that Processor Zero knows of */
    const char *text;            /* what came with the abort; "" if nothing; lives with the state */
    bool again;                  /* a fault: the job can go on from a snapshot in another term */
    struct coord_name bad;       /* NOT_RESTORED: not this one */
    struct coord_name committed; /* the newest snapshot, term 0 when there is none */
};

/* What the manifest says of a process. */
struct coord_digest {
    unsigned char bytes[WIRE_DIGEST_MAX];
    uint32_t size;
};

struct coord_image {
    uint64_t size;
    struct coord_digest digest;
    uint32_t generation; /* 0: nothing below it */
    struct coord_name base;
    uint32_t base_pid;
    struct coord_digest base_digest;
};

/* ---- The machine -------------------------------------------------------------------------- */

/* How much of a host others have. */
struct coord_load {
    uint32_t busy;  /* hundredths of processes that want to run; more than BUSY_MAX is as much */
    uint32_t speed; /* of a core, in any unit; 0: not known */
};
#define COORD_BUSY_MAX  100000000u
#define COORD_SPEED_MAX 1000000u

struct coord_config {
    uint32_t term; /* at least 1 */
    uint32_t host_count;
    const struct wire_host *hosts; /* in placement order; slots 0: what HOST_READY says; copied */
    const struct coord_load *loads; /* of each, for restores; NULL: all alike; copied */
    bool by_node;                  /* the next process on the next host, else hosts are filled */
    uint32_t process_limit;        /* bsprun's -np or BSP_PROCS; 0: none */
    uint32_t processes_max;        /* more than this is refused; 0: WIRE_RANKS_MAX */
    uint64_t consult_every;        /* decide every n-th barrier; 0: none */
    uint64_t abort_at;             /* for tests: abort at the end of this superstep; COORD_NEVER */
    uint64_t stop_grace_ms;        /* from STOP_RANKS to giving up on hosts; 0: 10 seconds */

    bool snapshots;            /* the rest matters only with them */
    struct policy_rule rule;   /* when */
    struct policy_costs costs; /* as known from earlier terms */
    struct estimate estimate;  /* what the job has learned so far ... */
    struct coord_seen seen;    /* ... and what that does not have in it yet */
    struct coord_recovery recovery;
    double notice; /* seconds after which a silent host is lost; 0: there is no other host */
    /* A snapshot that fails ends the job, else it goes on without: as long as none at a barrier has
     * been committed; and after that. */
    bool stop_on_failure, stop_on_late_failure;
    bool recover;              /* from faults, when there is a snapshot */
    uint32_t copies; /* hosts on which an image and the manifest must be durable; 0: one.  One is
                        enough when all hosts see the same directory */
    bool restore;    /* the term begins from a snapshot ... */
    uint64_t wanted; /* ... of so many supersteps; COORD_NEVER: the newest */
    const struct coord_lineage
        *lineage; /* how earlier terms began; NULL: there were none; copied */
    struct coord_name avoid[COORD_AVOID_MAX]; /* snapshots that could not be restored */
    uint32_t avoid_count;
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
/* How many processes the host has, and the lowest pid of them.  Consecutive, except with by_node and
 * where some were moved here in a rollback. */
uint32_t coord_pids_of(const struct coord *state, uint32_t host, uint32_t *first);
/* Whether sends still go to this host. */
bool coord_host_alive(const struct coord *state, uint32_t host);
/* The snapshot being taken, and of which the newest is committed (term 0: none yet). */
enum coord_ticket_state coord_ticket(const struct coord *state, struct coord_name *name);
struct coord_name coord_committed(const struct coord *state);
/* After PLACE or RESTORE: on how many hosts each image must be. */
uint32_t coord_copies(const struct coord *state);
/* After PERSIST: a process's image (snapshot 0: all have that of process 0), where each host's
 * streams stood and how much stdin had been read; which hosts write the manifest. */
const struct coord_image *coord_image(const struct coord *state, uint32_t pid);
uint64_t coord_position(const struct coord *state, uint32_t host, uint32_t stream);
uint64_t coord_input(const struct coord *state);
uint64_t coord_input_digest(const struct coord *state);
bool coord_host_persists(const struct coord *state, uint32_t host);
/* After RESTORE: whether the process's host has a frozen copy of it. */
bool coord_from_copy(const struct coord *state, uint32_t pid);
/* What snapshots cost, as measured so far; for the next term. */
struct policy_costs coord_costs(const struct coord *state);
/* What has been learned by that time. */
struct estimate coord_estimate(const struct coord *state, uint64_t now_ns);
/* How long the processes are to run between two snapshots, in nanoseconds, POLICY_NEVER: for ever, or
 * that is no question of time; and why. */
uint64_t coord_interval(const struct coord *state, enum wire_why *why);
struct coord_outcome coord_outcome(const struct coord *state);

/* One line each for traces, always terminated; the name of a phase. */
void coord_event_text(const struct coord_event *event, char *text, size_t size);
void coord_effect_text(const struct coord_effect *effect, char *text, size_t size);
const char *coord_phase_name(enum coord_phase phase);

#endif
