/* made_up.h - jobs with snapshots in a made-up world, driven by one seed.
 *
 * Real are Processor Zero and its shell, the messages through encoder and decoder, and bsprun's job
 * machine.  Made up are everything around them:
 *   hosts    up to 64, each with an agent, processes, frozen copies, and a disk of its own or one
 *            that all share
 *   links    keep the order between two ends; messages of different links overtake one another; a
 *            link that breaks loses what was on it; old messages turn up in later terms
 *   disks    what was being written when its agent was killed may be there or not; what is there
 * and was not synced may be lost with the power, what was removed may come back faults   enum
 * fault_kind
 *
 * In some worlds (ALL_REPLICAS) processes have replicas on several hosts: cells.c.
 *
 * Each process has a value that every barrier mixes with those of all others and with a random
 * number: two executions of a superstep never give the same.  Processes put back to different
 * snapshots, or to images of different executions, meet with values that differ.
 */
#ifndef MADE_UP_H
#define MADE_UP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bsprun/agent/core/job.h"
#include "bsprun/agent/snapshot/snapshot_states.h"
#include "bsprun/launcher/evidence.h"
#include "bsprun/launcher/job_machine.h"
#include "coordinator/shell.h"
#include "tests/sim/timeline.h"

#define HOSTS        64u
#define RANKS        64u
#define WANTED_MOVES 4u
#define SNAPS        256u
#define TERMS        200u
#define FENCE_MS     400u
#define NOBODY       UINT32_MAX
#define WIDE_HOSTS   6u /* hosts in most of the worlds */
#define BARRIERS     24u

enum fault_kind {
    FAULT_RANK,      /* a process is killed */
    FAULT_AGENT,     /* an agent is killed, its processes with it; the host stays */
    FAULT_HOST,      /* a host is gone for good, and its disk */
    FAULT_CUT_OFF,   /* a host loses the network and does not know yet */
    FAULT_LINK,      /* two hosts do not hear each other, or one of them the other */
    FAULT_BSPRUN,    /* bsprun is killed; later the job is restarted, or not */
    FAULT_WRITE,     /* the next image or manifest cannot be written */
    FAULT_REFUSED,   /* the next capture is refused */
    FAULT_DAMAGE,    /* a snapshot's image turns out to be damaged when it is restored */
    FAULT_OLD,       /* a message of an earlier term turns up */
    FAULT_SAVE,      /* the user asks for a snapshot */
    FAULT_SAVE_STOP, /* ... and for the end */
    FAULT_STOP,      /* the user wants the end */
    FAULT_ABORT,     /* a process calls bsp_abort */
    FAULT_POWER,     /* several hosts lose their power in the same moment, perhaps bsprun's, too */
    FAULT_STEP,   /* bsprun is killed at a step of a commit; later the job is restarted, or not */
    FAULT_SLOW,   /* a host is slow for a while, or for long; with replicas */
    FAULT_PLACES, /* the user has a host drained, removed or opened, or processes moved or placed */
    FAULT_KINDS
};

/* What a commit goes through, and the records of bsprun beside it. */
enum step {
    STEP_CAPTURE, /* a host is told to capture */
    STEP_CAPTURED,
    STEP_IMAGE, /* one is durable on a disk */
    STEP_PERSIST,
    STEP_MANIFEST, /* ... */
    STEP_COMMITTED,
    STEP_HEARD, /* of it, by bsprun */
    STEP_KNOWN,
    STEP_RETIRED,
    STEP_CHOSEN, /* the snapshot to begin from, as bsprun hears */
    STEP_RECORDED,
    STEP_CLOSING,
    STEP_FINISHED, /* the end is on record */
    STEP_KINDS
};

/* What a move goes through, from the request or the decision on. */
enum move_step {
    MOVE_ASKED,    /* Processor Zero knows; no snapshot is being taken */
    MOVE_ROUND,    /* one is, with which processes go on */
    MOVE_AHEAD,    /* hosts restore ahead */
    MOVE_CAPTURED, /* all processes wait: they are captured ... */
    MOVE_SAVED,    /* ... and their images become durable, up to the commit */
    MOVE_OVER,     /* the term is over: bsprun hears of that */
    MOVE_HELD,     /* the next one is elected: hosts end what was, and say what they have */
    MOVE_CHOSEN,   /* bsprun records where the term begins */
    MOVE_RESTORED, /* processes are restored, nothing is irrevocable */
    MOVE_PASSED,   /* staged processes become ranks */
    MOVE_STEPS     /* none of these */
};

