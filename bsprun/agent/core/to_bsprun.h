/* to_bsprun.h - what a node agent says to bsprun, whoever in the agent says it. */
#ifndef BSPRUN_AGENT_TO_BSPRUN_H
#define BSPRUN_AGENT_TO_BSPRUN_H

#include <stdint.h>

struct agent;
struct wire_message;

/* Sends to bsprun, with the envelope of the present term; nothing happens when there is no connection.
 * 0 or what net_send says. */
int agent_send(struct agent *agent, struct wire_message *message);
/* A line for the user; of a bare run, which has no bsprun, on stderr. */
void agent_notice(struct agent *agent, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* This agent does not hear a host any more; its own number: bsprun. */
void agent_tell_link_lost(struct agent *agent, uint32_t host, const char *text);

#endif
