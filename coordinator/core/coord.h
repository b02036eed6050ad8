/* coord.h - Processor Zero: the pure state machine that decides a term of a job.
 *
 *   coord_step(state, now_ns, from, message, effects)
 *
 * Input and output are messages of the wire table, as agents and bsprun exchange them; an effect is
 * such a message, a timer, or the end.  There is no clock, no I/O and no allocation in a step:
 * coord_new allocates all memory, and the same messages always give the same effects.  The shell
 * around it (coordinator/shell.h) passes in messages one by one and carries out the effects.
 *
 * The states of a term, and what each waits for.  A job that begins:
 *
 *   WAITING    elected; waits for HOST_READY from every host and REGISTERED from one
 *   PLACING    PLACE is out; waits for RANKS_READY from every host
 *
 * or one that goes on from a snapshot:
 *
 *   WAITING    waits for HOST_READY from every host, which tells first what it has HELD
 *   CHOOSING   CHOSEN is out; waits for TERM_RECORDED: bsprun has noted where the term begins
 *   RESTORING  RESTORE is out; waits for STAGED from every host: nothing is irrevocable before
 *   PASSING    PASS is out; waits for RANKS_READY from every host
 *
 * or one in the place of another Processor Zero, whose host was lost while the processes ran,
 * or were made of snapshot 0:
 *
 *   TAKING_OVER  waits for ACCOUNT from every host: what it knows of the term
 *
 * and then:
 *
 *   RUNNING    RUN, RELEASE or RESUME is out; decides the barriers it is consulted about
 *   HELD_BACK  all have arrived and a snapshot is due, but the one before is not yet over
 *   CAPTURING  RELEASE with decision snapshot is out; waits for CAPTURED from every host
 *   SAVING     captured, and asked to stop or to move processes: waits for the commit
 *   CLOSING    every process is in bsp_end: waits for CLOSED from bsprun (with snapshots only)
 *   ENDING     every process is past bsp_end; waits for RANK_EXITED of all
 *   ENDED      over, the program ran to its end; FINISH was emitted
 *   GIVING_UP  the job is to be cut short; waits for CLOSED from bsprun (with snapshots only)
 *   ABORTING   STOP_RANKS is out; waits for RANKS_STOPPED (or the loss) of every host
 *   ABORTED    over, the job was cut short; FINISH was emitted
 *   FAILED     over by a fault from which a next term can recover; FINISH was emitted
 *
 * FINISH is emitted exactly once, as the last effect of all.  After a loss, an abort, a request to
 * stop or the kill timer every path leads there, whatever else is lost.
 *
 * Snapshots.  Beside the state there is at most one ticket: the snapshot that is being taken.
 *
 *   NONE        there is none
 *   OPEN        waits for IMAGE_DURABLE of every process (and for all to be captured)
 *   PERSISTING  PERSIST is out; waits for PERSISTED, which makes it a committed snapshot
 *   ANNOUNCED   COMMITTED is out; waits for KNOWN from every host, then RETIRE
 *
 * A failure while it is OPEN or PERSISTING abandons it (ABANDON); the previous committed one
 * remains.
 *
 * Faults.  A process that dies by a signal and a host that is lost are faults.  If there is a
 * committed snapshot, the term then becomes FAILED, and bsprun opens the next one; otherwise the
 * job is aborted.  bsp_abort and an exit before bsp_end are not faults.  Once CLOSED has arrived
 * nothing is rolled back.  An abort waits for it, too: bsprun may have heard of a lost host first
 * and have opened the next term, which agents that have stopped their ranks cannot enter.
 *
 * Moving processes.  A term that is asked to (SAVE with `move`), or that finds by its measurements
 * that it pays (balancing.c), ends at the commit of a snapshot, as by a fault but with the cause
 * MOVED: its processes have stayed at that barrier, and the next term begins there with other
 * places.  Where snapshots take long an ordinary one comes first, with which processes go on, so
 * that little is left to write when they wait.  Where images are incremental, the hosts to which
 * processes are expected to go (SAVE says so, or the own decision) are told of each of these once
 * it is known to all (AHEAD), restore it ahead, and answer, before the next one is due: so little
 * is left to read, too (ahead.c).  If the snapshot fails they go on where they are,
 * and another one is tried, later and later unless only its writer was killed.  Hosts that are
 * drained get no processes while there is another.
 *
 * Consultation.  On one host processes pass their barriers by themselves.  RUN, RELEASE and RESUME
 * name the next superstep whose end Processor Zero wants to decide (COORD_NEVER: none), CONSULT
 * asks for the next possible one: the host then lets no process leave that barrier, sends ARRIVE
 * for it and waits for RELEASE.  Several hosts pass barriers in the same way, and each of them
 * waits at those that are to be decided.  With snapshots the barrier of bsp_end is always decided.
 *
 * Replicas.  Several hosts, a cell, may have the same processes; the first of them is its lead, by
 * which the cell is named.  A barrier is decided when one host of each cell has arrived, and
 * RELEASE goes to all: those that come later find it decided.  So a barrier cannot be asked for
 * when some may have passed it: the next one to be decided is always named with the decision of the
 * one before, about a second ahead, or up to four where the ways between hosts are long.  The
 * images of a snapshot are those of the hosts that came first. A host that is lost does not end the
 * term as long as each cell has another; what is missing is made again when the next term begins.
 * Processes with as many replicas share cells, and hosts are divided among those: a process with
 * one replica is on a host that is a cell by itself, whose loss ends the term.
 *
 * Taking over.  With replicas the loss of Processor Zero's own host does not end the term either:
 * bsprun names another one (TAKE_OVER), which asks what was decided (takeover.c).
 *
 * Surviving.  Where the processes use nothing but the dataspace, of which other hosts keep copies,
 * the loss of a host while they run does not end the term: its processes are restarted alone on
 * other hosts, from the newest committed snapshot (SURVIVED), if the host has said before that they
 * can be (BEARS).  If it is Processor Zero's own host, bsprun names another one, as with replicas
 * (survive.c).
 *
 * Terms.  Every message carries the term it was sent in.  One of an older term is ignored; one of a
 * newer term breaks the rules, since a machine never outlives its term.
 *
 * Broken rules.  No message of a peer can fail an assertion: coord_step returns -EPROTO, the state
 * is unchanged, `complaint` says why.  The caller drops that peer and reports LINK_LOST.
 */
