/* members.h - the processes of a job in a node agent: their number, which live on this host, the
 * state of each. */
#ifndef BSPRUN_AGENT_MEMBERS_H
#define BSPRUN_AGENT_MEMBERS_H

#include <stdbool.h>

#include "bsprun/agent/core/watch.h"
#include "lib/shm/board.h"

struct wire_numbers;

enum member_state {
    MEMBER_UNKNOWN,  /* not made yet, or of another host */
    MEMBER_KNOWN,    /* watched, unless it died before it could be */
    MEMBER_REPORTED, /* RANK_EXITED went to Processor Zero; it may still be dying */
    MEMBER_STATE_COUNT
};

struct member {
    struct watched process;
    enum member_state state;
    enum bspz_rank_state seen; /* last state that was handled */
};

/* Sets p and the host of each process (NULL: all here), and maps the slots. 0 or -errno. */
int agent_members_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of);
/* Writes the hosts to the board after a reset. */
void agent_write_homes(struct agent *agent);
/* Changes the hosts of the processes, none of which runs. */
void agent_settle(struct agent *agent, const struct wire_numbers *host_of);
/* Whether the process lives on this host. */
bool agent_is_here(const struct agent *agent, int pid);
/* Changes the state; a transition that the table does not allow is a defect and ends the agent. */
void agent_member_move(struct agent *agent, int pid, enum member_state to);
/* The process now watched as the member's `process` is that rank: lets it go on. */
void agent_member_is(struct agent *agent, int pid);
/* Kills those of this host with their process groups, but those for which `spare` (or NULL) is
 * true; not the program. */
void agent_kill_members(struct agent *agent, bool (*spare)(const void *agent, pid_t ospid));
/* Whether all ranks and the program have ended. */
bool agent_everything_gone(const struct agent *agent);

#endif
