/* members.h - the processes of a job as a node agent knows them: how many there are, which of them
 * live on this host, what became of each. */
#ifndef BSPRUN_AGENT_MEMBERS_H
#define BSPRUN_AGENT_MEMBERS_H

#include <stdbool.h>

#include "bsprun/agent/core/watch.h"
#include "lib/shm/board.h"

struct wire_numbers;

struct member {
    struct watched process;
    bool adopted;
    bool missed;               /* it was gone before it could be adopted */
    bool exit_reported;        /* RANK_EXITED went to Processor Zero */
    enum bspz_rank_state seen; /* newest mark that was acted upon */
};

/* p is decided, and where each process lives (NULL: all here): maps the slots.  0 or -errno. */
int agent_members_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of);
/* Where each lives, on the board, which was reset. */
void agent_write_homes(struct agent *agent);
/* They live elsewhere from now on; none of them runs. */
void agent_settle(struct agent *agent, const struct wire_numbers *host_of);
/* Whether the process lives on this host. */
bool agent_is_here(const struct agent *agent, int pid);
/* The processor it shall be bound to, or -1. */
int agent_core_of(const struct agent *agent, int pid);
/* The process that is watched as `process` from now on is that rank: it may go on. */
void agent_member_is(struct agent *agent, int pid);
/* Kills those of this host, with what they started in their groups; not the program. */
void agent_kill_members(struct agent *agent);
/* Nothing that is watched as a rank or as the program runs any more. */
bool agent_everything_gone(const struct agent *agent);

#endif
