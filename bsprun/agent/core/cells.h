/* cells.h - which hosts have replicas of which processes, in a node agent.
 *
 * Processor Zero names for each process one host, the lead of a cell; the other hosts of the cell
 * have a replica of each of its processes.  Without replicas each host is a cell of its own.
 */
#ifndef BSPRUN_AGENT_CELLS_H
#define BSPRUN_AGENT_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/wire.h"

struct agent;

/* Takes the hosts that are not their own lead, each followed by its lead, as in PLACE and RESTORE;
 * NULL or empty: there are no replicas.  0, -ENOMEM, or -EPROTO: no such list can be. */
int agent_cells_take(struct agent *agent, const struct wire_numbers *leads);
void agent_cells_free(struct agent *agent);
/* Whether processes have replicas in this term. */
bool agent_has_replicas(const struct agent *agent);
/* The list that was taken, for messages: the numbers are malloc'd, for the caller to free; empty
 * also when there is no memory. */
struct wire_numbers agent_cells_list(const struct agent *agent);
/* The host where a process lives, as seen from here: this one, if it has a replica of it. */
uint32_t agent_cells_home(const struct agent *agent, uint32_t lead);
/* The lead of the cell of that host: itself, if it has no replicas of another one's processes. */
uint32_t agent_cells_lead(const struct agent *agent, uint32_t host);

#endif