#ifndef COORD_H
#define COORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/core/balance.h"
#include "coordinator/core/learn.h"
#include "coordinator/core/lineage.h"
#include "coordinator/core/policy.h"
#include "coordinator/core/shares.h"
#include "lib/wire/replica_counts.h"
#include "lib/wire/wire.h"

#define COORD_NEVER       WIRE_NEVER
#define COORD_EFFECTS_MAX 12u   /* effects of one step, at most */
#define COORD_TEXT_MAX    4096u /* bytes kept of the text of an abort */
#define COORD_COMPLAINT   160u
#define COORD_HOSTS_MAX   1024u
#define COORD_HELD_MAX    16u        /* snapshots to choose from: the newest ones */
#define COORD_AVOID_MAX   16u        /* snapshots that could not be restored */
#define COORD_COPIES_MAX  4u         /* hosts on which an image must be durable, at most */
#define COORD_NOBODY      (-1)       /* in place of a pid: no process is to blame */
#define COORD_BSPRUN      UINT32_MAX /* in place of a host */

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
    COORD_GIVING_UP,
    COORD_FAILED,
    COORD_TAKING_OVER,
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
    COORD_TIMER_STOP,     /* hosts that have not stopped by then count as lost */
    COORD_TIMER_SNAPSHOT, /* a snapshot is due */
    COORD_TIMER_GRACE,    /* the snapshot before stopping takes too long */
    COORD_TIMER_GLANCE,   /* for coord_glance */
    COORD_TIMER_CAPTURE,  /* with replicas: hosts that have not captured by then are not waited for
                           */
    COORD_TIMER_COUNT
};

/* ---- Effects ------------------------------------------------------------------------------ */

/* The order within a step: messages, first those with what must become durable (PERSIST, CHOSEN),
 * then timers, then FINISH. */
enum coord_effect_kind {
    COORD_EFFECT_TELL,         /* message, to bsprun: CHOSEN, SAVED or CLOSING */
    COORD_EFFECT_SEND,         /* message, to every host for which coord_is_addressed is true */
    COORD_EFFECT_SET_TIMER,    /* timer, milliseconds; replaces one that was set before */
    COORD_EFFECT_CANCEL_TIMER, /* timer */
    COORD_EFFECT_FINISH,       /* tell bsprun how the term ended (coord_outcome) */
    COORD_EFFECT_KIND_COUNT
};

struct coord_effect {
    enum coord_effect_kind kind;
    enum coord_timer timer;
    uint64_t milliseconds;
    /* The complete message.  Its lists belong to the machine and are valid until its next step.
     * For timers and FINISH only the envelope is set. */
    struct wire_message message;
};

struct coord_effects {
    uint32_t count;
    struct coord_effect items[COORD_EFFECTS_MAX];
    bool dropped;                    /* the message was of an older term or came after the end */
    char complaint[COORD_COMPLAINT]; /* with -EPROTO: which rule was broken */
};

