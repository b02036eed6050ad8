/* over.h - whether a job, or a term of it, is over here. */
#ifndef BSPRUN_AGENT_OVER_H
#define BSPRUN_AGENT_OVER_H

struct agent;

/* A process has ended, or a flag changed: is the job over? */
void agent_check_over(struct agent *agent);

#endif
