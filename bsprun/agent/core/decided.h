/* decided.h - the barriers that Processor Zero decides: what the processes of this host have asked
 * for, and what was decided before they have come to it.
 *
 * Where processes have replicas Processor Zero waits for the first of each only: what it decides is
 * kept here until the processes of this host ask for it.
 *
 * Where the processes of other hosts are captured those of this one must not wait before they have
 * communicated: others may need what they answer to gets, to compare it.  They pass, and wait at
 * the next barrier until it is known whether that is to be decided.  Before they pass, this host
 * marks their output: what they write from then on comes after the snapshot, of which bsprun may
 * not have heard yet from the hosts of those that are captured.
 */
#ifndef BSPRUN_AGENT_DECIDED_H
#define BSPRUN_AGENT_DECIDED_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/agent/core/gate.h"

struct agent;

/* For the whole job: 0 or -ENOMEM. */
int agent_decided_open(struct agent *agent);
void agent_decided_free(struct agent *agent);

/* The newest consultation of the processes here that was passed on, as the board counts them; 0:
 * none in this term. */
uint64_t agent_decided_consulted(const struct agent *agent);
void agent_decided_consult(struct agent *agent, uint64_t consulted, enum wire_barrier barrier);
/* Whether it is the barrier of bsp_end. */
bool agent_decided_end_reported(const struct agent *agent);
/* Whether Processor Zero has answered it, so that the processes leave. */
void agent_decided_let_out(struct agent *agent, bool end);
bool agent_decided_lets_out(const struct agent *agent);
/* Whether Processor Zero wants measurements with the next one. */
void agent_decided_measure(struct agent *agent, bool measures);
bool agent_decided_measures(const struct agent *agent);

/* At the end of that superstep processes of other hosts are captured: those of this one pass, and
 * are held at the next barrier.  False: no memory. */
bool agent_decided_go_ahead(struct agent *agent, uint64_t superstep);
/* Whether they are held there, and ARRIVE is not to be sent: after agent_decided_add of the
 * superstep before another scan sends it if it is wanted. */
bool agent_decided_holds(const struct agent *agent, uint64_t superstep);

/* Another Processor Zero may not know that they have passed the barrier before.  Whether it is to
 * be asked about that one, as they have come to it; else they will ask when they do. */
bool agent_decided_ask_again(struct agent *agent, uint64_t *superstep);
/* Whether they ask though that barrier is not decided: process 0 of another host, which is held,
 * has made them do so.  They go on. */
bool agent_decided_unasked(struct agent *agent, uint64_t superstep);

/* Processor Zero lets pass.  Answers the processes if they wait there; false: no memory. */
bool agent_decided_add(struct agent *agent, const struct decided *decided);
/* The processes wait at that barrier; whether it was decided before: they go on. */
bool agent_decided_take(struct agent *agent, uint64_t superstep);
/* The term is over. */
void agent_decided_forget(struct agent *agent);

#endif
