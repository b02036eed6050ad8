/* identity.h - which agent this is: of which job, on which host. */
#ifndef BSPRUN_AGENT_IDENTITY_H
#define BSPRUN_AGENT_IDENTITY_H

#include <stdint.h>

#define AGENT_NAME_VARIABLE "BSPZERO_HOST_NAME" /* instead of the machine's */

struct agent;
struct wire_envelope; /* lib/wire/wire.h */

/* Takes the name of the host from that variable or the machine. */
void agent_identity_open(struct agent *agent);

/* The job's identifier, WIRE_JOB_SIZE bytes; zeros before it is known. */
const unsigned char *agent_job_id(const struct agent *agent);
void agent_set_job_id(struct agent *agent, const unsigned char *id);
/* The number of this host in the job, and its name. */
uint32_t agent_host(const struct agent *agent);
void agent_set_host(struct agent *agent, uint32_t host);
const char *agent_host_name(const struct agent *agent);

/* Marks a message as of this job and the present term. */
void agent_envelope(const struct agent *agent, struct wire_envelope *envelope);

#endif
