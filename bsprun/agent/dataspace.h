/* dataspace.h - the dataspace (bsprun/dataspace) between the board, the links and the loop of a
 * node agent: it exists from the first request of a term to the end of the term.
 */
#ifndef BSPRUN_AGENT_DATASPACE_H
#define BSPRUN_AGENT_DATASPACE_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct wire_account;
struct wire_message;
struct wire_numbers;

/* Before the thread of the bell runs. */
void agent_dataspace_open(struct agent *agent);
/* Handles the requests that processes of this host have posted on the board. */
void agent_dataspace_scan(struct agent *agent);
/* The same by the thread of the bell: whether it has handled them.  If not, or if the ring may mean
 * something else as well, the loop is to be woken. */
bool agent_dataspace_rung(struct agent *agent);
/* DATA_* from another host. */
void agent_dataspace_message(struct agent *agent, uint32_t host,
                             const struct wire_message *message);
/* The board says that Processor Zero wants to decide the next barrier: processes whose calls are
 * safe points (lib/rt/safe_point.h) are woken, and their waiting requests withdrawn. */
void agent_dataspace_consult(struct agent *agent);
/* A snapshot is about to be ordered: tells the ranks whether this host has objects for it. */
void agent_dataspace_mark(struct agent *agent);
/* HALT, HALT_AT: processes with replicas are to stop at their calls. */
void agent_dataspace_halt(struct agent *agent, const struct wire_message *message);
/* What another Processor Zero needs to know of that; the numbers are valid until the next of these
 * messages. */
void agent_dataspace_account(const struct agent *agent, struct wire_account *account);
/* A snapshot of that number is taken of the processes of those hosts, which have replicas: what
 * this host has of the dataspace goes to one of these, or what others have comes here.  NULL: no
 * longer. */
void agent_dataspace_gather(struct agent *agent, uint64_t snapshot,
                            const struct wire_numbers *keepers);
/* The snapshot of that number is given up. */
void agent_dataspace_gather_over(struct agent *agent, uint64_t snapshot);
/* That process is to stop at its next call: withdraws its request, if it waits. */
void agent_dataspace_interrupt(struct agent *agent, int pid);
/* The process is lost, and restarted alone. */
void agent_dataspace_restarted(struct agent *agent, int pid);
/* An image of the process is there, from which it would make no request below that number. */
void agent_dataspace_cut(struct agent *agent, int pid, uint64_t number);
/* Whether answers take more than half of the memory that there is for them. */
bool agent_dataspace_is_burdened(struct agent *agent);
/* ... and the process, of those that may be saved, whose image would help most; -1: none. */
int agent_dataspace_burden(struct agent *agent, bool (*may)(const struct agent *agent, int pid));
/* Whether the loss of a host could be borne: other hosts hold copies of what it has, as far as this
 * one knows, and no answer was given up that a process may still want. */
bool agent_dataspace_bears_loss(struct agent *agent);
/* The host is lost, and the term goes on: on all hosts, before agent->home changes. */
void agent_dataspace_host_lost(struct agent *agent, uint32_t host);
/* The process, whose host is lost, is restarted alone on that one: on all hosts, in one order, and
 * there before it makes its first call.  It cannot be saved until all hosts have said what it did
 * before, and it has caught up with that. */
void agent_dataspace_moved(struct agent *agent, int pid, uint32_t host);
/* The term, or the agent, is over. */
void agent_dataspace_forget(struct agent *agent);

#endif