/* How the job ended; final once FINISH was emitted. */
struct coord_outcome {
    int32_t status;        /* bsprun's exit status */
    enum wire_cause cause; /* WIRE_CAUSE_NONE: it ran to its end */
    int32_t pid;           /* the process to blame, or COORD_NOBODY */
    uint32_t signal;       /* of that process, or the one bsprun got; 0 if none */
    uint64_t superstep;    /* the newest that Processor Zero knows of */
    const char *text;      /* the text of the abort, or ""; valid as long as the state */
    bool unaware;          /* the text is of an agent that did not know of the end of the job */
    bool again;            /* a fault: the job can be restarted from a snapshot in another term */
    struct bspz_snapshot_name bad;       /* NOT_RESTORED: the snapshot to avoid */
    struct bspz_snapshot_name right;     /* MISMATCH: those to avoid are newer; term 0: none is */
    struct bspz_snapshot_name committed; /* the newest snapshot, term 0 when there is none */
    struct wire_move_list moves; /* MOVED: by Processor Zero's own decision; as long as the state */
    double moving_seconds;       /* what its moves have cost the job at most, up to now ... */
    double passed_seconds;       /* ... of the time for which processes have run */
};

/* ---- The machine -------------------------------------------------------------------------- */

/* The load of a host by other programs. */
struct coord_load {
    uint32_t busy;  /* runnable processes in hundredths; capped at BUSY_MAX */
    uint32_t speed; /* of a core, in any unit; 0: not known */
};
#define COORD_BUSY_MAX  100000000u
#define COORD_SPEED_MAX 1000000u

/* The term of which a Processor Zero in the place of another one goes on: who has which processes,
 * as PLACE or RESTORE has said, and the newest snapshot that bsprun knows of (term 0: none). */
struct coord_predecessor {
    struct wire_numbers homes, leads; /* copied; no homes: there was none */
    struct bspz_snapshot_name committed;
};

struct coord_config {
    unsigned char job[WIRE_JOB_SIZE];
    uint32_t term; /* at least 1 */
    uint32_t host_count;
    const struct wire_host *hosts;  /* in placement order; slots 0: as in HOST_READY; copied */
    const struct coord_load *loads; /* of each, for restores; NULL: all alike; copied */
    bool by_node;                   /* place round robin, else fill one host after the other */
    bool anew;                      /* in a restore: without regard to where processes were */
    struct wire_move_list moves;    /* in a restore: processes that are to be on that host; others
                                       than there are are ignored; copied */
    uint32_t process_limit;         /* bsprun's -np or BSP_PROCS; 0: none */
    uint32_t stdin_pid;             /* whose input is part of snapshots */
    uint32_t processes_max;         /* a greater number is refused; 0: WIRE_RANKS_MAX */
    uint32_t replicas; /* of each process, on as many hosts, or the most of one; 0: one */
    struct replica_counts counts; /* of each, where they are not the same; count 0: they are */
    bool back_on_mismatch;  /* replicas that differ: back to the last snapshot, else the end */
    uint64_t consult_every; /* decide every n-th barrier; 0: none */
    uint64_t abort_at;      /* for tests: abort at the end of this superstep; COORD_NEVER */
    uint64_t stop_grace_ms; /* from STOP_RANKS until hosts count as lost; 0: 10 seconds */

    bool snapshots;            /* those below apply only with snapshots */
    struct policy_rule rule;   /* when */
    struct policy_costs costs; /* from earlier terms */
    struct estimate estimate;  /* what the job has learned so far ... */
    struct coord_seen seen;    /* ... and what that does not include yet */
    struct coord_recovery recovery;
    double notice; /* seconds after which a silent host is lost; 0: there is no other host */
    /* Whether a failed snapshot ends the job: before any at a barrier has been committed; after
     * that. */
    bool stop_on_failure, stop_on_late_failure;
    bool recover;    /* from faults, when there is a snapshot */
    uint32_t copies; /* hosts on which an image and the manifest must be durable; 0: one.  One
                        suffices when all hosts share the directory */
    bool
        survives; /* with `recover` and no replicas: other hosts keep copies of the dataspace ... */
    uint32_t own; /* ... and this one is Processor Zero's own */
    bool at_once; /* processes move at the next snapshot: nothing is written or restored ahead */
    bool balance; /* processes move by Processor Zero's decision, too; with `recover` ... */
    double moving_seconds, passed_seconds; /* ... as outcomes of earlier terms have said */
    const struct share_sums *earlier;      /* of each host, by earlier jobs; NULL: nothing is known;
                                              copied */
    /* For tests: NULL, BALANCE_RULE, else for as long as the machine; the least time from one look
     * at measurements to the next, 0: a quarter of a second. */
    const struct balance_rule *balance_rule;
    uint64_t look_ns;
    bool restore;                        /* the term begins from a snapshot ... */
    uint64_t wanted;                     /* ... of so many supersteps; COORD_NEVER: the newest */
    const struct coord_lineage *lineage; /* how earlier terms began; NULL: none; copied */
    struct bspz_snapshot_name avoid[COORD_AVOID_MAX]; /* snapshots that could not be restored */
    uint32_t avoid_count;
    struct coord_predecessor predecessor; /* of the same term: with replicas, or `survives` */
    /* Called with every change of state, for a trace; may be NULL. */
    void (*moved)(void *context, enum coord_phase from, enum coord_phase to);
    void *context;
};

