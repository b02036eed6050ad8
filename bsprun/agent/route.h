/* route.h - dispatches messages from the agents of other hosts. */
#ifndef BSPRUN_AGENT_ROUTE_H
#define BSPRUN_AGENT_ROUTE_H

#include <stdint.h>

struct agent;
struct wire_message;

/* Calls of the links of a term (link.h); the context is the agent. */
void agent_route_message(void *context, uint32_t host, const struct wire_message *message);
void agent_route_lost(void *context, uint32_t host, const char *text);
void agent_route_arrived(void *context, uint64_t superstep);

/* Processor Zero of another host has ended the term, or cannot be reached: ends the processes
 * here. */
void agent_zero_is_lost(struct agent *agent);
/* The same, of a host that is not heard by others: with replicas these must not count on it. */
void agent_is_cut_off(struct agent *agent);

#endif
