/* saved.h - where the job's snapshots are on this host, and which are the newest. */
#ifndef BSPRUN_AGENT_SAVED_H
#define BSPRUN_AGENT_SAVED_H

#include "lib/base/snapshot.h"

struct agent;
struct store; /* ckpt/store.h */

/* NULL: none. */
struct store *agent_store(const struct agent *agent);
void agent_set_store(struct agent *agent, struct store *store);

/* The newest one known to be committed in this term, initially that it began from. */
struct bspz_snapshot_name agent_committed(const struct agent *agent);
void agent_set_committed(struct agent *agent, struct bspz_snapshot_name name);
/* The one being taken, or the last one. */
struct bspz_snapshot_name agent_coming(const struct agent *agent);
void agent_set_coming(struct agent *agent, struct bspz_snapshot_name name);

#endif
