/* gate.h - the barriers that Processor Zero decides: what the processes of a host have asked
 * for, and what was decided before they have come to it.  Pure: see decided.h for its part in an
 * agent.
 *
 * What can fail: no memory.
 */
#ifndef BSPRUN_AGENT_GATE_H
#define BSPRUN_AGENT_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/wire.h"

struct decided {
    uint64_t superstep; /* whose end was decided */
    uint64_t consult;   /* the next one that is */
    bool end;           /* the barrier of bsp_end */
    bool snapshot;      /* processes of other hosts are captured there */
};

struct gate;

/* Calls back. */
struct gate_calls {
    /* The processes wait there, and go on. */
    void (*answer)(void *context, const struct decided *decided);
    /* Processes that do not wait are to ask at barriers from that one on; from which they do. */
    void (*consult)(void *context, uint64_t from);
    uint64_t (*consults)(void *context);
};

/* calls: as long as the machine.  NULL: no memory. */
struct gate *gate_open(const struct gate_calls *calls, void *context);
/* Harmless for NULL. */
void gate_close(struct gate *gate);

/* The newest consultation that was passed on, as the board counts them: supersteps; 0: none. */
uint64_t gate_consulted(const struct gate *gate);
void gate_consult(struct gate *gate, uint64_t consulted, enum wire_barrier barrier);
/* Whether it is the barrier of bsp_end. */
bool gate_end_reported(const struct gate *gate);

/* At the end of that superstep processes of other hosts are captured: those of this one pass, and
 * are held at the next barrier.  False: no memory. */
bool gate_go_ahead(struct gate *gate, uint64_t superstep);
/* Whether they are held there, and ARRIVE is not to be sent: after gate_add of the superstep
 * before another scan sends it if it is wanted. */
bool gate_holds(const struct gate *gate, uint64_t superstep);

/* Another Processor Zero may not know that they have passed the barrier before.  Whether it is to
 * be asked about that one, as they have come to it; else they will ask when they do. */
bool gate_ask_again(struct gate *gate, uint64_t *superstep);
/* With replicas: whether they ask though that barrier is not decided: process 0 of another host,
 * which is held, has made them do so.  They go on.  Where some are at calls it is decided: they
 * have been told to stop, even if this host has not heard that yet. */
bool gate_unasked(struct gate *gate, uint64_t superstep);

/* Processor Zero lets pass.  Answers the processes if they wait there; false: no memory. */
bool gate_add(struct gate *gate, const struct decided *decided);
/* The processes wait at that barrier; whether it was decided before: they go on. */
bool gate_take(struct gate *gate, uint64_t superstep);
/* The term is over. */
void gate_forget(struct gate *gate);

#endif
