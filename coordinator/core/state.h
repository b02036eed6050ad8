/* state.h - the internals of Processor Zero, shared by the files of coordinator/core. */
#ifndef COORD_STATE_H
#define COORD_STATE_H

#include "coordinator/core/coord.h"
#include "coordinator/core/pace.h"
#include "coordinator/core/placement.h"
#include "coordinator/core/quiet.h"
#include "coordinator/core/traffic.h"
#include "coordinator/core/ways.h"
#include "lib/base/states.h"

#define IN            BSPZ_STATES_TO /* sets of states */
#define COORD_NO_CELL UINT16_MAX

struct coord_host {
    uint32_t id;
    char *name;           /* for texts; NULL: none is known */
    uint32_t slots;       /* 0 until known */
    uint64_t available;   /* bytes of memory for further processes when the term began, or
                             PLACEMENT_UNKNOWN */
    uint32_t busy, speed; /* as in coord_load; speed at least 1 */
    bool ready;           /* HOST_READY was received */
    bool shared;          /* ... and it shares the directory of snapshots with bsprun */
    bool lost;
    bool ranks_ready;
    bool stopped; /* no process of the job runs there (any more) */
    bool arrived; /* at the barrier to be decided */
    enum wire_barrier barrier;
    uint32_t cores;
    uint32_t first, count; /* its lowest pid and how many, from PLACE or RESTORE on */
    uint16_t lead;         /* index of the first host of its cell: cells.c */
    uint8_t replicas;      /* hosts that its cell is to have: groups.c */
    bool halted;           /* it has answered the newest question of coord_halt */
    bool captures;         /* its images are those of the snapshot that is being taken */
    bool drained;          /* gets no processes */
    bool staged;
    bool captured;  /* at the barrier that was released for a snapshot */
    bool known;     /* has answered COMMITTED */
    bool durable;   /* has the manifest */
    uint32_t ahead; /* processes that it has been told to restore ahead, of one snapshot */
    bool ahead_ready;
    uint64_t position[2];
    bool accounted; /* in the place of another Processor Zero: it has said what it knows ... */
    uint64_t captures_at; /* ... and waits at the barrier of that snapshot; 0: of none */
    bool bears;           /* its processes can be restarted alone elsewhere: survive.c */
    bool waits;           /* accounted: it had arrived at the barrier to be decided */
    uint32_t gained;      /* the newest SURVIVED by which it has got some; 0: none */
};

/* A snapshot of which some host holds parts. */
struct coord_held {
    struct bspz_snapshot_name name; /* term 0: the entry is free */
    uint32_t processes;
    bool committed;    /* some host has its manifest */
    uint32_t missing;  /* images that no host has reported */
    bool *has_image;   /* per pid */
    uint16_t *copy_on; /* per pid: index of the host with a frozen copy, plus 1; 0: none */
    uint32_t
        *together;   /* per pid: a lower one of its group, which must be on one host, or itself */
    uint64_t *needs; /* per pid: bytes of memory when made from its image; 0: unknown */
};

/* What bsprun has asked for; a stronger wish replaces a weaker one. */
enum coord_wish {
    COORD_WISH_NONE,
    COORD_WISH_SAVE, /* a snapshot */
    COORD_WISH_MOVE, /* a term with other places, after snapshots by which most is written ... */
    COORD_WISH_MOVE_NOW, /* ... and then after the next one, while the processes wait */
    COORD_WISH_STOP,     /* and then the end */
};

/* The snapshot that is being taken. */
struct coord_ticket {
    enum coord_ticket_state state;
    struct bspz_snapshot_name name;
    bool base;                             /* snapshot 0: one image for all */
    struct wire_image *images;             /* per pid, complete when it is durable somewhere */
    uint16_t (*holders)[COORD_COPIES_MAX]; /* per pid: indexes of hosts with its image, plus 1 */
    uint32_t missing;                      /* images not yet durable on enough hosts */
    uint32_t compared;           /* images of processes whose replicas have been found to agree */
    uint64_t begun_ns;           /* when its barrier was released */
    bool follows;                /* not the first at a barrier of this term */
    uint64_t busy_ns, copied_ns; /* of the host with the greatest */
    double cost_ns;              /* summed over the processes that have reported it: their number */
    uint64_t counted;
    uint64_t input, input_digest;
};

/* Counters of a process at the last look. */
struct coord_measured {
    uint64_t compute_ns, work_ns, ran_ns, waited_ns;
};

