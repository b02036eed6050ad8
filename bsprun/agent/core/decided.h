/* decided.h - barriers that were decided before the processes of this host have come to them.
 *
 * Where processes have replicas Processor Zero waits for the first of each only: what it decides is
 * kept here until the processes of this host ask for it.
 */
#ifndef BSPRUN_AGENT_DECIDED_H
#define BSPRUN_AGENT_DECIDED_H

#include <stdbool.h>
#include <stdint.h>

struct agent;

struct decided {
    uint64_t superstep; /* whose end was decided */
    uint64_t consult;   /* the next one that is */
    bool end;           /* the barrier of bsp_end */
};

/* Processor Zero lets pass.  Answers the processes if they wait there; false: no memory. */
bool agent_decided_add(struct agent *agent, const struct decided *decided);
/* The processes wait at that barrier; whether it was decided before: they go on. */
bool agent_decided_take(struct agent *agent, uint64_t superstep);
/* The term is over. */
void agent_decided_forget(struct agent *agent);

#endif
