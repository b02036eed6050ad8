/* state.h - the inside of Processor Zero, shared by the files of coordinator/core. */
#ifndef COORD_STATE_H
#define COORD_STATE_H

#include "coordinator/core/coord.h"

#define IN(phase) (1u << (phase)) /* in sets of states */

struct coord_host {
    uint32_t id;
    uint32_t slots; /* 0 until known */
    uint32_t busy, speed; /* as in coord_load; speed at least 1 */
    bool ready;     /* HOST_READY came */
    bool shared;    /* ... and its snapshots are where bsprun sees them */
    bool lost;
    bool ranks_ready;
    bool stopped; /* nothing of the job runs there (any more) */
    bool arrived; /* at the barrier that is being decided */
    enum wire_barrier barrier;
    uint32_t first, count; /* its lowest pid and how many, from PLACE or RESTORE on */
    uint32_t quota;        /* while processes are dealt out: how many it still gets */
    bool staged;
    bool captured; /* at the barrier that was released for a snapshot */
    bool known;    /* has answered COMMITTED */
    bool durable;  /* has the manifest */
    uint64_t position[2];
};

/* A snapshot of which some host has something. */
struct coord_held {
    struct coord_name name; /* term 0: the place is free */
    uint32_t processes;
    bool committed;    /* somebody has its manifest */
    uint32_t missing;  /* images that nobody has said to have */
    bool *has_image;   /* per pid */
    uint16_t *copy_on; /* per pid: index of the host with a frozen copy, plus 1; 0: none */
    uint32_t *together; /* per pid: the lowest with which it shall be on one host */
};

/* Of an image: its digests, and the indexes of hosts where it is durable, plus 1. */
struct coord_durable {
    unsigned char digest[WIRE_DIGEST_MAX], base_digest[WIRE_DIGEST_MAX];
    uint16_t holders[COORD_COPIES_MAX];
};

/* The snapshot that is being taken. */
struct coord_ticket {
    enum coord_ticket_state state;
    struct coord_name name;
    bool base;                    /* snapshot 0: one image for all */
    struct wire_image *images;    /* per pid, complete when it is durable somewhere */
    struct coord_durable *durable; /* per pid */
    uint32_t missing;             /* images not yet durable in enough places */
    uint64_t begun_ns;            /* when its barrier was released */
    uint64_t changed;
    bool follows;                 /* there was another one at a barrier of this term */
    uint64_t busy_ns, copied_ns;  /* of the host where it is most */
    double cost_ns;               /* of all processes that have told it, added up: so many */
    uint64_t counted;
    uint64_t input, input_digest;
};

struct coord {
    struct coord_config config; /* without `hosts` */
    enum coord_phase phase;
    uint32_t host_count;
    struct coord_host *hosts;

    bool registered;
    uint32_t registered_host; /* index */
    uint32_t wanted;

    uint32_t processes; /* 0 before PLACE */
    uint16_t *home;     /* per pid: index of its host */
    uint64_t *numbers;  /* the lists of messages: two for each process, or host */
    bool *exited;       /* per pid */
    uint32_t exited_count;

    uint64_t superstep; /* no barrier before the end of this superstep is still to come */
    uint64_t consult;   /* the next one that is decided here, or COORD_NEVER */
    bool asked;         /* CONSULT is out: any superstep up to that may come */

    struct coord_lineage *lineage;
    struct coord_held *held; /* COORD_HELD_MAX */
    struct coord_held *from; /* the one that is restored */
    struct coord_ticket ticket;
    struct coord_name committed; /* term 0: none */
    struct policy_facts facts;
    uint32_t failures; /* snapshots that failed one after the other */
    char failure[COORD_TEXT_MAX]; /* how the newest did */
    bool save, save_and_stop;
    uint32_t save_signal;
    uint64_t restore_begun_ns;

    struct estimate estimate; /* up to watched_ns */
    uint64_t begun_ns, watched_ns;
    bool running;          /* RUN was emitted */
    uint64_t base_size;    /* of the image of snapshot 0, if it is of this term */
    struct wire_real learned[ESTIMATE_NUMBERS]; /* the list of SAVED */
    double guess;          /* how long it takes to read the images, in seconds */
    uint64_t paced_ns, paced_superstep; /* from where the duration of supersteps is counted */

    uint64_t now_ns; /* of the step */

    struct coord_outcome outcome;
    char text[COORD_TEXT_MAX];
};

/* Gives every host its pids: the registered host first, since process 0 lives there, then the
 * others in order.  Fills the slots of one host after the other, or goes round (by_node); what is
 * more than there are slots is spread in proportion to them.  Needs processes >= 1 and all slots
 * known. */
void coord_place(struct coord *state, uint32_t processes);

