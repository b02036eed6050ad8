/* agents_inside.h - what the files of the agents share; each calls only functions of those below
 * it.  Internal.
 *
 *   agents_start.c   starting an agent on any host
 *   agents_remote.c  agents of other hosts
 *   agents_own.c     the agent of this host, and the processes it leaves behind
 *   agents.c         the table, the lines, sending
 */
#ifndef BSPRUN_AGENTS_INSIDE_H
#define BSPRUN_AGENTS_INSIDE_H

#include "bsprun/launcher/agents.h"

/* ---- agents_remote.c ---- */

/* The most connections that have not proved yet that they are agents. */
uint32_t agents_unproved_most(const struct agents *agents);
/* Starts them all at once, as far as there is room.  False: failed, reported. */
bool agents_start_remotes(struct agents *agents, const uint32_t *hosts, uint32_t count);
/* The first message to the agent of this host, in a job with several.  False: failed, reported. */
bool agents_send_join(struct launcher_agent *agent);

/* ---- agents_own.c ---- */

/* False: said why not. */
bool agents_start_own(struct launcher_agent *agent);

/* ---- agents.c ---- */

/* Called when a line ends without having been cut; the agent has no line then. */
typedef void agents_line_ended(struct launcher_agent *agent, enum net_end end, const char *text);

/* Opens the line of an agent. 0, or -errno: the caller still owns the descriptor. */
int agents_open_line(struct launcher_agent *agent, int fd, const struct net_options *options,
                     agents_line_ended *ended);
void agents_move(struct launcher_agent *agent, enum agent_state to);
/* The agent is lost and has no line. */
void agents_lost(struct launcher_agent *agent, enum agent_loss loss, int status, const char *text);

#endif
