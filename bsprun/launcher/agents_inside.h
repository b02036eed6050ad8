/* agents_inside.h - what the files of the agents share, of which each calls only what stands below
 * it. Internal.
 *
 *   agents_start.c   starting an agent, wherever it is
 *   agents_remote.c  agents of other hosts
 *   agents_own.c     the agent of this host, and what it leaves behind
 *   agents.c         the table, the lines, what is sent
 */
#ifndef BSPRUN_AGENTS_INSIDE_H
#define BSPRUN_AGENTS_INSIDE_H

#include "bsprun/launcher/agents.h"

/* ---- agents_remote.c ---- */

/* All at once, as far as there is room.  False: said why not. */
bool agents_start_remotes(struct agents *agents, const uint32_t *hosts, uint32_t count);
/* The first message to the agent of this host, in a job with several.  False: said why not. */
bool agents_send_join(struct launcher_agent *agent);

/* ---- agents_own.c ---- */

/* False: said why not. */
bool agents_start_own(struct launcher_agent *agent);

/* ---- agents.c ---- */

/* What is done when a line ends that was not given up; the agent has no line any more. */
typedef void agents_line_ended(struct launcher_agent *agent, enum net_end end, const char *text);

/* It has a connection now.  0 or -errno; then the descriptor is the caller's. */
int agents_open_line(struct launcher_agent *agent, int fd, const struct net_options *options,
                     agents_line_ended *ended);
void agents_move(struct launcher_agent *agent, enum agent_state to);
/* It is lost and has no line. */
void agents_lost(struct launcher_agent *agent, enum agent_loss loss, int status, const char *text);

#endif
