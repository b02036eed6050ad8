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
 * Happy path of the loss of a host (survive.h): the same on another host, from the newest snapshot of
 * all, which other hosts have (alone_move.c).
 *
 * What can fail: the process cannot be saved (the older image stays); it cannot be restarted, or is
 * lost again and again, or does something else than before: all processes go back.
 */
#ifndef BSPRUN_AGENT_ALONE_H
#define BSPRUN_AGENT_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/snapshot.h"

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
/* Whether hosts are to keep copies of the dataspace, so that the job may outlive one of them; and
 * whether they do, as more than one have processes. */
bool agent_wants_copies(const struct agent *agent);
bool agent_keeps_copies(const struct agent *agent);
/* Whether there are processes here, and all use nothing but the dataspace. */
bool agent_alone_suits(const struct agent *agent);
/* Whether all processes of this host could be restarted alone on another one, as far as that depends
 * on them. */
bool agent_alone_bears(struct agent *agent);
/* The process comes to this host from a lost one, and its place on the board is made. */
void agent_alone_expect(struct agent *agent, int pid);
/* All that are expected from the lost host are to be restarted from that snapshot. */
void agent_alone_receive(struct agent *agent, struct bspz_snapshot_name from, uint32_t lost);
/* Restarts them once what is needed has been fetched; also to be called now and then, as something
 * else may be being fetched. */
void agent_alone_look_for(struct agent *agent);
/* Whether the process is being restored alone: its end is not that of the program. */
bool agent_alone_is_restored(const struct agent *agent, int pid);

#endif
