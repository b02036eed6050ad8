/* strangers.h - children of the agent that are no ranks: orphans of the program, which the agent
 * adopts as their subreaper, frozen copies and writers of images. */
#ifndef BSPRUN_AGENT_STRANGERS_H
#define BSPRUN_AGENT_STRANGERS_H

struct agent;

/* Reaps those that have ended, and counts the CPU time of copies and writers.  On SIGCHLD, and
 * whenever one that was kept may have become a stranger: the job begins to run, or a process that
 * was watched, or expected on the board, has ended. */
void agent_bury_strangers(struct agent *agent);

#endif
