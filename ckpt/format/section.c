/* section.c - seals of sections, rules for table entries; see section.h. */
#include "ckpt/format/section.h"

#include "ckpt/format/codec.h"
#include "ckpt/format/image.h"

#define ADDRESS_LIMIT (UINT64_C(1) << 57) /* above the user addresses of all known machines */
#define PROTECTIONS   7u

uint64_t bspz_section_seed(const struct bspz_image_section *section, uint64_t salt)
{
    struct bspz_image_section copy = *section;

    copy.check = 0;
    copy.hash = 0;
    return bspz_hash64(&copy, sizeof(copy), salt);
}

uint32_t bspz_section_check(const struct bspz_image_section *section, uint64_t salt)
{
    struct bspz_image_section copy = *section;

    copy.check = 0;
    return (uint32_t)bspz_hash64(&copy, sizeof(copy), ~salt);
}

uint32_t bspz_block_held(const struct bspz_image_block *block, uint32_t generation)
{
    uint64_t wanted = generation * UINT64_C(0x1111111111111111);
    uint32_t mask = bspz_block_mask(block), held = 0;

    if (block->sources == wanted)
        return mask;
    for (uint32_t unit = 0; unit < BSPZ_IMAGE_BLOCK_UNITS; unit++)
        held |= (uint32_t)(bspz_block_source(block, unit) == generation) << unit;
    return held & mask;
}

bool bspz_page_size_possible(uint32_t page_size)
{
    return page_size >= BSPZ_IMAGE_UNIT && page_size <= BSPZ_IMAGE_BLOCK &&
           (page_size & (page_size - 1)) == 0;
}

const char *bspz_region_complaint(const struct bspz_image_region *region, uint32_t page_size)
{
    if (region->address % page_size != 0 || region->length % page_size != 0)
        return "a region is not made of whole pages";
    if (region->length == 0)
        return "an empty region";
    if (region->address >= ADDRESS_LIMIT || region->length > ADDRESS_LIMIT - region->address)
        return "a region lies outside of the address space";
    if (region->kind == 0 || region->kind >= BSPZ_REGION_KIND_COUNT)
        return "a region of unknown kind";
    if (region->protection > PROTECTIONS || region->flags & ~BSPZ_REGION_FLAGS)
        return "a region with unknown flags";
    if (region->build_id_size > BSPZ_IMAGE_BUILD_ID_MAX || region->reserved != 0)
        return "a region with wrong sizes";
    return NULL;
}

const char *bspz_descriptor_complaint(const struct bspz_image_descriptor *descriptor)
{
    if (descriptor->number > INT32_MAX)
        return "an invalid descriptor number";
    if (descriptor->kind == 0 || descriptor->kind >= BSPZ_DESCRIPTOR_KIND_COUNT)
        return "a descriptor of unknown kind";
    if (descriptor->same_as > descriptor->number)
        return "a descriptor that shares with a later one";
    return NULL;
}
