/* chain_end.c - see chain_end.h. */
#include "bsprun/agent/snapshot/chain_end.h"

#include "ckpt/manifest.h"
#include "ckpt/store.h"

struct chain_end chain_end_of(const struct manifest *manifest)
{
    struct chain_end chain = {0};

    for (uint32_t pid = 0; pid < manifest->images.count; pid++) {
        const struct manifest_image *image = &manifest->images.items[pid];

        chain.length = image->generation > chain.length ? image->generation : chain.length;
        chain.on_first = chain.on_first || (image->generation == 1 && image->base_superstep == 0);
    }
    return chain;
}

struct chain_end chain_end_next(struct chain_end before, uint64_t superstep, bool full)
{
    if (full)
        return (struct chain_end){0};
    return (struct chain_end){.length = before.length + 1, .on_first = superstep == 0};
}

/* Two chains that share no image: as soon as there are two snapshots at barriers, and from then on
 * one begins after so many.  Who wants one snapshot only has no use for a second chain. */
bool chain_end_is_due(struct chain_end chain, uint32_t keep)
{
    return keep != 1 && (chain.on_first || chain.length + 1 >= STORE_CHAIN_MOST);
}
