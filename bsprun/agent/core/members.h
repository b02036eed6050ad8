/* members.h - what is done with the processes of a job in a node agent; see roster.h for what is
 * known of them. */
#ifndef BSPRUN_AGENT_MEMBERS_H
#define BSPRUN_AGENT_MEMBERS_H

#include <stdbool.h>

#include <sys/types.h>

struct agent;
struct wire_numbers;

/* Sets p and the host of each process (NULL: all here), and maps the slots. 0 or -errno. */
int agent_members_place(struct agent *agent, int nprocs, const struct wire_numbers *host_of);
/* Writes the hosts to the board after a reset. */
void agent_write_homes(struct agent *agent);
/* Changes the hosts of the processes, none of which runs. */
void agent_settle(struct agent *agent, const struct wire_numbers *host_of);
/* Whether the process lives on this host. */
bool agent_is_here(const struct agent *agent, int pid);
/* The process now watched as the member's `process` is that rank: lets it go on. */
void agent_member_is(struct agent *agent, int pid);
/* Kills those of this host with their process groups, but those for which `spare` (or NULL) is
 * true; not the program. */
void agent_kill_members(struct agent *agent, bool (*spare)(const void *agent, pid_t ospid));
/* Whether all ranks and the program have ended. */
bool agent_everything_gone(const struct agent *agent);

#endif
