/* snapshots.h - snapshots of a job in its node agent; without, nothing is done. */
#ifndef BSPRUN_AGENT_SNAPSHOTS_H
#define BSPRUN_AGENT_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bsprun/agent/core/agent.h"

/* Opens the store that START names.  0, or -errno and a line in `why`. */
int agent_snapshots_open(struct agent *agent, const struct wire_start *start, char why[AGENT_WHY]);
/* What process 0 gives the agent of its files goes through it: a descriptor for it to inherit, -1:
 * none. */
int agent_snapshots_offer(struct agent *agent);
/* Ends copies and writers, takes back half a snapshot: the job is over. */
void agent_snapshots_close(struct agent *agent);
void agent_snapshots_free(struct agent *agent);
/* p is decided, and where each process lives (NULL: all here): makes room for them, with snapshots or
 * without.  0 or -errno. */
int agent_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of);
/* Orders snapshot 0, which process 0 takes when it is let out of bsp_begin. */
void agent_snapshots_order_first(struct agent *agent);
/* Process 0 takes snapshot 0 on another host: what this one has written comes before it. */
void agent_snapshots_mark_first(struct agent *agent);
/* bsprun has what this host wrote before the snapshot of that superstep.  True: images may have waited
 * for that. */
bool agent_snapshots_echoed(struct agent *agent, uint64_t superstep);
/* On how many hosts each image shall be. */
void agent_snapshots_copies(struct agent *agent, uint32_t copies);
/* Whether snapshots are written to the directory that bsprun sees. */
bool agent_store_is_shared(const struct agent *agent);
/* Whether faults are recovered from: the user wants snapshots. */
bool agent_recovers(const struct agent *agent);
/* Orders a snapshot at the barrier that ends the superstep.  False: the barrier is to be answered
 * later, in agent_snapshots_resume. */
bool agent_snapshots_order(struct agent *agent, uint64_t superstep);
void agent_snapshots_resume(struct agent *agent, uint64_t superstep, uint64_t consult);
/* Looks at what ranks, copies and writers have left on the board. */
void agent_snapshots_scan(struct agent *agent);
/* The term is over: ends writers, and copies that there is no manifest for. */
void agent_snapshots_rewind(struct agent *agent);
/* The next term begins from a snapshot: takes back half a one, keeps what Processor Zero has learned. */
void agent_snapshots_forget(struct agent *agent);
/* The board was reset: copies that were never adopted are no more. */
void agent_forget_announced(struct agent *agent);
/* Tells Processor Zero of the snapshots there are. */
void agent_tell_held(struct agent *agent);
/* For process_kill_descendants_but: whether it is a frozen copy that is kept. */
bool agent_is_copy(const void *agent, pid_t ospid);
/* What Processor Zero says of a snapshot, and of a restore. */
void agent_snapshots_message(struct agent *agent, const struct wire_message *message);
/* A rank is gone that had more to do.  True: that is no reason to end the job by itself, Processor
 * Zero has been told. */
bool agent_snapshots_fault(struct agent *agent, int pid, const struct verdict *verdict);
/* Copies and writers have ended that had that much processor time. */
void agent_snapshots_buried(struct agent *agent, uint64_t cpu_ns);
/* Whether it is a copy or a writer that nobody watches yet. */
bool agent_snapshots_expect(const struct agent *agent, pid_t ospid);
/* For the configuration of Processor Zero. */
void agent_snapshots_configure(struct agent *agent, struct coord_config *config);

/* The processes run: what they have open is looked at from now on, if the job may be rolled back. */
void agent_opened_begin(struct agent *agent);
/* They will be killed, or some are dead: the last chance to look at the others. */
void agent_opened_look(struct agent *agent);

#endif
