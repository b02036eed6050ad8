/* ranks.h - adopting, watching and counting the processes of this host; see ranks.c. */
#ifndef BSPRUN_AGENT_RANKS_H
#define BSPRUN_AGENT_RANKS_H

#include <stdbool.h>

struct agent;

/* Scans the board for changes. */
void agent_scan(struct agent *agent);
/* Handles the death or final state of a rank. */
void agent_handle_rank_end(struct agent *agent, int pid);
/* Tells Processor Zero of ranks that have exited after bsp_end. */
void agent_report_leavers(struct agent *agent);
/* Tells another Processor Zero again: of the barrier at which the processes wait for a decision; of ranks
 * that have exited. */
void agent_arrive_again(struct agent *agent);
/* Whether it has been told of such a barrier. */
bool agent_awaits_decision(const struct agent *agent);
void agent_report_leavers_again(struct agent *agent);
/* Counts a rank as ended that was killed after it was released from bsp_end, but before it marked
 * itself ENDED. */
void agent_count_out(struct agent *agent, int pid);

#endif
