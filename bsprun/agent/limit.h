/* limit.h - ends the job when it takes longer than --timeout.  While a debugger runs, and between
 * two terms, the end waits. */
#ifndef BSPRUN_AGENT_LIMIT_H
#define BSPRUN_AGENT_LIMIT_H

struct agent;

/* The time of START begins, if that sets a limit. */
void agent_limit_begin(struct agent *agent);
/* bsprun says that it is over. */
void agent_limit_reached(struct agent *agent);

#endif