struct snap {
    struct bspz_snapshot_name name; /* term 0: none */
    uint32_t processes;
    uint64_t value[RANKS];
    /* A bit per disk: it is there, or was when the disk was lost. */
    uint64_t images[RANKS], manifests;
    uint64_t unsynced_images[RANKS], unsynced_manifests; /* ... and may go with the power */
    uint64_t removed_images[RANKS], removed_manifests;   /* and may come back */
    bool damaged;
};

struct rank {
    bool alive, killed;
    bool runs;                         /* not: staged, or waiting in bsp_begin */
    bool arrived;                      /* at the barrier that ends `superstep` */
    uint64_t superstep, value, next;   /* next: the value when it leaves the barrier */
    struct bspz_snapshot_name copy[2]; /* frozen copies: a committed one, one being written */
    uint64_t copy_values[2];
};

/* What a host knows of the barrier of a superstep, with replicas. */
struct heard {
    bool told, snapshot, captures, resumed, end;
    uint64_t consult;
};

/* What an agent does with replicas, beside all else. */
struct replicated {
    struct heard heard[BARRIERS];
    uint64_t reached[HOSTS]; /* supersteps + 1 of that host whose data it has got */
    uint64_t decided, next;  /* as in ACCOUNT */
    uint64_t held;           /* the barrier at which its processes wait though they do not ask; 0 */
    uint32_t era;            /* which Processor Zero of the term it obeys */
    bool placed, made, runs, ended, over, waits, asked, captured, recorded;
    bool looks;  /* DO_LOOK is planned */
    bool aborts; /* it has asked for the end of the job */
    struct wire_message abort;
};

struct agent {
    uint32_t id, slots;
    bool up, gone; /* gone: the host, for good */
    bool cut_off, closed;
    bool dismissed;      /* by this bsprun */
    bool given_up;       /* by this bsprun: no other agent is started there */
    uint64_t down_until; /* it has no power */
    uint32_t life;       /* counts agents of this host */
    uint32_t term;
    uint32_t zero_host;
    uint64_t consult;
    enum job_state job;
    enum making_state making;
    bool asked, waiting;
    bool let_out;   /* of bsp_end */
    uint32_t count; /* its processes */
    struct bspz_snapshot_name from, known, abandoned;
    uint64_t slow_until;
    struct replicated replicated;
    bool mine[RANKS];
    struct rank ranks[RANKS];
};

struct world;

struct zero {
    struct world *world;
    struct coord_shell *shell;
    uint32_t host, life, term, members;
    uint64_t member_bits; /* by index */
    uint64_t drained;     /* of these; none if all are */
    struct wire_move moves[WANTED_MOVES];
    uint32_t move_count;
    bool gone, finished;
    bool moved;             /* it is over, to move processes */
    unsigned faulted;       /* a bit per move_step: a fault came in it */
    uint64_t wanted;        /* to begin from there; COORD_NEVER */
    uint64_t left[HOSTS];   /* memory of each host when it was ready */
    uint64_t missed;        /* processes that are not where they were to be, for lack of memory */
    uint64_t ahead;         /* hosts that restore processes ahead, and have not answered */
    bool said_ahead, stops; /* stops: bsprun wants a snapshot and the end */
    bool shaken; /* a host has lost its power in its term, and what it had told of may be gone */
    unsigned timers[COORD_TIMER_COUNT];
    /* With replicas: */
    uint32_t era;            /* counts those of the term */
    uint64_t broken;         /* hosts to or from which something was lost */
    bool placed;             /* its hosts have snapshot 0, or run, as bsprun knows */
    bool closing;            /* it has decided the end */
    uint64_t homes[RANKS];   /* of each process, the id of its lead */
    uint64_t lead[HOSTS];    /* of each host; its own id: none */
    uint64_t next[BARRIERS]; /* the value of all processes after that superstep; 0: not yet */
    struct bspz_snapshot_name base; /* which the term begins from */
};

/* DO_NOTICE: Processor Zero's host has lost the link, and bsprun has not said so. */
#define ON_ITS_OWN 1u

