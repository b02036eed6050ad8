/* fetch.h - files that agents of a job get from each other: images, manifests, programs.
 *
 * FETCH asks, PIECEs answer, in order.  What was asked for before it is there is answered when it is
 * (images of a snapshot that is being taken).
 */
#ifndef BSPRUN_FETCH_H
#define BSPRUN_FETCH_H

#include "bsprun/agent.h"

/* FETCH, PIECE or KEEP from another host. */
void agent_fetch_message(struct agent *agent, uint32_t host, const struct wire_message *message);
/* Nothing more comes from that host. */
void agent_fetch_lost(struct agent *agent, uint32_t host);
/* The term's links are closed. */
void agent_fetch_forget(struct agent *agent);

#endif