/* What is known of a host: since the last look, in nanoseconds, and of all looks of the term. */
struct coord_past {
    double work, heaviest;        /* of its processes together, and of one of them */
    double ran, waited;           /* ... for a processor */
    double slept;                 /* the greatest of one of them */
    double busy;                  /* from barriers to the last arrival at the next ones */
    uint64_t available;           /* bytes of memory, or PLACEMENT_UNKNOWN */
    double recent, sum, squares;  /* availability, and over all looks */
    uint32_t looks;               /* those as which earlier jobs count included */
    struct share_sums shares;     /* of this term */
    uint64_t busy_ns, busy_steps; /* the host's counters */
    bool stale;                   /* no superstep was timed between the last two looks */
};

/* Moves by Processor Zero's own decision: balancing.c. */
struct coord_balancing {
    struct balance *balance;     /* NULL: processes are moved on request only */
    struct balance_rank *ranks;  /* per pid */
    struct coord_measured *last; /* per pid */
    struct balance_host *hosts;  /* per host */
    struct coord_past *pasts;    /* per host */
    struct wire_move *moves;     /* of the newest decision */
    struct wire_share *shares;   /* the list of LEARNED */
    struct traffic traffic;
    struct ways ways;
    uint32_t move_count;
    uint32_t measured; /* processes, at this barrier */
    uint32_t looks, misses;
    uint64_t due_ns, look_ns, look_superstep; /* the next look; the last one, after so many */
    double passed_ns;                         /* up to it, since the last decision */
    struct pace pace;
    bool noticed;    /* supersteps have become longer ... */
    bool confirming; /* ... or a host slower or quicker, at the last look: it mixes two states */
};

/* What hosts restore ahead: ahead.c. */
struct coord_ahead {
    uint16_t *expected;      /* per pid: index of the host, plus 1, in the next term; 0: unknown */
    struct wire_move *moves; /* the list of AHEAD */
    uint32_t move_count;
    struct bspz_snapshot_name name; /* the newest that AHEAD was said of; term 0: none */
    uint32_t missing;               /* hosts that have not answered */
    uint64_t begun_ns, took_ns;     /* when AHEAD was said, and until all had answered */
};

/* Processes with as many replicas: groups.c.  All by that number. */
struct coord_groups {
    uint32_t processes[WIRE_REPLICAS_MAX + 1], cells[WIRE_REPLICAS_MAX + 1];
    uint8_t fewer[WIRE_REPLICAS_MAX + 1]; /* where hosts are too few; else the same number */
    /* One group while it is placed, as if there were no other: per process of it. */
    uint32_t *pids, *together, *place; /* place: of each pid in the group */
    uint16_t *home;
};

/* What hosts knew of the term of a Processor Zero in whose place this one is: takeover.c. */
struct coord_takeover {
    bool any;                  /* there was one */
    uint64_t decided, consult; /* the newest: as in ACCOUNT */
    uint64_t heard;            /* ... in this term, but for the barrier of bsp_end */
    bool ended;
    bool all_run, any_runs; /* have received RUN */
    bool stopped;           /* some have ended their processes */
    bool over;              /* some know that the job is over, with that outcome */
    int32_t status;
    enum wire_cause cause;
    bool resumes;    /* captured for a snapshot that is not: the processes go on in any case */
    uint64_t spared; /* no snapshot is taken at the end of this superstep */
    struct bspz_snapshot_name committed;
    uint32_t accounts, survived; /* so many are there; hosts that were outlived before: former.c */
    bool differ;                 /* something was decided that not all have heard of ... */
    bool asked;                  /* CONSULT has come to some */
};

/* For how long CAPTURED is waited for, with replicas: patience.c. */
struct coord_patience {
    uint64_t least_ms, present_ms;
    uint64_t since_ns;   /* RELEASE, or the last CAPTURED */
    uint64_t longest_ns; /* that took, in this term */
    bool limited;        /* ... for this snapshot */
};

/* Where processes with replicas stop to be saved at their calls, at the end of the present
 * superstep: see halt.c. */
struct coord_halt {
    enum { COORD_HALT_NONE, COORD_HALT_ASKED, COORD_HALT_SAID } state;
    uint64_t round;     /* the newest question, from 1; 0: none yet */
    uint32_t missing;   /* hosts that are to answer it */
    uint64_t *requests; /* of each process, the largest number that has been answered */
    uint64_t *said;     /* ... as the newest HALT_AT has said */
    uint64_t said_at;   /* ... a former Processor Zero, of that superstep */
};

