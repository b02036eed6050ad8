/* pause.h - processes of the job on this host that are slowed or stopped because its owner is
 * active.
 *
 * Slow: in a control group that gives way to all others, where that can be made, with what they
 * fork; else they are stopped and continued in turn, PAUSE_RUN_MS of PAUSE_PERIOD_MS.  They are
 * stopped only while they compute, and not while the agent waits for them: while they are being
 * made, restored or ended.  Frozen copies and writers of images are never stopped.
 *
 * Who is stopped by somebody else, as by Ctrl-Z, stays so: a process that was stopped already is
 * not continued, and none is while bsprun on this host is stopped.  One that somebody else
 * continues is stopped again.
 */
#ifndef BSPRUN_AGENT_PAUSE_H
#define BSPRUN_AGENT_PAUSE_H

#include <sys/types.h>

#include "lib/wire/wire.h"

#define PAUSE_PERIOD_MS 100u
#define PAUSE_RUN_MS    10u

struct agent;
struct watched;

/* Prepares.  root: as of owner_view_new; bsprun: its process, 0: on another host. 0 or -ENOMEM. */
int agent_pause_open(struct agent *agent, const char *root, pid_t bsprun);
/* Has the processes go on, slowly, or not at all, from now on.  LEAVE: they go on. */
void agent_pause_set(struct agent *agent, enum wire_act act);
/* The processes are others, the job is in another state, or somebody may have continued one: does
 * with them what was set.  All of these are harmless before agent_pause_open. */
void agent_pause_renew(struct agent *agent);
/* The term ends, and the process does not: it goes on. */
void agent_pause_spare(struct agent *agent, struct watched *process);
/* The job is to end: all go on, for good, so that they can take signals. */
void agent_pause_end(struct agent *agent);
/* Before bsprun learns that this agent leaves, which it need not survive for long. */
void agent_pause_close(struct agent *agent);
/* When the loop has ended. */
void agent_pause_free(struct agent *agent);

#endif
