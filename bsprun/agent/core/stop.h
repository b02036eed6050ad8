/* stop.h - aborting a job: requests for the end, their reasons, and the end of the processes. */
#ifndef BSPRUN_AGENT_STOP_H
#define BSPRUN_AGENT_STOP_H

#include <stdbool.h>

#include "bsprun/verdict.h"
#include "coordinator/core/coord.h"
#include "lib/wire/wire.h"

struct agent;

/* What is known of the end is kept here from agent_ending_open on: 0 or -ENOMEM. */
int agent_ending_open(struct agent *agent);
void agent_ending_free(struct agent *agent);

/* How the job ended on this host; zeros as long as it has not. */
const struct coord_outcome *agent_outcome(const struct agent *agent);
/* The message for the user and the table of processes; "": none, or none is due.  Both are valid
 * until the next call that sets or forgets them. */
const char *agent_blamed(const struct agent *agent);
const char *agent_blamed_table(const struct agent *agent);
/* When the first request to stop came, in ns of agent_now_ns; 0: none has. */
uint64_t agent_stopped_since(const struct agent *agent);
/* Whether Processor Zero of another host has reported the end to bsprun. */
bool agent_ended_elsewhere(const struct agent *agent);
/* From now on it is for this host to tell bsprun. */
void agent_tells_the_end(struct agent *agent);
/* The agent could not begin: its exit status is 1. */
void agent_cannot_begin(struct agent *agent);
/* The ranks that were given time to leave are being killed. */
void agent_stop_graces(struct agent *agent);

/* Sets the message about the end of the job; only the first one counts. */
void agent_blame(struct agent *agent, const char *text, bool with_table);
/* The same for a process that has left after bsp_end; a bare run prints it at the end only. */
void agent_blame_leaver(struct agent *agent, const char *text);
void agent_forget_blame(struct agent *agent);
/* Adds the rows of another host to the table of processes, if there is one. */
void agent_add_to_table(struct agent *agent, const char *rows);
/* Sets the reason of the end if none was set; prints it in a bare run. */
void agent_blame_end(struct agent *agent);

/* Ends the job by the verdict: stores the message and asks Processor Zero for the end. */
void agent_abort(struct agent *agent, int pid, const struct verdict *verdict);
/* Ends the job because no snapshot can be restored. */
void agent_cannot_go_on(struct agent *agent, int pid, const char *why);
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
/* END from Processor Zero of another host: its outcome counts.  False: it does already, or another.
 */
bool agent_note_end_elsewhere(struct agent *agent, const struct wire_end *end);
/* After that: the job is over on this host; kills what is left of its processes. */
void agent_end_here(struct agent *agent);
/* Processor Zero's host: the job has ended well; kills processes here whose replicas have ended. */
void agent_end_replicas(struct agent *agent);
/* Whether that process was killed so: it may not have written all that its replica has. */
bool agent_ended_early(const struct agent *agent, int pid);
/* The job is over with that outcome, and no process runs: agent_finish follows from the loop. */
void agent_job_over(struct agent *agent, const struct coord_outcome *outcome);

#endif
