/* advance.c - memory that holds the state of an older image of a chain becomes that of the newest
 * one; see image.h.
 *
 * The blocks of both images list the units that each state has; the newest one's say which image
 * each unit comes from.  So the two tables are walked in step: units that come from the older image
 * or its bases are kept, those that the newest does not have are dropped.  The others are taken
 * from the images between. */
#include "ckpt/format/state.h"

#include <errno.h>
#include <string.h>

typedef int report_function(void *context, uint64_t address, size_t length);

/* Reports each run of units of the mask. */
static int report(report_function *function, void *context, uint64_t address, uint32_t mask)
{
    int status = 0;

    while (mask != 0 && status == 0) {
        uint32_t first = (uint32_t)__builtin_ctz(mask);
        uint32_t count = (uint32_t)__builtin_ctz(~(mask >> first));

        status = function(context, address + (uint64_t)first * BSPZ_IMAGE_UNIT,
                          (size_t)count * BSPZ_IMAGE_UNIT);
        mask &= ~(((1u << count) - 1) << first);
    }
    return status;
}

/* The units of the block that come from that generation or an older one. */
static uint32_t kept_units(const struct bspz_image_block *block, uint32_t generation)
{
    uint32_t kept = 0;

    for (uint32_t left = bspz_block_mask(block); left != 0; left &= left - 1) {
        uint32_t unit = (uint32_t)__builtin_ctz(left);

        if (bspz_block_source(block, unit) <= generation)
            kept |= 1u << unit;
    }
    return kept;
}

static int compare(const struct bspz_image *newest, const struct bspz_image *older,
                   const struct bspz_image_changes *changes)
{
    const struct bspz_image_block *now = newest->blocks, *then = older->blocks;
    const struct bspz_image_block *now_end = now + newest->end.blocks;
    const struct bspz_image_block *then_end = then + older->end.blocks;
    int status = 0;

    while (status == 0 && (now < now_end || then < then_end)) {
        uint64_t at = now < now_end ? bspz_block_address(now) : UINT64_MAX;
        uint64_t was_at = then < then_end ? bspz_block_address(then) : UINT64_MAX;
        uint64_t address = at < was_at ? at : was_at;
        uint32_t has = at == address ? bspz_block_mask(now) : 0;
        uint32_t had = was_at == address ? bspz_block_mask(then) : 0;

        status = report(changes->drop, changes->context, address, had & ~has);
        if (status == 0 && has != 0)
            status = report(changes->keep, changes->context, address,
                            kept_units(now, older->header.generation));
        now += at == address;
        then += was_at == address;
    }
    return status;
}

int bspz_image_advance(struct bspz_image *const *chain, uint32_t count, uint32_t base,
                       const struct bspz_image_changes *changes, uint32_t *fault_index,
                       struct bspz_image_fault *fault)
{
    uint32_t index = 0;
    int status;

    if (base == 0 || base >= count)
        return bspz_image_fail(fault, -EINVAL, 0, 0, "no newer image");
    status = bspz_state_check_chain(chain, count, &index, fault);
    if (status == 0 && chain[0]->blocks_1)
        status = bspz_image_fail(fault, -EPROTO, 0, 0, "images of version 1");
    if (status == 0)
        status = bspz_state_gather_hashes(chain, count, NULL, &index, fault);
    if (status == 0 && (status = compare(chain[0], chain[base], changes)) != 0)
        bspz_image_fail(fault, status, 0, 0, "the memory cannot be changed: %s", strerror(-status));
    for (uint32_t i = base; i-- > 0 && status == 0;) {
        index = i;
        status = bspz_state_take(chain[0], chain[i], changes->place, changes->context, fault);
    }
    if (status < 0 && fault_index)
        *fault_index = index;
    return status;
}
