/* job_machine_inside.h - the state of the job machine, shared by its files; each calls only
 * functions of those below it:
 *
 *   job_machine.c         events; terms
 *   job_machine_links.c   distinguishes host failures from link failures
 *   job_machine_faults.c  hosts that are lost and replaced; faults that end a term
 *   job_machine_joins.c   hosts that come while the job runs, and that it leaves by request
 *   job_machine_end.c     the end of the job
 *   job_machine_zero.c    another Processor Zero in the same term
 *   job_machine_invariants.c  what is true before and after every step
 *   job_machine_state.c   states, effects, enquiry functions
 */
#ifndef BSPRUN_JOB_MACHINE_INSIDE_H
#define BSPRUN_JOB_MACHINE_INSIDE_H

#include "bsprun/launcher/job_machine.h"

#define STARTS_MAX 3u /* consecutive failed starts of an agent */

enum host_state {
    HOST_UNUSED, /* a spare */
    HOST_STARTING,
    HOST_UP,
    HOST_LEAVING, /* dismissed */
    HOST_GONE,
    HOST_COMING,  /* its agent is being started, and terms do not wait for it */
    HOST_WAITING, /* its agent is up, and waits for the next term */
};

/* Whether terms place processes without regard to where they were.  After a rollback to the
 * snapshot at which that was done, the frozen copies are still where the processes were before. */
enum machine_anew { ANEW_NOT, ANEW_WANTED, ANEW_UNTIL_COMMIT };

struct machine_host {
    uint32_t id;
    enum host_state state;
    uint32_t starts;
    uint32_t since; /* up: lower for agents that came up earlier */
    /* Lost during the agreement on bsp_end: to be replaced if the term is rolled back nevertheless.
     */
    bool unreplaced;
    bool usable; /* gone: another agent could be started there when the last one was lost */
    enum job_use use;
    bool bears;       /* Processor Zero says whether the present term goes on without it; ... */
    bool asked;       /* ... lost: which has been asked */
    bool took_part;   /* in a term, or would have */
    bool given_up;    /* up, but the present term goes on without it */
    bool behind;      /* ... and too far behind its replicas, as another host says */
    bool excluded;    /* others did not hear it, or it is away: it does not come back by itself */
    uint32_t retries; /* since it was lost first */
    uint64_t retry_at_ms; /* gone: when another agent is started there; 0: not planned */
};

/* Pairs of hosts that do not hear each other. */
#define LINKS_MAX 64u
struct machine_links {
    uint32_t count;
    struct {
        uint32_t host, peer;
    } items[LINKS_MAX];
};

/* The decision pending until all have answered. */
struct machine_roll {
    bool called, blamed;
    struct job_event
        loss;      /* TERM_OVER or ENDED, by which Processor Zero has reported a host lost */
    uint32_t deaf; /* it does not hear bsprun; JOB_NO_HOST */
    /* Others may still report that they have lost the same host; 0: not set. */
    uint64_t decide_at_ms;
    struct machine_links lost;
};

struct job_machine {
    struct job_machine_config config; /* without hosts */
    enum job_machine_state state;
    struct machine_host *hosts;
    uint64_t fence_until_ms;
    bool fenced; /* the timer is set for the fence */
    uint32_t term;
    bool elected;            /* there was a term */
    uint32_t program;        /* host id: where a new job begins the program */
    uint32_t zero;           /* host id; before the first term: the same */
    uint32_t came;           /* number of agents that have come up */
    uint32_t begun_with;     /* number of hosts without spares, at the beginning */
    uint64_t retry_timer_ms; /* the timer is set for this; 0: it is not */
    bool registered;         /* process 0 has registered */
    bool restores;           /* the next term, and the present one */
    bool closed, cut_short;  /* nothing is rolled back any more; the processes are being ended */
    struct bspz_snapshot_name committed;
    struct bspz_snapshot_name avoid[COORD_AVOID_MAX];
    uint32_t avoid_count;
    struct job_fault fault;
    struct machine_roll roll;
    struct machine_links lost_before; /* by term, since the newest commit */
    uint32_t lost_before_term;
    enum machine_anew anew;
    bool replicas_next; /* config.replicas from the next term on */
    bool stop_asked, save_asked;
    uint32_t signal;
    uint32_t succeeded_term; /* the newest with another Processor Zero */
    /* The newest with replicas, since all hosts have snapshot 0 or processes have run.  Those that
     * are wanted may be missing for lack of hosts: then no agent knows of any. */
    uint32_t replicated_term;
    /* What Processor Zero of the present term was asked for and has not done: to be asked again of
     * one in its place. */
    struct job_event asked_to_end; /* STOP, or SAVE with stop; term 0: nothing */
    bool asked_moves;
    bool owes_snapshot; /* also by the one of the next term */
    uint64_t owed_since_ms;
    struct coord_outcome outcome;
};

/* ---- job_machine_state.c ---- */

/* Adds an effect, by default for Processor Zero and the present term. */
struct job_effect *machine_add(struct job_machine *machine, struct job_effects *effects,
                               enum job_effect_kind kind);
void machine_move(struct job_machine *machine, enum job_machine_state to);
struct machine_host *machine_find(const struct job_machine *machine, uint32_t id);
/* Whether Processor Zero of this term has been asked about a loss, and has not said that the term
 * goes on. */