enum action_kind {
    DO_JOB_EVENT, /* something reaches bsprun */
    DO_START_AGENT,
    DO_ELECT,
    DO_TELL_ZERO, /* bsprun's answer or wish */
    DO_TO_ZERO,   /* a frame */
    DO_TO_AGENT,
    DO_READY,  /* an agent has ended what was, in a new term */
    DO_ARRIVE, /* a process */
    DO_LEAVE,  /* a process exits */
    DO_IMAGE,  /* an image is durable */
    DO_MANIFEST,
    DO_STAGED,
    DO_RANKS_READY,
    DO_CAPTURED,
    DO_AHEAD, /* processes are restored ahead, or some of them */
    DO_STOPPED,
    DO_ZERO_TIMER,
    DO_NOTICE,   /* Processor Zero notices the loss of a host */
    DO_ISOLATED, /* a host that is cut off stops what it has */
    DO_COMPLAIN, /* an agent has noticed that nothing comes over a link */
    DO_DISMISSED,
    DO_ORPHANED, /* an agent has noticed that bsprun has terminated */
    DO_RESTART,
    DO_FAULT,
    DO_DATA,      /* what a host's processes have put comes to another one */
    DO_LOOK,      /* whether it still can, to a host that waits for it */
    DO_TAKE_OVER, /* bsprun names another Processor Zero of the term */
    DO_COPY       /* an image that had lost its second copy has one again */
};

struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t host, life, term, number;
    struct bspz_snapshot_name name;
    struct job_event event;
    struct job_effect effect;
    struct bspz_buffer frame;
    uint32_t era; /* of frames, with replicas */
    uint64_t superstep;
    bool copies; /* the image is of another host's process */
    bool tells;  /* what Processor Zero has learned: */
    struct estimate learned;
};

/* What an election says of that. */
struct handed {
    struct estimate estimate;
    struct coord_seen seen;
    struct coord_recovery recovery;
};

struct world {
    struct timeline time;
    uint64_t link_free[HOSTS][4];
    uint64_t silent_until[HOSTS][HOSTS]; /* the first does not hear the second */

    uint32_t host_count, spares, replicas;
    uint32_t retry_ms;  /* of lost hosts */
    bool unnamed;       /* the spare is not named before it is added to the running job */
    bool opened[HOSTS]; /* by the user: it takes nobody's place */
    uint32_t registrar, wanted, processes;
    uint64_t supersteps;
    struct policy_rule rule;
    bool shared, copies_kept, stop_on_failure, stop_on_late_failure;
    uint32_t max_restarts;
    int32_t status;

    uint32_t snap_count;
    struct coord_lineage lineage; /* durable */
    uint32_t last_term;
    bool finish_durable;
    int32_t finish_status;

    struct job_machine *machine;
    unsigned machine_life, machine_timer;
    struct zero zeros[TERMS];
    bool over; /* EXIT */
    int32_t exit_status;
    struct coord_outcome outcome;
    unsigned runs;          /* of bsprun */
    unsigned starts[HOSTS]; /* of an agent, since one there has last spoken */

    struct bspz_snapshot_name announced; /* the newest */
    struct bspz_snapshot_name heard_of;  /* ... that bsprun knows of */
    bool closing;                        /* bsprun has heard CLOSE in this term, at bsp_end ... */
    bool cut_short;                      /* ... or as the job is ended before it ... */
    enum wire_cause cut_short_for;
    bool nothing_saved; /* Processor Zero has found no snapshot, and there was none */
    bool no_memory;     /* ... that some process fits nowhere, which may be so */
    bool past_end;      /* some process has left bsp_end */
    bool fail_write, refuse;
    /* In this run of bsprun: */
    bool write_failed, not_recorded, was_refused, stop_asked, save_asked, aborted;
    uint32_t restarts_in_a_row;
    unsigned faults[FAULT_KINDS];
    bool steps_planned; /* bsprun is to be killed when `step` has come that often */
    enum step step;
    unsigned step_count;
    bool killed_at_step; /* when what happens now is over */
    unsigned steps[STEP_KINDS];
    bool move_fault_planned; /* comes when moves have been in `move_step` that often */
    enum move_step move_step, last_move_step;
    unsigned move_count;
    enum fault_kind move_fault;
    uint64_t move_delay;
    unsigned move_steps[MOVE_STEPS]; /* moves with a fault in that step */
    struct evidence evidence;        /* of this bsprun */
    unsigned seen[ESTIMATE_KINDS];   /* failures, by it */
    double watched;                  /* host seconds, as it knew last */
    unsigned heard;                  /* words of Processor Zero */
    struct handed handed[TERMS];
    bool anew; /* the next term places processes without regard to where they were */
    struct wire_move wanted_moves[WANTED_MOVES]; /* the newest ones */
    uint32_t wanted_count;
    unsigned commits, rollbacks, thawed, restored, restarted, held_back, dismissals, named, moves,
        own_moves, joined, called, fewer, tried_again, missed, moves_ahead;
    unsigned taken_over, lost_beside, ahead, in_vain, lost_passing;
    bool balance; /* Processor Zero moves processes by itself */
    double moving_seconds, passed_seconds;