struct coord {
    struct coord_config config; /* without `hosts` */
    enum coord_phase phase;
    uint32_t host_count;
    struct coord_host *hosts;
    bool all_drained; /* which is as if none were */

    /* The program has no supersteps but those that snapshots make (lib/rt/safe_point.h): they are
     * not measured, and nothing is gained by asking for one. */
    bool saved_at_calls;
    /* Processes have replicas, and use the dataspace: hosts are told who is lost, and objects are
     * kept in snapshots.  halts: these are at calls. */
    bool has_objects, halts;
    struct coord_halt halt;
    bool registered;
    uint32_t registered_host; /* index */
    uint32_t wanted;

    uint32_t processes; /* 0 before PLACE */
    uint16_t *home;     /* per pid: index of its host, of several that of the lead of its cell */
    uint64_t *leads;    /* a list of messages: two entries for each host */
    uint64_t *lost;     /* the list of LOSSES */
    struct coord_groups groups;
    uint16_t *moves_to; /* ... plus 1, where it is to be; 0: anywhere */
    struct placement
        placement; /* the newest; owns its arrays but home, moves_to, and those of held */
    struct wire_move *missed; /* the list of CHOSEN, and its text */
    char why_missed[PLACEMENT_TEXT_MAX + 32];
    uint64_t *numbers; /* the lists of messages: two entries for each process, or host */
    bool *exited;      /* per pid */
    uint32_t exited_count;

    uint64_t superstep;     /* all barriers before the end of this superstep have been passed */
    uint64_t consult;       /* the next one to be decided, or COORD_NEVER */
    uint64_t planned_ahead; /* with replicas: supersteps to the next one, when that was said */
    uint64_t arrived_ns;    /* when the first host came to the last one */
    uint64_t deciding_ns;   /* for how long processes waited for the decision there, about */
    bool asked; /* CONSULT is out: the barrier of any superstep up to that may be reported */

    struct coord_lineage *lineage;
    struct coord_held *held; /* COORD_HELD_MAX */
    struct coord_held *from; /* the one that is restored */
    struct coord_ticket ticket;
    struct bspz_snapshot_name committed; /* term 0: none */
    struct bspz_snapshot_name right;     /* the newest of them that is known not to be wrong */
    struct policy_facts facts;
    uint32_t failures;            /* consecutive failed snapshots */
    char failure[COORD_TEXT_MAX]; /* why the last one failed */
    enum coord_wish wish;
    uint32_t rounds;          /* snapshots committed since processes are to move ... */
    uint64_t round_before_ns; /* ... and what the last but one took, asked for or not */
    struct coord_ahead ahead;
    uint32_t save_signal;
    uint64_t restore_begun_ns;

    struct estimate estimate; /* up to watched_ns */
    uint64_t begun_ns, watched_ns;
    bool running;       /* RUN was emitted */
    uint64_t base_size; /* of the image of snapshot 0, if it is of this term */
    struct wire_real learned[ESTIMATE_NUMBERS]; /* the list of SAVED */
    double guess;                               /* expected time to read the images, in seconds */
    uint64_t paced_ns, paced_superstep; /* start of the measurement of superstep durations */

    struct coord_balancing balancing;
    struct quiet quiet;
    struct coord_patience patience;
    struct coord_takeover takeover;
    uint32_t survived; /* hosts that were lost in this term, and whose processes went elsewhere */
    uint64_t now_ns;   /* of the step */

    struct coord_outcome outcome;
    char text[COORD_TEXT_MAX];
};

/* ---- invariants.c ---- */

/* Asserts what is true between two steps. */
void coord_check(const struct coord *state);

/* ---- balancing.c ---- */

