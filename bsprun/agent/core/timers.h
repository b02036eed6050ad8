/* timers.h - the timers of an agent that last as long as its loop; those of less are with the part
 * that needs them. */
#ifndef BSPRUN_AGENT_TIMERS_H
#define BSPRUN_AGENT_TIMERS_H

#include <uv.h>

#include "coordinator/core/coord.h"

struct agent;

enum agent_timer {
    AGENT_TIMER_LIMIT,    /* the time limit: limit.c */
    AGENT_TIMER_TIMES,    /* nobody wants times any more: status.c; the loop does not wait for it */
    AGENT_TIMER_REWIND,   /* the end of a term: terms.c */
    AGENT_TIMER_GRACE,    /* that of ranks which are to stop: stop.c */
    AGENT_TIMER_SWEEP,    /* of what is left of them: stop.c */
    AGENT_TIMER_OPENED,   /* what processes open is looked at: snapshot/open_files.c */
    AGENT_TIMER_COMPARED, /* replicas are slow: snapshot/compared.c */
    AGENT_TIMER_WRITING,  /* replicas may end what they write: replica_files.c */
    AGENT_TIMER_PARTING,  /* what differs is still to be sent: differs.c */
    AGENT_TIMER_PLACE,    /* where replicas differ is still to be said: differs.c */
    AGENT_TIMER_STOPS,    /* processes do not come to where they stop: dataspace_halt.c */
    AGENT_TIMER_ZERO,     /* the first of Processor Zero's, in the order of enum coord_timer */
    AGENT_TIMER_COUNT = AGENT_TIMER_ZERO + COORD_TIMER_COUNT
};

/* Once the loop is there: 0 or -ENOMEM.  Closed, a timer cannot be started any more. */
int agent_timers_open(struct agent *agent);
void agent_timers_close(struct agent *agent);
void agent_timers_free(struct agent *agent);

/* To be started and stopped; its `data` is the agent. */
uv_timer_t *agent_timer(const struct agent *agent, enum agent_timer timer);

#endif
