/* replicas.h - images that hosts without a common directory keep for each other. */
#ifndef BSPRUN_AGENT_REPLICAS_H
#define BSPRUN_AGENT_REPLICAS_H

#include <stdint.h>

struct agent;
struct wire_message;

/* The image of a process is durable here: offers it to as many hosts as needed for `copies`. */
void agent_replicas_spread(struct agent *agent, int pid, uint32_t copies);
/* That host is lost, which was offered images of the snapshot that is being taken: another one is. */
void agent_replicas_lost(struct agent *agent, uint32_t host);
/* The same for the snapshot from which the term began, as a lost host had copies. */
void agent_replicas_spread_again(struct agent *agent);
/* KEEP: another host offers an image. */
void agent_replicas_take(struct agent *agent, uint32_t host, const struct wire_message *message);
/* The placement is known now: handles earlier offers. */
void agent_replicas_placed(struct agent *agent);
/* The term's links are closed: drops offers. */
void agent_replicas_forget(struct agent *agent);
void agent_replicas_free(struct agent *agent);

#endif