    /* The largest, of which few are used: not empty beyond what is counted. */
    struct agent agents[HOSTS];
    struct snap snaps[SNAPS];
};

/* timeline.c, of this world */
#define random_below(world, below) timeline_random(&(world)->time, below)
#define chance(world, percent)     timeline_chance(&(world)->time, percent)
#define apart(world, below)        timeline_apart(&(world)->time, below)
#define note(world, ...)           timeline_note(&(world)->time, __VA_ARGS__)
#define fail(world, ...)           timeline_fail(&(world)->time, __VA_ARGS__)

/* made_up.c */
struct action *plan(struct world *world, enum action_kind kind, uint64_t delay);
/* Behind what is on the link already: 0, 1 from and to Processor Zero, 2, 3 bsprun. */
struct action *plan_on_link(struct world *world, enum action_kind kind, uint32_t host, int link);
void drop_link(struct world *world, uint32_t host);
/* With replicas; in some worlds hosts are lost then. */
void end_is_decided(struct world *world);

/* moves.c: faults at the steps of moves */
void moves_plan(struct world *world);
/* Something has happened. */
void moves_watch(struct world *world);
enum move_step moves_step(const struct world *world);
/* A fault has come in that step. */
void moves_count(struct world *world, enum fault_kind kind, enum move_step step, uint32_t term);

/* launcher.c: bsprun */
void bsprun_begin(struct world *world, bool restore);
void bsprun_event(struct world *world, const struct job_event *event);
/* On its way now; NULL: nobody will hear of it. */
struct action *tell_bsprun(struct world *world, uint32_t host, struct job_event event);
bool hears(const struct world *world, uint32_t host, uint32_t peer);
/* In that term, when silence has lasted long enough. */
void plan_complaint(struct world *world, uint32_t host, uint32_t peer, uint32_t term);
void complain(struct world *world, const struct action *action);

/* learned.c */
void learned_begin(struct world *world);
void learned_event(struct world *world, const struct job_event *event);
void learned_blame(struct world *world);
void learned_elect(struct world *world, uint32_t term);
void learned_say(struct world *world, const struct zero *zero, struct action *action);
void learned_heard(struct world *world, const struct action *action);

/* zero.c */
void zero_create(struct world *world, uint32_t host, uint32_t term);
void zero_succeed(struct world *world, uint32_t host);
void zero_frame(struct world *world, struct action *action);
void zero_told(struct world *world, const struct action *action);
void zero_timer(struct world *world, const struct action *action);
void zero_notice(struct world *world, const struct action *action);
/* The processes that AHEAD wants on that host. */
uint32_t ahead_count(const struct world *world, uint32_t host, const struct wire_message *order);
void send_to_zero(struct world *world, uint32_t host, struct wire_message *message);

/* hosts.c: agents, processes */
void agent_start(struct world *world, uint32_t host);
void agent_elect(struct world *world, const struct action *action);
void agent_act(struct world *world, struct action *action);
void agent_frame(struct world *world, struct action *action);
void agent_ends(struct world *world, uint32_t host);
void kill_ranks(struct world *world, uint32_t host, bool copies_too);
/* The term is over for this host. */
void agent_rewind(struct world *world, uint32_t host);
/* The processes leave a barrier; they are captured at it; they leave bsp_end. */
void agent_leave(struct world *world, uint32_t host);
void agent_capture(struct world *world, uint32_t host, uint64_t superstep);
void agent_let_out(struct world *world, uint32_t host);
uint32_t host_index(const struct world *world, uint32_t id);
/* In the life and term of the agent that is there now. */
struct action *agent_plan(struct world *world, enum action_kind kind, uint32_t host, uint64_t most);
void agent_send_failure(struct world *world, uint32_t host, uint32_t pid,
                        struct bspz_snapshot_name name, enum wire_cause cause);

/* cells.c: processes with replicas */
bool cells_any(const struct world *world);
void cells_elect(struct agent *agent);
/* The lead of that host in the list of a message; without one the host itself. */
uint64_t cells_lead(struct wire_numbers leads, uint64_t id);
/* Which processes the host has, by PLACE or RESTORE. */
void cells_take(struct world *world, uint32_t host, const struct wire_message *order);
/* All its processes have come to the end of the superstep. */
void cells_arrived(struct world *world, uint32_t host);
void cells_data(struct world *world, const struct action *action);
/* The host still waits at a barrier up to the end, which is decided: it leaves if it waits in vain.
 */
