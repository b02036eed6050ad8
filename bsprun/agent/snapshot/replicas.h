/* replicas.h - images that hosts without a common directory keep for each other. */
#ifndef BSPRUN_AGENT_REPLICAS_H
#define BSPRUN_AGENT_REPLICAS_H

#include <stdint.h>

struct agent;
struct wire_message;

/* The image of a process is durable here, and shall be on so many other hosts, too. */
void agent_replicas_spread(struct agent *agent, int pid, uint32_t copies);
/* The same for the snapshot that the term began from, of which a host that was lost had some. */
void agent_replicas_spread_again(struct agent *agent);
/* KEEP: another host offers an image. */
void agent_replicas_take(struct agent *agent, uint32_t host, const struct wire_message *message);
/* The job's processes are known here: what was offered before can be taken now. */
void agent_replicas_placed(struct agent *agent);
/* The term's links are closed: what was offered over them does not come. */
void agent_replicas_forget(struct agent *agent);
void agent_replicas_free(struct agent *agent);

#endif