/* The same for a restore: frozen copies stay where they are (copy_on: per pid the index of that host,
 * plus 1; 0: there is none), and where there are no copies at all everything is placed as if the job
 * began.  What was lost goes to where a process gets most: of slots, by their speed, for which it is
 * among least processes, the busy ones of others included.  Those of a group (together: the lowest pid
 * of it) go to one host: where copies of it are, if there are any. */
void coord_place_again(struct coord *state, uint32_t processes, const uint16_t *copy_on,
                       const uint32_t *together);

/* For messages: the host of each process. */
struct wire_numbers coord_homes(struct coord *state);
/* On how many hosts each image must be. */
uint32_t coord_copies(const struct coord *state);

/* How many processes the job gets: bsp_begin's argument and the limit, or the limit, or the slots.
 * May exceed what is possible; the caller checks. */
uint64_t coord_decide_processes(uint32_t wanted, uint32_t limit, uint64_t slots);

/* The first superstep not before `from` whose end is to be decided. */
uint64_t coord_next_consult(uint64_t from, uint64_t every, uint64_t abort_at);

/* Whether the pid's process is on that host; before the placing there is only process 0. */
bool coord_lives_on(const struct coord *state, uint32_t pid, const struct coord_host *host);

/* The only way from one state to another. */
void coord_move(struct coord *state, enum coord_phase to);

/* Whether the host keeps the manifest: with one store that all see, that of process 0 for all. */
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
/* What goes wrong first is what the job ended of. */
void coord_blame(struct coord *state, enum wire_cause cause, int32_t pid, int32_t status,
                 uint32_t signal, const char *text);
/* Cuts the job short, for the reason that was blamed. */
void coord_begin_abort(struct coord *state, struct coord_effects *effects);
/* The term ends by a fault, for the reason that was blamed: FAILED where there is a snapshot to go
 * back to, else the job is cut short. */
void coord_fail(struct coord *state, struct coord_effects *effects);
/* Asked to stop after a snapshot: it is there (text NULL), or will not be, so with what there is. */
void coord_stop_saved(struct coord *state, const char *text, struct coord_effects *effects);

/* ticket.c */
/* The only way from one state of the ticket to another. */
void coord_move_ticket(struct coord *state, enum coord_ticket_state to);
/* OPEN, for the snapshot of so many supersteps; base: snapshot 0, one image for all. */
void coord_open_ticket(struct coord *state, uint64_t superstep, bool base);
/* Sets the next superstep to be consulted about and, when it must come sooner, the timer. */
void coord_plan(struct coord *state);
void coord_plan_timer(struct coord *state, struct coord_effects *effects);
/* The same when a snapshot is over, at any time: only then it is known when the next is due. */
void coord_plan_next(struct coord *state, struct coord_effects *effects);
/* bsp_begin or bsp_sync returns everywhere: the time between snapshots counts from now. */
void coord_note_going_on(struct coord *state);
/* What the policy says at the barrier at which all have arrived. */
enum policy_answer coord_ask_policy(struct coord *state);

/* events.c */
/* All have arrived: what the barrier does (again, once the snapshot before is over). */
void coord_decide_barrier(struct coord *state, struct coord_effects *effects);

/* snapshot.c */
/* Whatever the ticket waited for may have come. */
void coord_advance_ticket(struct coord *state, struct coord_effects *effects);

/* restore.c */
void coord_choose(struct coord *state, struct coord_effects *effects);

/* learn.c */
/* The term begins: its first message. */
void coord_learn_begin(struct coord *state);
/* The time up to now counts. */
void coord_watch(struct coord *state);
/* Brings what the policy knows of failures up to date. */
void coord_know(struct coord *state);
void coord_learn_running(struct coord *state, bool restored);
void coord_learn_commit(struct coord *state);
void coord_learn_known(struct coord *state, const struct coord_host *host, uint64_t busy_ns,
                       uint64_t copied_ns);
void coord_learn_cost(struct coord *state);
void coord_learn_read(struct coord *state, const struct coord_host *host, uint64_t read_bytes,
                      uint64_t read_ns);
/* How long a superstep takes: from here on; up to the barrier at which all are. */
void coord_pace_from(struct coord *state);
void coord_pace(struct coord *state);

/* ending.c: one that was set for what is past does nothing. */
void coord_take_timer(struct coord *state, enum coord_timer timer, struct coord_effects *effects);

/* The messages, each in the file it belongs to.  host: whose agent says it, or the lost one; NULL for
 * what bsprun wants. */
typedef int coord_take(struct coord *state, struct coord_host *host,
                       const struct wire_message *message, struct coord_effects *effects);
coord_take coord_take_host_ready, coord_take_registered, coord_take_ranks_ready, coord_take_arrive,
    coord_take_rank_exited, coord_take_abort, coord_take_stop, coord_take_ranks_stopped,
    coord_take_link_lost, coord_take_held, coord_take_term_recorded, coord_take_staged,
    coord_take_captured, coord_take_image_durable, coord_take_image_failed, coord_take_persisted,
    coord_take_known, coord_take_save, coord_take_closed;

#endif
