/* chain_end.c - see chain_end.h. */
#include "bsprun/agent/snapshot/chain_end.h"

#include "ckpt/format/layout.h"
#include "ckpt/manifest.h"
#include "ckpt/store.h"

struct chain_end chain_end_of(const struct manifest *manifest, uint64_t first)
{
    struct chain_end chain = {0};

    for (uint32_t pid = 0; pid < manifest->images.count; pid++) {
        const struct bspz_image_facts *facts = &manifest->images.items[pid].facts;

        chain.length = facts->generation > chain.length ? facts->generation : chain.length;
    }
    chain.on_first = chain.length > 0 && first == 0;
    return chain;
}

struct chain_end chain_end_next(struct chain_end before, uint64_t superstep, bool full)
{
    if (full)
        return (struct chain_end){0};
    return (struct chain_end){.length = before.length + 1,
                              .on_first = before.on_first || superstep == 0};
}

/* There shall be two chains that share no image, as soon as there are two snapshots at barriers;
 * later chains begin after a fixed number of images.  With keep 1 there is no second chain, and an
 * image may have as many bases as its format permits; then all are full together: one process that
 * began anew later than others would make every snapshot a base of the next one, for ever. */
bool chain_end_is_due(struct chain_end chain, uint32_t keep, bool last)
{
    if (keep == 1)
        return chain.length + 1 >= BSPZ_IMAGE_CHAIN_MAX;
    return last ? chain.length >= STORE_CHAIN_MOST
                : chain.on_first || chain.length + 1 >= STORE_CHAIN_MOST;
}
