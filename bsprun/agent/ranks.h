/* ranks.h - adopting, watching and counting the processes of this host; see ranks.c. */
#ifndef BSPRUN_AGENT_RANKS_H
#define BSPRUN_AGENT_RANKS_H

struct agent;

/* Looks at the board for whatever changed since the last look. */
void agent_scan(struct agent *agent);
/* The death or last mark of a rank: what it means for the job. */
void agent_judge_rank(struct agent *agent, int pid);
/* Tells Processor Zero of those that have left after bsp_end. */
void agent_report_leavers(struct agent *agent);
/* It was let out of bsp_end and killed before it could say that it is: it has ended, and how. */
void agent_count_out(struct agent *agent, int pid);

#endif
