/* mail.h - messages of MPI between hosts: the agent copies rings (lib/shm/mail.h) of processes here
 * whose reader is on another host, and reports how far rings from there have been read.  On one
 * host it has no part in them.  It exists from the first process in MPI_Init to the end of the
 * term.
 */
#ifndef BSPRUN_AGENT_MAIL_H
#define BSPRUN_AGENT_MAIL_H

#include <stdint.h>

struct agent;
struct wire_message;

/* Answers processes in MPI_Init, and sends what others have written and read. */
void agent_mail_scan(struct agent *agent);
/* MAIL or MAIL_READ from another host. */
void agent_mail_message(struct agent *agent, uint32_t host, const struct wire_message *message);
/* All processes of the job stand at the barrier after which this snapshot is to be, and write
 * nothing: tells the other hosts that nothing comes from here any more.  Also if there will be no
 * snapshot here, as processes elsewhere are being saved and wait for it. */
void agent_mail_mark(struct agent *agent, uint64_t superstep);
/* The term, or the agent, is over. */
void agent_mail_forget(struct agent *agent);

#endif
