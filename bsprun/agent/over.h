/* over.h - checks whether a job or term is over on this host. */
#ifndef BSPRUN_AGENT_OVER_H
#define BSPRUN_AGENT_OVER_H

struct agent;

/* A process has ended, or a flag changed: checks whether the job is over. */
void agent_check_over(struct agent *agent);

#endif
