/* sources.h - the manifests of a snapshot and its bases, read once. */
#ifndef BSPRUN_AGENT_SOURCES_H
#define BSPRUN_AGENT_SOURCES_H

#include "ckpt/store.h"
#include "lib/base/snapshot.h"

struct sources {
    struct store *store;
    bool program_checked; /* the file to be executed */
    struct manifest manifests[BSPZ_IMAGE_CHAIN_MAX];
    uint32_t count;
};
/* NULL, then *error (-errno) and `why` (AGENT_WHY bytes); the manifest belongs to `sources`. */
const struct manifest *agent_manifest_of(struct sources *sources, struct bspz_snapshot_name name,
                                         int *error, char *why);
/* The number of bytes of the job's input that had been read. */
uint64_t agent_input_of(const struct manifest *manifest);
void agent_free_sources(struct sources *sources);

#endif
