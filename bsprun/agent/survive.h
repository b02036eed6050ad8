/* survive.h - the term goes on although a host is lost, as its processes are restarted alone on
 * other hosts: programs of the dataspace, of whose objects other hosts keep copies.
 *
 * Happy path: this host tells Processor Zero whether its processes could be restarted elsewhere,
 * BEARS
 * -> a host is lost, SURVIVED -> it is not heard any more, its processes have new homes, and the
 * dataspace knows -> who has got some restarts them from the snapshot (snapshot/alone_move.c).
 *
 * At barriers, what the processes of a host have in common goes by the links
 * (bsprun/link/mirror.h), among the hosts where they began.  A process that has come to another
 * host goes by MEET.
 *
 * If the lost host is that of Processor Zero another one is named (succession.h), which says
 * SURVIVED.
 *
 * What can fail: see coordinator/core/survive.c; a process cannot be restarted: all go back.
 */
#ifndef BSPRUN_AGENT_SURVIVE_H
#define BSPRUN_AGENT_SURVIVE_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct wire_message;

/* The processes run.  Without copies of the dataspace these have no effect. */
void agent_survive_begin(struct agent *agent);
/* The term, or the agent, is over. */
void agent_survive_forget(struct agent *agent);
/* Whether the term may go on if the host of Processor Zero is lost, as far as this host knows: then
 * bsprun says so (TAKE_OVER), or begins another term. */
bool agent_survive_awaits(const struct agent *agent);
/* Another Processor Zero has taken the place of the former one: it is told anew what this host
 * bears.
 */
void agent_survive_again(struct agent *agent);
/* SURVIVED, of Processor Zero. */
void agent_survive_take(struct agent *agent, const struct wire_message *message);
/* LOSSES, of Processor Zero: the processes of those hosts live elsewhere in replicas. */
void agent_survive_losses(struct agent *agent, const struct wire_message *message);
/* MEET, of another host. */
void agent_survive_meet(struct agent *agent, const struct wire_message *message);

#endif
