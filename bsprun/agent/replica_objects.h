/* replica_objects.h - the dataspace of processes with replicas: who has which, who is lost, and
 * what becomes of replicas that differ or are too far behind.  See differs.h for those of
 * supersteps.
 *
 * Happy path: the dataspace begins: OBJECTS to Processor Zero, which says LOSSES from then on
 * (survive.h).
 *
 * What can fail: objects are lost with all hosts that had copies: all go back to the last snapshot.
 */
#ifndef BSPRUN_AGENT_REPLICA_OBJECTS_H
#define BSPRUN_AGENT_REPLICA_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/wire.h"

struct agent;
struct dataspace_mismatch; /* bsprun/dataspace/service.h */

/* Who has which processes, for dataspace_setup. */
struct objects_homes {
    uint32_t hosts;  /* their number */
    uint32_t *homes; /* of each process */
    uint32_t *leads; /* of each host; NULL: there are no replicas */
};
/* False: no memory.  Either way agent_objects_free is to follow. */
bool agent_objects_homes(const struct agent *agent, struct objects_homes *homes);
void agent_objects_free(struct objects_homes *homes);

/* How many hosts hold each part of the dataspace, before any host is lost. */
uint32_t agent_objects_copies(const struct agent *agent);

/* Whether processes here are known to be saved at their calls, if at all. */
bool agent_objects_at_calls(const struct agent *agent);
/* Tells Processor Zero that the dataspace has begun, and whether they are; no effect without
 * replicas. */
void agent_objects_begun(struct agent *agent);

/* What the service says of replicas on the host that owns a tag, until it can be acted upon. */
#define OBJECTS_TAG 40u /* bytes of a tag that are shown */
struct objects_news {
    bool differ; /* those of a process do, in what they ask for: the first that were noticed */
    bool answered;
    uint32_t pid, hosts[2], tag_size;
    uint64_t number;
    unsigned char tag[OBJECTS_TAG];
    uint32_t behind[WIRE_HOSTS_MAX]; /* by host: a process that is too far behind there, plus 1 */
};
void objects_news_differ(struct objects_news *news, const struct dataspace_mismatch *mismatch);
void objects_news_behind(struct objects_news *news, uint32_t pid, uint32_t host);
/* The clock by which replicas take turns, for the service; the agent, which is not used. */
uint64_t objects_now_ms(void *context);
/* Acts upon news. */
void agent_objects_news(struct agent *agent, const struct objects_news *news);
/* All hosts are lost that had copies of some objects: the term is over. */
void agent_objects_lost(struct agent *agent);

#endif