/* earlier: as in coord_config.  False: no memory. */
bool coord_balancing_begin(struct coord *state, const struct share_sums *earlier);
void coord_balancing_free(struct coord *state);
/* What hosts have left to the job in this term; valid until the next call. */
struct wire_share_list coord_balancing_shares(const struct coord *state);
/* The processes run. */
void coord_balancing_run(struct coord *state);
/* Seconds for which processes have run in this job, as far as its terms have said. */
double coord_balancing_passed(const struct coord *state);
/* The processes of the own host are in that superstep, or COORD_NEVER.  True: a look is due now. */
bool coord_balancing_glance(struct coord *state, uint64_t superstep);
/* Sets the timer of the next glance, if there are to be any. */
void coord_balancing_timer(struct coord *state, struct coord_effects *effects);
/* The time until measurements are wanted: 0 now, POLICY_NEVER. */
uint64_t coord_balancing_due_ns(const struct coord *state);
/* Whether they are, with the next barrier. */
bool coord_balancing_asks(const struct coord *state);
/* Whether the measurements are of the host's processes: all, or none. */
bool coord_balancing_understands(const struct coord *state, const struct coord_host *host,
                                 const struct wire_arrive *arrive);
/* Takes those of a host that has arrived at the end of the state's superstep. */
void coord_balancing_note(struct coord *state, const struct coord_host *host,
                          const struct wire_arrive *arrive);
/* All have arrived at a barrier at which the job can go on: decides if there are measurements; to
 * move processes the wish becomes COORD_WISH_MOVE. */
void coord_balancing_decide(struct coord *state);
/* Whether so little is in the memory of all processes, by the last look, that writing it all takes
 * no longer than what the copies and writers of another snapshot take. */
bool coord_balancing_is_small(const struct coord *state);

/* ---- ahead.c ---- */

/* Where processes are expected to be in the next term, if a move comes to pass: in place of what
 * was expected before.  Hosts that are not of this term and processes that there are not are
 * ignored.  Only with snapshots. */
void coord_ahead_expect(struct coord *state, struct wire_move_list moves);
/* Says AHEAD if processes are to move, the newest snapshot is known to all, and AHEAD has not been
 * said of it.  Until all have answered no snapshot is due for the move.  Whether it was said. */
bool coord_ahead_say(struct coord *state, struct coord_effects *effects);

/* ---- takeover.c ---- */

/* The machine goes on with the term of another one.  False: the places are none of its hosts'. */
bool coord_begin_takeover(struct coord *state, const struct coord_predecessor *predecessor);
/* A host has said what it knows, or is lost: goes on if no other is waited for. */
void coord_take_over(struct coord *state, struct coord_effects *effects);

/* ---- former.c ---- */

/* Says the newest committed snapshot again, if it is of this term.  told: which one bsprun knows.
 */
void coord_announce_again(struct coord *state, struct bspz_snapshot_name told,
                          struct coord_effects *effects);
/* In the place of another Processor Zero, without replicas: notes what the host knows, before
 * coord_take_account does; and when all have said that: the term goes on without the former one's
 * host, or is over. */
void coord_note_account(struct coord *state, struct coord_host *host,
                        const struct wire_account *account);
void coord_outlive_former(struct coord *state, struct coord_effects *effects);

/* ---- losses.c ---- */

/* Whether the term goes on although that host is lost. */
bool coord_goes_on_without(const struct coord *state, const struct coord_host *host);

/* ---- survive.c ---- */

/* Whether its processes can be restarted alone elsewhere while they run, as far as it has said. */
bool coord_bears_loss(const struct coord *state, const struct coord_host *host);
/* Whether another one can take them. */
bool coord_can_settle(const struct coord *state, const struct coord_host *host);
/* Whether the term goes on without that host, as its processes are restarted alone elsewhere. */
bool coord_survives(const struct coord *state, const struct coord_host *host);
/* They are: chooses hosts for them, and says so; coord_go_on_without follows. */
void coord_survive(struct coord *state, struct coord_host *host, struct coord_effects *effects);
/* Whether what the host has said of a barrier is not true any more since a host was lost; then the
 * term is over. */
bool coord_misses_survivors(struct coord *state, const struct coord_host *host,
                            const struct wire_arrive *arrive, struct coord_effects *effects);

/* ---- place.c ---- */

/* Gives every host its pids as at first (placement.h): the registered host first, since process 0
 * lives there, then the others in order.  Needs processes >= 1 and all slots known. */
void coord_place(struct coord *state, uint32_t processes);

/* The same for a restore of that snapshot: see placement.h.  False: a process does not fit into
 * the memory of any host; state->placement says which, for placement_text. */
bool coord_place_again(struct coord *state, const struct coord_held *from);

/* "host NAME", or its number if it has none. */
#define COORD_NAME_TEXT 264u
void coord_name_host(const struct coord_host *host, char text[COORD_NAME_TEXT]);

