/* status.h - what the agent answers to QUERY_STATUS: where the processes of this host are, and what
 * they do. */
#ifndef BSPRUN_AGENT_STATUS_H
#define BSPRUN_AGENT_STATUS_H

#include <stdbool.h>

struct agent;

/* Sends a STATUS to bsprun.  times: the processes here count the times of their activities from now
 * on, until nobody has wanted them for AGENT_TIMES_MS.  replicas: with what speaks against
 * replicas of them.  Cost: about 10 us for each process. */
void agent_answer_status(struct agent *agent, bool times, bool replicas);

#define AGENT_TIMES_MS 90000u /* more than the minute between two looks of most monitors */

#endif