struct coord;

/* NULL: the configuration is invalid (no host, a host twice, term 0, places of a predecessor that
 * cannot be) or memory is short. */
struct coord *coord_new(const struct coord_config *config);
void coord_free(struct coord *state); /* NULL is fine */

/* Handles one message and overwrites `effects`. 0, or -EPROTO.
 *
 * from: the host whose agent sends it, a message TO_ZERO; or COORD_BSPRUN: STOP, SAVE,
 * TERM_RECORDED, CLOSED, or LINK_LOST, which reports the host `peer` lost, whoever noticed.
 * now_ns: of a monotonic clock.  The message is not referred to after the step.
 */
int coord_step(struct coord *state, uint64_t now_ns, uint32_t from,
               const struct wire_message *message, struct coord_effects *effects);
/* The same for the expiry of a timer that SET_TIMER has set. */
void coord_expire(struct coord *state, uint64_t now_ns, enum coord_timer timer,
                  struct coord_effects *effects);

/* The same for the expiry of COORD_TIMER_GLANCE, with the superstep in which the processes of
 * Processor Zero's own host are; COORD_NEVER: it has none, and nothing is learned.  No message is
 * needed for it, so it comes often: when supersteps have clearly become longer, the next barrier is
 * decided, with measurements. */
void coord_glance(struct coord *state, uint64_t now_ns, uint64_t superstep,
                  struct coord_effects *effects);

enum coord_phase coord_phase(const struct coord *state);
uint32_t coord_term(const struct coord *state);
/* Fills in job and term of this machine, for messages to it. */
void coord_address(const struct coord *state, struct wire_envelope *envelope);
/* Whether the host is ready and not lost. */
bool coord_host_alive(const struct coord *state, uint32_t host);
/* Whether the term would go on without the host, as what it has runs elsewhere in replicas; once
 * the end is decided it does in any case, and what has not ended anywhere counts as lost. */
bool coord_can_lose(const struct coord *state, uint32_t host);
/* Whether it would, as the processes there would be restarted alone on other hosts. */
bool coord_can_outlive(const struct coord *state, uint32_t host);
/* The hosts in the order of the configuration; index < config->host_count. */
uint32_t coord_host_count(const struct coord *state);
uint32_t coord_host_at(const struct coord *state, uint32_t index);
/* The slots of all hosts, or of the cells that have been formed: of each those of the host that has
 * the fewest. */
uint64_t coord_slots(const struct coord *state);
/* Whether an effect's message is for this host: it must be alive, and for PERSIST keep the
 * manifest. */
bool coord_is_addressed(const struct coord *state, uint32_t host, enum wire_kind kind);
/* The snapshot being taken. */
enum coord_ticket_state coord_ticket(const struct coord *state, struct bspz_snapshot_name *name);
/* The costs of snapshots measured so far, for the next term. */
struct policy_costs coord_costs(const struct coord *state);
/* The estimate at that time. */
struct estimate coord_estimate(const struct coord *state, uint64_t now_ns);
/* The same as in messages to bsprun; the list is in `numbers`, that of shares in the state until
 * the next call. */
struct wire_learned coord_learned(const struct coord *state, uint64_t now_ns,
                                  struct wire_real numbers[ESTIMATE_NUMBERS]);
/* The time between two snapshots, in nanoseconds, and why; POLICY_NEVER: no snapshots, or not
 * determined by time. */
uint64_t coord_interval(const struct coord *state, enum wire_why *why);
struct coord_outcome coord_outcome(const struct coord *state);

/* One line each for traces, always terminated; "" for SAVED, which goes with COMMITTED or RETIRE;
 * the name of a phase. */
void coord_message_text(uint32_t from, const struct wire_message *message, char *text, size_t size);
void coord_timer_text(uint32_t term, enum coord_timer timer, char *text, size_t size);
void coord_effect_text(const struct coord_effect *effect, char *text, size_t size);
const char *coord_phase_name(enum coord_phase phase);

#endif
