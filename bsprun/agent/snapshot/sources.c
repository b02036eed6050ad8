/* sources.c - see sources.h. */
#include "bsprun/agent/snapshot/sources.h"

#include <errno.h>
#include <stdio.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/snapshot/inside.h"

const struct manifest *agent_manifest_of(struct sources *sources, struct bspz_snapshot_name name,
                                         int *error, char *why)
{
    struct manifest *manifest = &sources->manifests[sources->count];

    *error = 0;
    for (uint32_t i = 0; i < sources->count; i++)
        if (bspz_snapshot_same(sources->manifests[i].name, name))
            return &sources->manifests[i];
    if (sources->count == BSPZ_IMAGE_CHAIN_MAX) {
        snprintf(why, AGENT_WHY, "too long a chain of snapshots");
        *error = -ELOOP;
        return NULL;
    }
    *error = store_manifest(sources->store, name, manifest, why);
    if (*error)
        return NULL;
    sources->count++;
    return manifest;
}

uint64_t agent_input_of(const struct manifest *manifest)
{
    for (uint32_t i = 0; i < manifest->streams.count; i++)
        if (manifest->streams.items[i].number == 0)
            return manifest->streams.items[i].position;
    return 0;
}

void agent_free_sources(struct sources *sources)
{
    while (sources->count > 0)
        manifest_free(&sources->manifests[--sources->count]);
}
