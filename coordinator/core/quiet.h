/* quiet.h - whether all processes of a job wait for objects of the dataspace that nobody can put
 * any more.  Pure.
 *
 * A host whose processes all wait, for an object or at a barrier that is not complete, says so from
 * time to time.  Then every host is asked, twice: if all processes wait both times, with the same
 * numbers of messages of the dataspace sent and received, and the sums of these are equal, no
 * message was on its way and nobody can wake anybody.  Source: Mattern, "Algorithms for distributed
 * termination detection", Distributed Computing 2, 1987 (the four counter method).  What completes
 * a barrier on another host is not counted; but where processes wait at a barrier that all have
 * reached, it is on its way.
 *
 * What can fail: a host is lost: its answer does not come, and the question stays open until
 * quiet_restart, if the loss does not end the term.
 */
#ifndef COORD_QUIET_H
#define COORD_QUIET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/wire.h"

enum quiet_state {
    QUIET_UNKNOWN,
    QUIET_FIRST,  /* all hosts are asked */
    QUIET_SECOND, /* ... and again, as all processes waited */
    QUIET_STATE_COUNT
};

/* A host, and its newest answer that its processes wait. */
struct quiet_host {
    bool asked; /* it has processes; by the caller, before the first message */
    bool answered;
    uint64_t sent, received, arrived, held; /* as in WIRE_FIELDS_QUIET */
    char *waits;                            /* for what they wait; owned */
};

struct quiet {
    enum quiet_state state;
    uint64_t round;   /* the newest question, from 1; 0: none yet */
    uint32_t missing; /* hosts that are to answer it */
    uint32_t host_count;
    struct quiet_host *hosts;
};

enum quiet_act {
    QUIET_NOTHING,
    QUIET_ASK,  /* ASK_QUIET with `round` to all hosts */
    QUIET_STUCK /* no process can ever go on */
};

/* False: no memory. */
bool quiet_begin(struct quiet *quiet, uint32_t host_count);
void quiet_end(struct quiet *quiet);

/* A host is lost, or processes have another one: an open question is void.  All hosts have been
 * told, on the same links on which they are asked from now on, as the loss changes their numbers of
 * messages. */
void quiet_restart(struct quiet *quiet);

/* Takes QUIET of a host, by its index.  One that answers a question which is not open any more has
 * no effect; its round is at most quiet->round. */
enum quiet_act quiet_take(struct quiet *quiet, uint32_t host, const struct wire_quiet *message);

#endif
