/* replica_files.h - files that replicas of a process must not share: what is written to them is not
 * the same when it is written twice.
 */
#ifndef BSPRUN_AGENT_REPLICA_FILES_H
#define BSPRUN_AGENT_REPLICA_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;

/* Looks at the open files of the processes of this host, where they have replicas and
 * --replica-files does not allow it.  False: one appends to a file, or has a pipe or a socket, and
 * the job is being ended with a message that names it. */
bool agent_replica_files_are_good(struct agent *agent);
/* The first process of this host that does something of the kind, with a message; COORD_NOBODY:
 * none. */
int agent_replica_files_find(struct agent *agent, char *text, size_t size);

/* The job has ended, for that cause, and the processes of this host are to be killed, if they have
 * not ended, by `end`: at once, or where replicas are just writing files, which those that have
 * ended first have completed, when these are closed, or after a moment. */
void agent_let_write(struct agent *agent, uint32_t cause, void (*end)(struct agent *agent));
/* If that is waited for: it is followed by this instead.  False: it is not. */
bool agent_let_write_first(struct agent *agent, void (*end)(struct agent *agent));

#endif