/* ---- patience.c: how long hosts that capture are waited for ---- */

/* The estimate is known. */
void coord_patience_begin(struct coord *state);
/* Processes are to be captured; then, some more are.  With replicas COORD_TIMER_CAPTURE is set, or
 * canceled. */
void coord_begin_captures(struct coord *state, struct coord_effects *effects);
void coord_await_captures(struct coord *state, struct coord_effects *effects);
/* A host has captured its processes. */
void coord_patience_note(struct coord *state);
/* No more is waited for: all have, or (not all) some have taken too long. */
void coord_patience_over(struct coord *state, bool all);

/* ---- cells.c: replicas ---- */

/* Groups the hosts, all of which are ready, into cells, the registered host first.  together: as in
 * coord_held, or NULL.  lowered: as in coord_form_groups.  False: they are too few for so many
 * processes. */
bool coord_form_cells(struct coord *state, uint32_t processes, const uint32_t *together,
                      uint32_t lowered);
/* Whether the host has a cell, in which it may get processes. */
bool coord_has_cell(const struct coord *state, const struct coord_host *host);
/* Whether the host is the lead of its cell. */
bool coord_is_lead(const struct coord *state, const struct coord_host *host);
/* What the hosts of a cell have in common, for placement.h: the least of them. */
void coord_describe_cell(const struct coord *state, const struct coord_host *lead,
                         struct placement_host *description);
/* Whether it is the first living one of its cell. */
bool coord_first_of_cell(const struct coord *state, const struct coord_host *host);
/* A living host that has the process, or NULL. */
struct coord_host *coord_host_of(const struct coord *state, uint32_t pid);
/* Whether all processes have a living host other than that one: what it has, or was lost before,
 * has replicas. */
bool coord_is_covered(const struct coord *state, const struct coord_host *without);
/* Hosts that are not their own lead, each followed by its lead, for messages. */
struct wire_numbers coord_leads(struct coord *state);
/* All living hosts with processes, for each process one of them, have arrived. */
bool coord_all_arrived(const struct coord *state);
/* Chooses of those that have arrived one host of each cell, for the snapshot; the list is for
 * RELEASE, empty without replicas. */
struct wire_numbers coord_choose_captures(struct coord *state);

/* ---- groups.c: processes with as many replicas ---- */

/* Whether a process may have more than one. */
bool coord_has_replicas(const struct coord *state);
/* Divides so many processes by the number of their replicas, and so many hosts among those: each
 * group gets cells.  A job that goes on with too few hosts has fewer replicas.  lowered: so many
 * times those with the most have one less before, as they do not fit.  False: too few. */
bool coord_form_groups(struct coord *state, uint32_t processes, uint32_t hosts,
                       const uint32_t *together, uint32_t lowered);
/* Whether some process has fewer than were asked for as it shares files with a lower one that has
 * so many, and that alone is the reason; which. */
bool coord_files_cost_replicas(const struct coord *state, uint32_t processes,
                               const uint32_t *together, uint32_t *pid);
/* The number of replicas of the process, those that share files with it, in this term. */
uint32_t coord_replicas_of(const struct coord *state, uint32_t pid, const uint32_t *together);
bool coord_groups_allocate(struct coord_groups *groups, uint32_t processes);
void coord_groups_free(struct coord_groups *groups);

/* ---- place_groups.c ---- */

/* As coord_place, with from NULL, and coord_place_again, of each group. */
bool coord_place_groups(struct coord *state, uint32_t processes, const struct coord_held *from);

/* The host of each process, for messages. */
struct wire_numbers coord_homes(struct coord *state);
/* The number of hosts on which each image must be durable. */
uint32_t coord_copies(const struct coord *state);

/* The number of processes of the job: the lesser of bsp_begin's argument and the limit, or the
 * limit, or the number of slots.  May exceed what is possible; the caller checks. */
uint64_t coord_decide_processes(uint32_t wanted, uint32_t limit, uint64_t slots);

/* The first superstep not before `from` whose end is to be decided. */
uint64_t coord_next_consult(uint64_t from, uint64_t every, uint64_t abort_at);

/* Whether the process is on that host; before the placement there is only process 0. */
bool coord_lives_on(const struct coord *state, uint32_t pid, const struct coord_host *host);

/* The only function that changes the state. */
void coord_move(struct coord *state, enum coord_phase to);

