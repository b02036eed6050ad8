/* state.h - the inside of Processor Zero, shared by the files of coordinator/core. */
#ifndef COORD_STATE_H
#define COORD_STATE_H

#include "coordinator/core/coord.h"

struct coord_host {
    uint32_t id;
    uint32_t slots; /* 0 until known */
    bool ready;     /* HOST_READY came */
    bool lost;
    bool ranks_ready;
    bool stopped; /* nothing of the job runs there (any more) */
    bool arrived; /* at the barrier that is being decided */
    enum wire_barrier barrier;
    uint64_t output[2];
    uint32_t first, count; /* its pids, from PLACE on */
};

struct coord {
    struct coord_config config; /* without `hosts` */
    enum coord_phase phase;
    uint32_t host_count;
    struct coord_host *hosts;
    uint64_t *bytes; /* [from * host_count + to], as told by ARRIVED */

    bool registered;
    uint32_t registered_host; /* index */
    uint32_t wanted;

    uint32_t processes; /* 0 before PLACE */
    bool *exited;       /* per pid */
    uint32_t exited_count;

    uint64_t superstep; /* no barrier before the end of this superstep is still to come */
    uint64_t consult;   /* the next one that is decided here, or COORD_NEVER */

    struct coord_outcome outcome;
    char text[COORD_TEXT_MAX];
};

/* Gives every ready host its pids: the registered host first, since process 0 lives there, then
 * the others in order.  Fills the slots; what is more than there are slots is spread in proportion
 * to them.  Needs processes >= 1 and all slots known. */
void coord_place(struct coord *state, uint32_t processes);

/* How many processes the job gets: bsp_begin's argument and the limit, or the limit, or the slots.
 * May exceed what is possible; the caller checks. */
uint64_t coord_decide_processes(uint32_t wanted, uint32_t limit, uint64_t slots);

/* The first superstep not before `from` whose end is to be decided. */
uint64_t coord_next_consult(uint64_t from, uint64_t every, uint64_t abort_at);

/* Whether the pid's process is on that host; before the placing there is only process 0. */
bool coord_lives_on(const struct coord *state, uint32_t pid, const struct coord_host *host);

/* The only way from one state to another. */
void coord_move(struct coord *state, enum coord_phase to);

/* Adds an effect with the fields all have in common. */
struct coord_effect *coord_add_effect(struct coord *state, struct coord_effects *effects,
                                      enum coord_effect_kind kind);

/* Writes the complaint and returns -EPROTO. */
int coord_broken(struct coord_effects *effects, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The events (events.c).  host is NULL for events that concern none. */
typedef int coord_take(struct coord *state, struct coord_host *host,
                       const struct coord_event *event, struct coord_effects *effects);
coord_take coord_take_host_ready, coord_take_registered, coord_take_ranks_ready, coord_take_arrived,
    coord_take_rank_exited, coord_take_abort, coord_take_stop, coord_take_ranks_stopped,
    coord_take_host_lost, coord_take_timer;

#endif
