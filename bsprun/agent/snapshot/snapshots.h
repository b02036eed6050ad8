/* snapshots.h - snapshots of a job in its node agent; without snapshots these have no effect. */
#ifndef BSPRUN_AGENT_SNAPSHOTS_H
#define BSPRUN_AGENT_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bsprun/agent/core/agent.h"

struct coord_config; /* coordinator/core/coord.h */
struct verdict;      /* bsprun/verdict.h */

/* Opens the store that START names.  0, or -errno and a line in `why`. */
int agent_snapshots_open(struct agent *agent, const struct wire_start *start, char why[AGENT_WHY]);
/* The number of replicas is known, of the job or of a new term. */
void agent_snapshots_elect(struct agent *agent);
/* The socket through which process 0 passes its files to the agent, to be inherited; -1: none. */
int agent_snapshots_offer(struct agent *agent);
/* The job is over: ends copies and writers, removes an unfinished snapshot. */
void agent_snapshots_close(struct agent *agent);
void agent_snapshots_free(struct agent *agent);
/* Sets p and the host of each process (NULL: all here): allocates their state, with or without
 * snapshots. 0 or -errno. */
int agent_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of);
/* Orders snapshot 0, which process 0 takes in bsp_begin. */
void agent_snapshots_order_first(struct agent *agent);
/* Process 0 takes snapshot 0 on another host: marks this host's output as earlier. */
void agent_snapshots_mark_first(struct agent *agent);
/* bsprun has this host's output from before the snapshot of that superstep.  True: images may have
 * waited for that. */
bool agent_snapshots_echoed(struct agent *agent, uint64_t superstep);
/* Sets the number of hosts on which each image must be durable. */
void agent_snapshots_copies(struct agent *agent, uint32_t copies);
/* Whether the directory of snapshots is shared with bsprun. */
bool agent_store_is_shared(const struct agent *agent);
/* Whether the job recovers from faults, as the user wants snapshots. */
bool agent_recovers(const struct agent *agent);
/* Whether its snapshots are taken after so many supersteps (--every N). */
bool agent_counts_supersteps(const struct agent *agent);
/* Who waits for a snapshot: nobody; somebody, while the processes go on; the processes. */
enum snapshot_haste { SNAPSHOT_IN_PASSING, SNAPSHOT_URGENT, SNAPSHOT_LAST };
/* Orders a snapshot at the barrier that ends the superstep.  False: the barrier will be answered
 * later, in agent_snapshots_resume. */
bool agent_snapshots_order(struct agent *agent, uint64_t superstep, enum snapshot_haste haste);
void agent_snapshots_resume(struct agent *agent, uint64_t superstep, uint64_t consult);
/* The snapshot for which processes here are captured, or to be, and at whose barrier they wait; 0:
 * none. */
uint64_t agent_snapshots_captures(const struct agent *agent);
/* Tells another Processor Zero again that they are. */
/* The newest snapshot that is known to be right; term 0: none. */
struct bspz_snapshot_name agent_snapshots_right(const struct agent *agent);
void agent_snapshots_say_captured(struct agent *agent);
/* Abandons a snapshot that has been begun, unless it is that one. */
void agent_snapshots_settle(struct agent *agent, struct bspz_snapshot_name committed);
/* Notes which processes here share files open for writing, by the newest snapshot; and whether this
 * one does, or that is not known. */
void agent_note_bound(struct agent *agent);
bool agent_is_bound(const struct agent *agent, int pid);
/* Scans the board for news of ranks, copies and writers. */
void agent_snapshots_scan(struct agent *agent);
/* The term is over: ends writers, and copies without a manifest. */
void agent_snapshots_rewind(struct agent *agent);
/* The next term begins from a snapshot: removes an unfinished one, keeps the measured costs. */
void agent_snapshots_forget(struct agent *agent);
/* The processes run: ends copies of those that have left this host. */
void agent_snapshots_run(struct agent *agent);
/* The board was reset: drops copies that were never adopted. */
void agent_forget_announced(struct agent *agent);
/* A term begins.  True: this host has later ones on record, of which bsprun does not know, and the
 * job ends. */
bool agent_snapshots_outran(struct agent *agent);
/* Reports the snapshots of this host to Processor Zero. */
void agent_tell_held(struct agent *agent);
/* The private memory of processes that were restored ahead of their move to this host: bytes. */
uint64_t agent_snapshots_ahead(const struct agent *agent);
/* What comes to this host: fills in at most nprocs rows, returns their number. */
uint32_t agent_snapshots_coming(const struct agent *agent, struct wire_coming *rows);
/* For process_kill_descendants_but: whether it is a frozen copy, or a process restored ahead, to be
 * spared. */
bool agent_is_copy(const void *agent, pid_t ospid);
/* Handles messages of Processor Zero about snapshots and restores. */
void agent_snapshots_message(struct agent *agent, const struct wire_message *message);
/* Handles AHEAD: restores the processes that are expected here, and answers AHEAD_READY. */
void agent_ahead(struct agent *agent, const struct wire_message *order);
/* A rank has died prematurely.  True: Processor Zero has been told and decides. */
bool agent_snapshots_fault(struct agent *agent, int pid, const struct verdict *verdict);
/* Adds the CPU time of reaped copies and writers. */
void agent_snapshots_buried(struct agent *agent, uint64_t cpu_ns);
/* Whether it is a copy or writer not watched yet. */
bool agent_snapshots_expect(const struct agent *agent, pid_t ospid);
/* For the configuration of Processor Zero. */
void agent_snapshots_configure(struct agent *agent, struct coord_config *config);

/* The processes run: scans their open files from now on, if the job can roll back. */
void agent_opened_begin(struct agent *agent);
/* A last scan before the processes are killed. */
void agent_opened_look(struct agent *agent);

#endif
