/* stop.h - aborting a job: requests for the end, their reasons, and the end of the processes. */
#ifndef BSPRUN_AGENT_STOP_H
#define BSPRUN_AGENT_STOP_H

#include <stdbool.h>

#include "bsprun/verdict.h"
#include "coordinator/core/coord.h"
#include "lib/wire/wire.h"

struct agent;

/* Sets the message about the end of the job; only the first one counts. */
void agent_blame(struct agent *agent, const char *text, bool with_table);
void agent_forget_blame(struct agent *agent);
/* Adds the rows of another host to the table of processes, if there is one. */
void agent_add_to_table(struct agent *agent, const char *rows);
/* Sets the reason of the end if none was set; prints it in a bare run. */
void agent_blame_end(struct agent *agent);

/* Ends the job by the verdict: stores the message and asks Processor Zero for the end. */
void agent_abort(struct agent *agent, int pid, const struct verdict *verdict);
/* Ends the job because no snapshot can be restored. */
void agent_cannot_go_on(struct agent *agent, int pid, const char *why);
/* Whether bsprun is dead or has finished with this agent, so that the end cannot be reported. */
bool agent_is_alone(const struct agent *agent);
/* Ends the job in that case, in any state. */
void agent_end_alone(struct agent *agent);
/* bsprun, a signal or the time limit requests the end. */
void agent_stop(struct agent *agent, enum wire_stop_how how, int signal, const char *text);
/* Stops the ranks: a grace period, then SIGKILL. */
void agent_stop_ranks(struct agent *agent, enum wire_cause cause, int status);
/* Kills all remaining processes at once. */
void agent_kill(struct agent *agent);
/* No watched process runs after a stop: kills the rest of the process tree. */
void agent_sweep(struct agent *agent);
/* END from Processor Zero of another host: the job is over on this host. */
void agent_end_here(struct agent *agent, const struct wire_end *end);
/* The job is over with that outcome, and no process runs: agent_finish follows from the loop. */
void agent_job_over(struct agent *agent, const struct coord_outcome *outcome);

#endif
