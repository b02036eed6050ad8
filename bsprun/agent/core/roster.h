/* roster.h - the processes of the job: how many, the host of each, and what this agent watches of
 * those that are here. */
#ifndef BSPRUN_AGENT_ROSTER_H
#define BSPRUN_AGENT_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/agent/core/watch.h"
#include "lib/shm/board.h"

struct agent;

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

/* No process yet. 0 or -ENOMEM. */
int agent_roster_open(struct agent *agent);
void agent_roster_free(struct agent *agent);
/* From now on the job has p processes, all of host 0 and unknown. 0 or -ENOMEM. */
int agent_roster_size(struct agent *agent, int nprocs);

/* p; 0 until placed. */
int agent_nprocs(const struct agent *agent);
/* The number of processes on this host, and the lowest pid of them. */
int agent_here(const struct agent *agent);
int agent_first_here(const struct agent *agent);
/* The number of the host of the process; that of all, for `nprocs` processes. */
uint32_t agent_home(const struct agent *agent, int pid);
const uint32_t *agent_homes(const struct agent *agent);
/* Changes one.  Whether it is another one than before.  When all are set, those here are to be
 * counted. */
bool agent_set_home(struct agent *agent, int pid, uint32_t home);
void agent_count_here(struct agent *agent);

/* The process of a pid, which is empty if it is on another host; the program that was started,
 * which may be process 0 or its wrapper. */
const struct member *agent_member(const struct agent *agent, int pid);
struct watched *agent_process(const struct agent *agent, int pid);
struct watched *agent_root(const struct agent *agent);
/* Forgets the process, which is not watched any more, but that it had been seen in that state. */
void agent_member_anew(struct agent *agent, int pid, enum bspz_rank_state seen);
/* Changes the state; a transition that the table does not allow is a defect and ends the agent. */
void agent_member_move(struct agent *agent, int pid, enum member_state to);
/* One more process, of a host that is lost, is on this one, and not watched yet.  The lowest of
 * those that were here before stays the first. */
void agent_member_received(struct agent *agent, int pid);
/* Notes what was seen of it on the board. */
void agent_member_seen(struct agent *agent, int pid, enum bspz_rank_state seen);
/* One more of this host is ready, or has ended; whether all are or have. */
bool agent_count_ready(struct agent *agent);
bool agent_count_ended(struct agent *agent);
/* No process is watched or known any more; their number and hosts stay. */
void agent_roster_clear(struct agent *agent);

#endif
