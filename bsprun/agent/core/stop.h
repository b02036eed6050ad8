/* stop.h - every way a job is cut short: who asks for the end, why, and how the processes go. */
#ifndef BSPRUN_AGENT_STOP_H
#define BSPRUN_AGENT_STOP_H

#include <stdbool.h>

#include "bsprun/verdict.h"
#include "coordinator/core/coord.h"
#include "lib/wire/wire.h"

struct agent;

/* What the user is told of a job that ends now; the first reason stays. */
void agent_blame(struct agent *agent, const char *text, bool with_table);
void agent_forget_blame(struct agent *agent);
/* Rows of another host for the table of where every process was, if there is one. */
void agent_add_to_table(struct agent *agent, const char *rows);
/* Why it ended was said before, or this says it; of a bare run to the user. */
void agent_blame_end(struct agent *agent);

/* The verdict ends the job: remembers the message and asks Processor Zero for the end. */
void agent_abort(struct agent *agent, int pid, const struct verdict *verdict);
/* No snapshot can be restored as things are: ends the job. */
void agent_cannot_go_on(struct agent *agent, int pid, const char *why);
/* Nobody is left who could be told of the end, or asked: bsprun is gone, or done with this agent. */
bool agent_is_alone(const struct agent *agent);
/* The end where that is so, whatever is under way. */
void agent_end_alone(struct agent *agent);
/* bsprun, a signal or the time limit asks for the end. */
void agent_stop(struct agent *agent, enum wire_stop_how how, int signal, const char *text);
/* Ranks shall leave: a moment of grace, then SIGKILL. */
void agent_stop_ranks(struct agent *agent, enum wire_cause cause, int status);
/* Kills whatever is left, at once. */
void agent_kill(struct agent *agent);
/* Nothing watched runs any more after a stop: sweeps up the rest. */
void agent_sweep(struct agent *agent);
/* END of Processor Zero elsewhere: nothing of the job goes on here. */
void agent_end_here(struct agent *agent, const struct wire_end *end);
/* The job is over with that outcome, and nothing runs: agent_finish follows, from the loop. */
void agent_job_over(struct agent *agent, const struct coord_outcome *outcome);

#endif
