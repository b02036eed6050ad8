/* strangers.h - children of the agent that are no ranks: orphans of the program, which the agent
 * adopts as their subreaper, frozen copies and writers of images. */
#ifndef BSPRUN_AGENT_STRANGERS_H
#define BSPRUN_AGENT_STRANGERS_H

#include <sys/types.h>

struct agent;

/* Reaps those that have ended, and counts the CPU time of copies and writers.  On SIGCHLD, and when
 * the job begins to run: until then all children are kept. */
void agent_bury_strangers(struct agent *agent);
/* The same of one that was watched and has ended: at SIGCHLD it may have been kept, as one that was
 * expected on the board. */
void agent_bury_stranger(struct agent *agent, pid_t ospid);

#endif