/* The host that writes the manifest: the one whose image of process 0 it names. */
const struct coord_host *coord_manifest_writer(const struct coord *state);
/* Whether the host keeps the manifest: with a shared store only the one that writes it. */
bool coord_keeps_manifest(const struct coord *state, const struct coord_host *host);

/* Adds an effect with the envelope that all have in common. */
struct coord_effect *coord_add_effect(struct coord *state, struct coord_effects *effects,
                                      enum coord_effect_kind kind);
/* Adds a message to bsprun or to the hosts, by its kind; the caller fills its fields. */
struct wire_message *coord_say(struct coord *state, struct coord_effects *effects,
                               enum wire_kind kind);
void coord_set_timer(struct coord *state, struct coord_effects *effects, enum coord_timer timer,
                     uint64_t milliseconds);

/* Writes the complaint and returns -EPROTO. */
int coord_broken(struct coord_effects *effects, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Shared by the files that take messages ---- */

/* ending.c */
/* Records the cause of the job's end; only the first one counts. */
void coord_blame(struct coord *state, enum wire_cause cause, int32_t pid, int32_t status,
                 uint32_t signal, const char *text);
/* Cuts the job short, for the reason that was blamed, as soon as bsprun agrees. */
void coord_begin_abort(struct coord *state, struct coord_effects *effects);
/* The second half, when bsprun has agreed or need not be asked. */
void coord_abort_now(struct coord *state, struct coord_effects *effects);
/* A host that is ready too late hears how the job ends, too.  If it is over already END goes out
 * again, which those that have it ignore. */
void coord_tell_latecomer(struct coord *state, struct coord_host *host,
                          const struct wire_message *message, struct coord_effects *effects);
/* The term ends by a fault, for the reason that was blamed: FAILED if there is a snapshot to roll
 * back to, else the job is aborted. */
void coord_fail(struct coord *state, struct coord_effects *effects);
/* The job is over, as another Processor Zero has said with this outcome. */
void coord_end_as(struct coord *state, int32_t status, enum wire_cause cause,
                  struct coord_effects *effects);
/* Ends the term after a commit, so that the next one begins there with other places. */
void coord_end_to_move(struct coord *state, struct coord_effects *effects);
/* The host is lost, and the term does not go on without it. */
void coord_end_of_host(struct coord *state, struct coord_host *host, struct coord_effects *effects);
/* The end is decided, and hosts are lost: those that are left finish, and the loss of processes
 * that have not ended on any host is reported. */
void coord_lost_after_end(struct coord *state, struct coord_effects *effects);
/* Stops the job, which was requested after a snapshot: that is committed (text NULL), or will not
 * be, and the last one remains. */
void coord_stop_saved(struct coord *state, const char *text, struct coord_effects *effects);

/* ticket.c */
/* The only function that changes the state of the ticket. */
void coord_move_ticket(struct coord *state, enum coord_ticket_state to);
/* Whether the term ends with the snapshot that is due or being captured, to move processes or to
 * stop. */
bool coord_ends_with_ticket(struct coord *state);
/* A snapshot is committed; before_ns: what the one before took to commit, 0: unknown. */
void coord_note_round(struct coord *state, uint64_t before_ns);
/* Whether the newest snapshot is one of these rounds, or could do as the first. */
bool coord_round_is_over(const struct coord *state);
/* Opens the ticket of the snapshot of that superstep; base: snapshot 0, one image for all. */
void coord_open_ticket(struct coord *state, uint64_t superstep, bool base);
/* To be called before it is noted that a host has arrived at a barrier. */
void coord_note_arrival(struct coord *state);
/* Plans the next barrier to be decided. */
void coord_plan(struct coord *state);
void coord_plan_timer(struct coord *state, struct coord_effects *effects);
/* The same if nothing was planned: asks at once if it is due. */
void coord_plan_anew(struct coord *state, struct coord_effects *effects);
/* Asks for the next possible barrier. */
void coord_consult(struct coord *state, struct coord_effects *effects);
/* The same when a snapshot has ended, since only then it is known when the next is due; unless
 * processes are asked to stop for that already. */
void coord_plan_next(struct coord *state, struct coord_effects *effects);
/* bsp_begin or bsp_sync returns on all hosts: the interval between snapshots starts now. */
void coord_note_going_on(struct coord *state);
/* The answer of the policy at the barrier at which all have arrived. */
enum policy_answer coord_ask_policy(struct coord *state);

/* events.c */
/* The processes run once those of all hosts that are left are ready. */
void coord_run_when_ready(struct coord *state, struct coord_effects *effects);
/* All have arrived at a barrier: what follows. */
void coord_take_barrier(struct coord *state, struct coord_effects *effects);
/* Decides the barrier at which all have arrived (again, when the previous snapshot has ended). */
void coord_decide_barrier(struct coord *state, struct coord_effects *effects);

/* snapshot.c */
/* A host with replicas of whose processes the job goes on is lost: the snapshot that is being taken
 * does not wait for it, and is abandoned if it needs what was there. */
void coord_go_on_without(struct coord *state, struct coord_host *host,
                         struct coord_effects *effects);
/* COORD_TIMER_CAPTURE has expired: the snapshot fails and all go on, if each process that is not
 * captured has another replica. */
void coord_give_up_captures(struct coord *state, struct coord_effects *effects);
/* A host wants a snapshot, at the next barrier. */
void coord_want_snapshot(struct coord *state, struct coord_effects *effects);
/* A snapshot that was committed when this Processor Zero took the place of another: says it again.
 * told: bsprun knows of it. */
void coord_announce(struct coord *state, struct bspz_snapshot_name name, bool told,
                    struct coord_effects *effects);

/* restore.c */
void coord_choose(struct coord *state, struct coord_effects *effects);

/* learn.c */
/* To be called at the first message of a term. */
void coord_learn_begin(struct coord *state);
/* Adds the time up to now to the estimate. */
void coord_watch(struct coord *state);
/* Updates the policy's facts about failures. */
void coord_know(struct coord *state);
void coord_learn_running(struct coord *state, bool restored);
void coord_learn_commit(struct coord *state);
void coord_learn_known(struct coord *state, const struct coord_host *host, uint64_t busy_ns,
                       uint64_t copied_ns);
void coord_learn_cost(struct coord *state);
void coord_learn_read(struct coord *state, const struct coord_host *host, uint64_t read_bytes,
                      uint64_t read_ns);
/* Measures the duration of supersteps: starts; ends, at a barrier. */
void coord_pace_from(struct coord *state);
void coord_pace(struct coord *state);

/* ending.c: an obsolete timer is ignored. */
void coord_take_timer(struct coord *state, enum coord_timer timer, struct coord_effects *effects);

/* The handlers of messages, each in the file it belongs to.  host: the sender, or the lost one;
 * NULL for bsprun. */
typedef int coord_take(struct coord *state, struct coord_host *host,
                       const struct wire_message *message, struct coord_effects *effects);
coord_take coord_take_host_ready, coord_take_registered, coord_take_ranks_ready, coord_take_arrive,
    coord_take_rank_exited, coord_take_abort, coord_take_stop, coord_take_ranks_stopped,
    coord_take_quiet, coord_take_link_lost, coord_take_held, coord_take_term_recorded,
    coord_take_staged, coord_take_captured, coord_take_image_durable, coord_take_image_failed,
    coord_take_persisted, coord_take_known, coord_take_save, coord_take_closed,
    coord_take_ahead_ready, coord_take_account, coord_take_bears, coord_take_objects,
    coord_take_halted;

/* ---- halt.c: where processes with replicas stop at calls ---- */

/* A snapshot is wanted, if those are at calls: hosts are asked how far their replicas are. */
void coord_halt(struct coord *state, struct coord_effects *effects);
/* A host is lost, as all have been told, and the barrier is not decided: they are asked again. */
void coord_halt_again(struct coord *state, struct coord_effects *effects);
/* The barrier at the end of the present superstep is decided; end: it is that of bsp_end. */
void coord_halt_decided(struct coord *state, bool end, struct coord_effects *effects);
/* What a host knows of the former Processor Zero; false: that cannot be. */
bool coord_halt_account(struct coord *state, const struct wire_account *account);
/* All know what was decided, but some may not know where their processes stop. */
void coord_halt_taken_over(struct coord *state, struct coord_effects *effects);
/* At the next one: whether a barrier was decided, as some host has been told, and none that is left
 * has been told where processes stop there.  Those that knew were lost between these two. */
bool coord_halt_is_unknown(const struct coord *state);
/* It is known that processes are saved at calls: some may have been told to stop. */
void coord_halt_anew(struct coord *state, struct coord_effects *effects);

#endif
