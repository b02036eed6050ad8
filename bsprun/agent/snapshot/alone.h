/* alone.h - processes that are saved and restarted alone (--recover one).
 *
 * Happy path of an image: it is the process's turn -> WANTED on the board, and a request that waits
 * is withdrawn -> at its next call it writes its image, or has it written -> RECORDED: its output
 * so far is passed on, it goes on -> the image is there: older answers are cut from the logs of the
 * dataspace.  A snapshot of all serves as an image of each as well.
 *
 * Happy path of a loss: the agent starts a process from the last image -> it takes its place on the
 * board -> it makes its calls since the image again, answered from the logs -> it has caught up.
 *
 * What can fail: the process cannot be saved (the older image stays); it cannot be restarted, or is
 * lost again and again, or does something else than before: all processes go back.
 */
#ifndef BSPRUN_AGENT_ALONE_H
#define BSPRUN_AGENT_ALONE_H

#include <stdbool.h>

struct agent;
struct verdict;

/* The processes run.  Without memory, or with --recover all, none is restarted alone. */
void agent_alone_begin(struct agent *agent);
/* The term is over. */
void agent_alone_forget(struct agent *agent);
/* No more timers; and frees the rest. */
void agent_alone_close(struct agent *agent);
void agent_alone_free(struct agent *agent);

/* Looks at the board for news. */
void agent_alone_scan(struct agent *agent);
/* A snapshot of all is being taken: an unfinished image is given up. */
void agent_alone_give_way(struct agent *agent);
/* All processes here have recorded it; it is committed. */
void agent_alone_captured(struct agent *agent);
void agent_alone_committed(struct agent *agent);

/* The process has died of a signal.  False: all have to go back. */
bool agent_alone_restart(struct agent *agent, int pid, const struct verdict *verdict);
/* Whether the process is being restored alone: its end is not that of the program. */
bool agent_alone_is_restored(const struct agent *agent, int pid);

#endif
