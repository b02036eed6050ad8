/* to_bsprun.h - messages of a node agent to bsprun. */
#ifndef BSPRUN_AGENT_TO_BSPRUN_H
#define BSPRUN_AGENT_TO_BSPRUN_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct wire_message;

/* Sends to bsprun, with the envelope of the present term; no effect without a connection. 0 or the
 * result of net_send. */
int agent_send(struct agent *agent, struct wire_message *message);
/* A line for the user; in a bare run on stderr. */
void agent_notice(struct agent *agent, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same; of those with that number, whichever host they come from, the first one is shown. */
void agent_notice_once(struct agent *agent, uint64_t once, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, of a process that is lost and restarted alone; it is counted. */
void agent_tell_restarted(struct agent *agent, int pid, const char *text);
/* The same, of an agent that leaves: the status of the job, should it end because of that. */
void agent_notice_leaving(struct agent *agent, int status, const char *why);
/* This agent no longer hears a host; its own number: bsprun. */
void agent_tell_link_lost(struct agent *agent, uint32_t host, const char *text, bool behind);

#endif