void cells_look(struct world *world, const struct action *action);
/* RUN, RELEASE, RESUME, TAKEN_OVER, END.  False: it is another message. */
bool cells_obey(struct world *world, uint32_t host, const struct wire_message *message);
void cells_taken_over(struct world *world, const struct action *action);
/* Processor Zero says: what it decides, and who has what. */
void cells_said(struct zero *zero, const struct wire_message *message);
/* A process is lost: whether its host leaves, as other hosts go on. */
bool cells_leaves(struct world *world, uint32_t host);
void cells_check_alone(struct world *world);
/* Whether each process has a replica that goes on, without that host. */
bool cells_is_covered(const struct world *world, uint32_t term, uint32_t without);
void cells_check_rollback(struct world *world, enum wire_cause cause);

/* disks.c */
struct snap *snap_find(struct world *world, struct bspz_snapshot_name name, bool make);
uint64_t disk_bit(const struct world *world, uint32_t host);
/* The disks that are there, or will be again, for whoever starts bsprun. */
uint64_t disks_left(const struct world *world);
/* Manifest and images, each on one of these disks at least. */
bool snap_complete(const struct snap *snap, uint64_t disks);
bool snap_synced(const struct snap *snap);
bool disk_has_any(const struct world *world, uint32_t host, const struct snap *snap);
/* HELD: what the host has of that snapshot. */
void disk_report(struct world *world, uint32_t host, const struct snap *snap);
/* What was being written is complete, or fails. */
void disk_image(struct world *world, const struct action *action);
void disk_manifest(struct world *world, const struct action *action);
/* The agent there has ended in the middle of what it was writing in its term: it may be there. */
void disk_agent_ends(struct world *world, uint32_t host);
/* An image that the term began from is offered to the next host again. */
void disk_spread_again(struct world *world, uint32_t host);
void disk_copy(struct world *world, const struct action *action);
/* A process of another host's image has come. */
void disk_fetched(struct world *world, uint32_t host, struct snap *snap, uint32_t pid);
void disk_loses_power(struct world *world, uint32_t host);
/* Removes what is older than that snapshot, or that snapshot itself. */
void disk_retire(struct world *world, uint32_t host, struct bspz_snapshot_name name);
void disk_abandon(struct world *world, uint32_t host, struct bspz_snapshot_name name);

/* memory.c */
bool memory_is_limited(const struct world *world);
/* What a process needs when it is made from its image; 0: unknown, without limits. */
uint64_t memory_need(const struct world *world, uint32_t pid);
/* What the host has left; WIRE_NEVER: unknown. */
uint64_t memory_left(const struct world *world, uint32_t host);
/* Notes what CHOSEN says, RESTORE must fit, a refusal must have a reason. */
void memory_missed(struct zero *zero, const struct wire_chosen *chosen);
void memory_check_places(struct world *world, const struct zero *zero,
                         const struct wire_restore *restore);
void memory_check_refusal(struct world *world, const struct zero *zero);

/* faults.c */
void fault(struct world *world, enum fault_kind kind);
/* The agent ends by itself, as other hosts go on. */
void leave_term(struct world *world, uint32_t host);
void kill_bsprun(struct world *world);
/* Perhaps bsprun is killed for it. */
void step_is_done(struct world *world, enum step step);
void plan_steps(struct world *world);

/* checks.c */
void check_alone(struct world *world);
void check_leave(struct world *world, uint32_t term, uint64_t superstep);
void check_chosen(struct world *world, const struct zero *zero, struct bspz_snapshot_name name);
/* PERSIST: all images are durable.  COMMITTED: the manifest is, too. */
void check_images(struct world *world, struct bspz_snapshot_name name);
void check_committed(struct world *world, const struct zero *zero, struct bspz_snapshot_name name);
/* Processor Zero has found no snapshot to go on from. */
void check_nothing_saved(struct world *world, const struct zero *zero);
/* Complete on these disks, and not taken back. */
bool is_usable(const struct world *world, const struct snap *snap, uint64_t disks);
/* Whether there is a snapshot on these disks to go on from. */
bool any_complete(const struct world *world, uint64_t disks);
/* When bsprun ends: whether it may, in that way. */
void check_outcome(struct world *world);
void check_end(struct world *world);

#endif
