/* sources.h - the manifests of a snapshot and of those it builds on, read once. */
#ifndef BSPRUN_AGENT_SOURCES_H
#define BSPRUN_AGENT_SOURCES_H

#include "ckpt/store.h"
#include "coordinator/core/lineage.h"

struct sources {
    struct store *store;
    bool program_checked; /* what is about to be executed */
    struct manifest manifests[BSPZ_IMAGE_CHAIN_MAX];
    uint32_t count;
};
/* NULL, then *error (-errno) and `why` (AGENT_WHY bytes); the manifest belongs to `sources`. */
const struct manifest *agent_manifest_of(struct sources *sources, struct coord_name name, int *error,
                                         char *why);
void agent_free_sources(struct sources *sources);

#endif
