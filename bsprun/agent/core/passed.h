/* passed.h - bsprun asks, for the order of the output, which supersteps the processes of this host have
 * come to the end of. */
#ifndef BSPRUN_AGENT_PASSED_H
#define BSPRUN_AGENT_PASSED_H

#include <stdint.h>

struct agent;

/* bsprun waits for the end of that superstep: PASSED, now or when it is so. */
void agent_ask_passed(struct agent *agent, uint64_t superstep);
/* PASSED, if bsprun waits for it and it is so. */
void agent_answer_passed(struct agent *agent);
/* That no process of the job lives here, whose output others would wait for. */
void agent_say_idle(struct agent *agent);

#endif
