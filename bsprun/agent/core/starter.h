/* starter.h - who has started this agent: bsprun, to which there is a connection, or the program in
 * a bare run. */
#ifndef BSPRUN_AGENT_STARTER_H
#define BSPRUN_AGENT_STARTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "bsprun/agent/core/outside.h"

struct agent;
struct net_connection; /* lib/net/net.h */

/* bare: without bsprun, with no other host, snapshot or relayed output. */
void agent_starter_open(struct agent *agent, bool bare);
bool agent_is_bare(const struct agent *agent);

/* By bsprun: its process (0: on another host), the descriptors that were open then, and the
 * directory in which owners of the host are seen ("": that of the system). */
void agent_set_starter(struct agent *agent, pid_t bsprun, const struct outside *outside,
                       const char *view);
pid_t agent_bsprun(const struct agent *agent);
const struct outside *agent_outside(const struct agent *agent);
const char *agent_view(const struct agent *agent);

/* The connection to bsprun; NULL when bare or lost. */
struct net_connection *agent_control(const struct agent *agent);
void agent_set_control(struct agent *agent, struct net_connection *control);

#endif
