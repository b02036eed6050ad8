/* passed.h - tells bsprun which supersteps the processes of this host have completed, for the order
 * of the output. */
#ifndef BSPRUN_AGENT_PASSED_H
#define BSPRUN_AGENT_PASSED_H

#include <stdint.h>

struct agent;

/* bsprun asks for PASSED of that superstep: sends it now or when it is true. */
void agent_ask_passed(struct agent *agent, uint64_t superstep);
/* Sends PASSED, if bsprun waits for it and it is true. */
void agent_answer_passed(struct agent *agent);
/* Reports that no process of the job lives here, so that no output is awaited. */
void agent_say_idle(struct agent *agent);
/* A term begins: what was asked in the one before is not answered. */
void agent_forget_passed(struct agent *agent);

#endif
