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
    bool holds;         /* that of a snapshot of replicas elsewhere: RESUME says how it goes on */
};

/* Processor Zero lets pass.  Answers the processes if they wait there; false: no memory. */
bool agent_decided_add(struct agent *agent, const struct decided *decided);
/* Those that are captured elsewhere are: the processes here go on, now or when they come so far.
 * False: no memory. */
bool agent_decided_resume(struct agent *agent, uint64_t superstep, uint64_t consult);
/* Barriers of snapshots to which the processes have not come yet are undecided again. */
void agent_decided_drop_held(struct agent *agent);
/* The processes wait at that barrier; whether it was decided before: they go on. */
bool agent_decided_take(struct agent *agent, uint64_t superstep);
/* The term is over. */
void agent_decided_forget(struct agent *agent);

#endif
