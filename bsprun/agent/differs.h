/* differs.h - a host with replicas that is not needed any more: one of its processes has died, it
 * is too far behind, it has communicated something else than the others, or what it waits for is
 * lost.
 */
#ifndef BSPRUN_AGENT_DIFFERS_H
#define BSPRUN_AGENT_DIFFERS_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct links_mismatch;
struct verdict;

/* A process of this host has died, for which its replicas on other hosts go on: this agent leaves,
 * and bsprun may start another one.  False: the death is not one of that kind, or this is Processor
 * Zero's host, without which the term is over. */
bool agent_leaves_replicas(struct agent *agent, int pid, const struct verdict *verdict);

/* To be called when the end of the job becomes known, a process dies, or the links ring the bell:
 * if the processes of this host can not come to the end any more, the agent leaves. */
void agent_replicas_look_to_end(struct agent *agent);

/* The replicas on this host cannot go on, for that reason: the agent leaves.  If the term cannot go
 * on without it, it is over. */
void agent_replicas_given_up(struct agent *agent, const char *why);

/* Processor Zero, which is here, is about to end the term, or the job, for that cause.  Calls
 * `end`: at once, or, if replicas differ, when this host has said where, which may still be on the
 * links, in PARTING_MS at the latest. */
void agent_replicas_say_first(struct agent *agent, uint32_t cause, void (*end)(struct agent *));
/* The term is over otherwise: nothing is called any more. */
void agent_replicas_say_no_more(struct agent *agent);

/* Upward calls of the links, see link.h. */
void agent_replicas_differ(void *context, const struct links_mismatch *mismatch);
void agent_replicas_behind(void *context, uint32_t host, uint64_t superstep, int error);

#endif