bool machine_has_asked(const struct job_machine *machine);
/* The number of hosts in that state. */
uint32_t machine_count(const struct job_machine *machine, enum host_state state);

/* ---- job_machine_invariants.c ---- */

/* Between events; `effects`: those of the last one, or none. */
void machine_check(const struct job_machine *machine, const struct job_effects *effects);

/* ---- job_machine_faults.c ---- */

struct coord_outcome machine_host_lost(void);
/* The present term is over: begins the next one, unless that is not wanted or pointless. */
void machine_recover(struct job_machine *machine, const struct coord_outcome *outcome,
                     struct job_effects *effects);
/* Ends the job because of a lost host. */
void machine_end_of_loss(struct job_machine *machine, struct job_effects *effects);
/* Excludes a host from the job; a spare may replace it. */
void machine_dismiss(struct job_machine *machine, uint32_t host, struct job_effects *effects);
/* Replaces hosts that are still to be replaced, as many as a step has room for; others follow when
 * these have come up. */
void machine_replace_late(struct job_machine *machine, struct job_effects *effects);
void machine_take_agent_lost(struct job_machine *machine, const struct job_event *event,
                             struct job_effects *effects);

/* ---- job_machine_zero.c ---- */

/* Whether another host can take the place of that of Processor Zero, which is lost: the processes
 * run in replicas. */
bool machine_can_succeed(const struct job_machine *machine);
/* Whether the term may go on with another one, as those on its host can be restarted alone: the new
 * one decides, and it is asked about (SURVIVED, or TERM_OVER). */
bool machine_can_outlive_zero(const struct job_machine *machine);
/* Another one does.  The host is no longer of the term. */
void machine_succeed(struct job_machine *machine, struct job_effects *effects);
/* The same for a host that lives: it must leave. */
void machine_depose(struct job_machine *machine, struct job_effects *effects);
/* Notes what Processor Zero is asked for: by that event, NULL: by none; to move processes. */
void machine_note_asked(struct job_machine *machine, const struct job_event *event, bool moves);
/* A term begins: what is asked for again comes with it. */
void machine_renew_asked(struct job_machine *machine, struct job_effects *effects);
/* COMMITTED, UNSAVED: it may be the snapshot that was asked for. */
void machine_note_snapshot(struct job_machine *machine, const struct job_event *event);

/* ---- job_machine_joins.c ---- */

/* No host is left: starts agents on the open hosts that were given up while they were joining, if
 * they were usable then.  Before the first term it does nothing. */
void machine_start_last_resort(struct job_machine *machine, struct job_effects *effects);
/* A spare, if there is one, is to come in the place of a host that is lost while the term goes on,
 * unless no other term can follow. */
void machine_call_spare(struct job_machine *machine, struct job_effects *effects);
void machine_start_agent(struct job_machine *machine, struct machine_host *host,
                         enum host_state state, struct job_effects *effects);
void machine_take_agent_up(struct job_machine *machine, const struct job_event *event,
                           struct job_effects *effects);
/* A term has ended: hosts that wait for the next one are in it. */
void machine_let_join(struct job_machine *machine);
/* The agent of a host that takes no part is lost, or could not be started. */
void machine_lose_outsider(struct job_machine *machine, struct machine_host *host,
                           const struct job_event *event, struct job_effects *effects);
/* After a step: the timer for the next lost host that is to be tried again, or for the decision
 * about lost links. */
void machine_plan_retries(struct job_machine *machine, uint64_t now_ms,
                          struct job_effects *effects);
/* That time has come. */
void machine_retry(struct job_machine *machine, uint64_t now_ms, struct job_effects *effects);
/* Dismisses hosts that are to be removed: between terms. */
void machine_remove_drained(struct job_machine *machine, struct job_effects *effects);
/* Asks for the end of the term at a snapshot, if there is a term. */
void machine_move_processes(struct job_machine *machine, struct job_effects *effects);
/* USE. */
void machine_take_use(struct job_machine *machine, const struct job_event *event,
                      struct job_effects *effects);

/* ---- job_machine_end.c ---- */

void machine_leave(struct job_machine *machine, struct job_effects *effects);
/* Ends the job without Processor Zero, by the user's request or the last fault. */
void machine_give_up(struct job_machine *machine, struct job_effects *effects);
/* ENDED: from Processor Zero, or from an agent whose program never began. */
void machine_take_ended(struct job_machine *machine, const struct job_event *event,
                        struct job_effects *effects);
/* STOP, SAVE. */
void machine_take_request(struct job_machine *machine, const struct job_event *event,
                          struct job_effects *effects);

/* ---- job_machine_links.c ---- */

/* Another host is Processor Zero: a lost link that did not matter before may be one of its. */
void machine_review_links(struct job_machine *machine, struct job_effects *effects);
void machine_take_link_lost(struct job_machine *machine, const struct job_event *event,
                            struct job_effects *effects);
/* TERM_OVER or ENDED of Processor Zero because of a host that it has lost. */
void machine_take_loss(struct job_machine *machine, const struct job_event *event,
                       struct job_effects *effects);
void machine_take_roll(struct job_machine *machine, uint64_t now_ms, struct job_effects *effects);
/* The timer has expired: decides if it is time. */
void machine_decide_links(struct job_machine *machine, uint64_t now_ms,
                          struct job_effects *effects);
void machine_forget_roll(struct job_machine *machine);

#endif
