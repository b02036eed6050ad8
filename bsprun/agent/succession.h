/* succession.h - another Processor Zero in the same term, where processes have replicas.
 *
 * Happy path: TAKE_OVER from bsprun: from now on this host obeys that one -> ACCOUNT of what it knows
 * -> TAKEN_OVER: what others knew; the barrier at which its processes wait, its captured processes and
 * those that have ended are reported again.
 *
 * What can fail: the account arrives before TAKE_OVER does (kept); a further host is lost (another
 * TAKE_OVER, or ELECT of the next term); no memory for Processor Zero.
 */
#ifndef BSPRUN_AGENT_SUCCESSION_H
#define BSPRUN_AGENT_SUCCESSION_H

#include <stdbool.h>

struct agent;
struct wire_message; /* lib/wire/wire.h */

/* Whether the host waits for bsprun to name another one, now that Processor Zero's is lost; else the
 * term is over here. */
bool agent_awaits_successor(const struct agent *agent);
/* TAKE_OVER. */
void agent_take_over(struct agent *agent, const struct wire_message *message);
/* ACCOUNT, for which Processor Zero is not there yet. */
void agent_keep_account(struct agent *agent, const struct wire_message *message);
/* TAKEN_OVER. */
void agent_taken_over(struct agent *agent, const struct wire_message *message);
/* Frees accounts that are kept. */
void agent_succession_end(struct agent *agent);

#endif
