/* state.c - verifies the saved memory, and restores it from a chain of images; see image.h.
 *
 * Each image's blocks say which units it holds: those follow one another in its records.  The
 * newest image's blocks say which image of the chain each unit comes from.  So the two tables are
 * walked in step with the records: at the end each expected unit must have been found, with the
 * hash of the image that holds it.
 *
 * The oldest image comes first.  Of uncoded records only those units are read that no newer image
 * has, many by one call; a compressed one is decoded into place as a whole if it lies within one
 * region, and units of newer images overwrite it.
 */
#include "ckpt/format/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RECORD_UNITS (BSPZ_IMAGE_RECORD_MAX / BSPZ_IMAGE_UNIT)
#define READ_OVER    1 /* unwanted units that cost less to read than another call */
#define WHOLE_BLOCK  ((1u << BSPZ_IMAGE_BLOCK_UNITS) - 1)
#define EACH_SOURCE  UINT64_C(0x1111111111111111) /* of the units of a block: generation 1 */

/* Units of a record that are adjacent in memory and treated alike. */
struct extent {
    uint64_t address;
    uint32_t first, count; /* of the record's units */
    bool wanted;           /* else: a newer image has them, or they are not needed */
};

/* The part of an extent that lies within one region, and where it is put. */
struct part {
    uint64_t address;
    unsigned char *to;
    uint32_t first, count;
};

/* A walk through the units that one image holds, and which of them the newest needs. */
struct holding {
    const struct bspz_image *image;
    const struct bspz_image *newest;
    uint64_t block;                   /* of image; end.blocks: there are no more */
    uint32_t left;                    /* mask of the units of that block still to be found */
    uint32_t wanted;                  /* mask of its units that come from this image */
    uint32_t later;                   /* ... that come from this or a newer image */
    uint64_t hash;                    /* of the next unit */
    uint64_t opposite;                /* the first block of newest at or after the present one */
    uint64_t region;                  /* of newest: all before it lie below */
    bspz_image_place_function *place; /* NULL: all units are checked and none stored */
    void *context;

    /* The present record. */
    struct extent extents[RECORD_UNITS];
    uint32_t extent_count;
    bool direct; /* may be read into place as a whole */
    struct part parts[RECORD_UNITS];
    uint32_t part_count;
};

/* ---- The two tables -------------------------------------------------------------------------- */

/* Compares the present block with what newest has at its address. */
static void compare_opposite(struct holding *holding, uint64_t address)
{
    const struct bspz_image *newest = holding->newest;
    uint32_t generation = holding->image->header.generation;
    const struct bspz_image_block *block;
    uint64_t i = holding->opposite;

    while (i < newest->end.blocks && bspz_block_address(&newest->blocks[i]) < address)
        i++;
    holding->opposite = i;
    holding->wanted = holding->later = 0;
    block = &newest->blocks[i];
    if (i == newest->end.blocks || bspz_block_address(block) != address)
        return;
    holding->wanted = bspz_block_held(block, generation);
    for (uint32_t unit = 0; unit < BSPZ_IMAGE_BLOCK_UNITS; unit++)
        if (bspz_block_source(block, unit) >= generation)
            holding->later |= bspz_block_mask(block) & 1u << unit;
}

/* Goes to the next block, from `index` on, of which this image holds units. */
static void enter_block(struct holding *holding, uint64_t index)
{
    const struct bspz_image *image = holding->image;

    holding->left = 0;
    for (; index < image->end.blocks && holding->left == 0; index++)
        holding->left = bspz_block_held(&image->blocks[index], image->header.generation);
    holding->block = holding->left != 0 ? index - 1 : image->end.blocks;
    if (holding->left != 0)
        compare_opposite(holding, bspz_block_address(&image->blocks[holding->block]));
}

/* The units from address on that lie within one region of newest, at most count; 0: none. */
static uint32_t within_region(struct holding *holding, uint64_t address, uint32_t count)
{
    const struct bspz_image *newest = holding->newest;

    for (; holding->region < newest->end.regions; holding->region++) {
        const struct bspz_image_region *region = newest->regions[holding->region];
        uint64_t end = region->address + region->length;
        if (address < region->address)
            return 0;
        if (address < end) {
            uint64_t units = (end - address) / BSPZ_IMAGE_UNIT;
            return units < count ? (uint32_t)units : count;
        }
    }
    return 0;
}

/* The next unit of the image is number `index` of the record. */
static void add_unit(struct holding *holding, uint32_t index)
{
    uint32_t bit = (uint32_t)__builtin_ctz(holding->left);
    uint64_t address = bspz_block_address(&holding->image->blocks[holding->block]) +
                       (uint64_t)bit * BSPZ_IMAGE_UNIT;
    bool wanted = holding->wanted >> bit & 1;
    struct extent *extent = &holding->extents[holding->extent_count];
    bool follows = holding->extent_count > 0 &&
                   extent[-1].address + (uint64_t)extent[-1].count * BSPZ_IMAGE_UNIT == address;

    holding->direct = holding->direct && (holding->later >> bit & 1) && (index == 0 || follows);
    if (follows && extent[-1].wanted == wanted) {
        extent[-1].count++;
    } else {
        *extent = (struct extent){.address = address, .first = index, .count = 1, .wanted = wanted};
        holding->extent_count++;
    }
    holding->left &= holding->left - 1;
    if (holding->left == 0)
        enter_block(holding, holding->block + 1);
}

/* Lists the extents of a record. */
static int list_extents(struct holding *holding, const struct bspz_walk *walk,
                        struct bspz_image_fault *fault)
{
    const struct bspz_image_section *section = &walk->section;
    uint32_t units = section->raw / BSPZ_IMAGE_UNIT;

    holding->extent_count = 0;
    holding->direct = holding->place != NULL;
    for (uint32_t i = 0; i < units; i++) {
        if (holding->left == 0)
            return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                                   "data that are not in the table of blocks");
        add_unit(holding, i);
    }
    if (holding->extents[0].address != section->where)
        return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                               "data at 0x%" PRIx64 " that are not in the table of blocks",
                               section->where);
    return 0;
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* hash: index of that of the record's first unit. */
static int check_units(const struct holding *holding, const struct part *part, uint64_t hash,
                       const struct bspz_walk *walk, struct bspz_image_fault *fault)
{
    const struct bspz_image_hash *expected = holding->image->hashes + hash + part->first;

    for (uint32_t i = 0; i < part->count; i++) {
        struct bspz_image_hash found;
        uint64_t offset = (uint64_t)i * BSPZ_IMAGE_UNIT;
        bspz_hash_unit(part->to + offset, part->address + offset, &found);
        if (memcmp(&found, &expected[i], sizeof(found)) != 0)
            return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                                   "the page at 0x%" PRIx64 " is not what it was",
                                   part->address + offset);
    }
    return 0;
}

/* Room for the units of a record. */
static unsigned char *scratch_of(const struct bspz_walk *walk)
{
    struct bspz_reader_scratch *scratch = walk->image->scratch;

    return scratch->raw;
}

static int no_region(const struct bspz_walk *walk, uint64_t address, struct bspz_image_fault *fault)
{
    return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                           "data at 0x%" PRIx64 " that belong to no region", address);
}

static int no_place(uint64_t address, struct bspz_image_fault *fault)
{
    return bspz_image_fail(fault, -EFAULT, 0, 0, "no place for the data at 0x%" PRIx64, address);
}

/* Lists the places of the units of an extent, which may span several regions. */
static int add_parts(struct holding *holding, const struct extent *extent,
                     const struct bspz_walk *walk, struct bspz_image_fault *fault)
{
    struct part part = {.first = extent->first, .address = extent->address};
    uint32_t end = extent->first + extent->count;

    for (; part.first < end; part.first += part.count) {
        part.count = within_region(holding, part.address, end - part.first);
        size_t length = (size_t)part.count * BSPZ_IMAGE_UNIT;
        if (part.count == 0)
            return no_region(walk, part.address, fault);
        part.to = holding->place ? holding->place(holding->context, part.address, length)
                                 : scratch_of(walk) + (size_t)part.first * BSPZ_IMAGE_UNIT;
        if (!part.to)
            return no_place(part.address, fault);
        holding->parts[holding->part_count++] = part;
        part.address += length;
    }
    return 0;
}

/* Lists the places of the wanted units of a record; *whole: the place of the entire record, if it
 * has one. */
static int list_parts(struct holding *holding, const struct bspz_walk *walk, unsigned char **whole,
                      struct bspz_image_fault *fault)
{
    const struct bspz_image_section *section = &walk->section;
    uint32_t units = section->raw / BSPZ_IMAGE_UNIT;
    int status = 0;

    *whole = NULL;
    holding->part_count = 0;
    if (holding->direct && within_region(holding, section->where, units) == units) {
        *whole = holding->place(holding->context, section->where, section->raw);
        if (!*whole)
            return no_place(section->where, fault);
    }
    for (uint32_t i = 0; i < holding->extent_count && status == 0; i++) {
        const struct extent *extent = &holding->extents[i];
        if (!extent->wanted)
            continue;
        if (*whole)
            holding->parts[holding->part_count++] =
                (struct part){.address = extent->address,
                              .to = *whole + (size_t)extent->first * BSPZ_IMAGE_UNIT,
                              .first = extent->first,
                              .count = extent->count};
        else
            status = add_parts(holding, extent, walk, fault);
    }
    return status;
}

/* Reads the parts of an uncoded record into place, several at once. */
static int read_parts(struct holding *holding, const struct bspz_walk *walk,
                      struct bspz_image_fault *fault)
{
    const struct part *part = holding->parts, *end = part + holding->part_count;
    struct iovec places[2 * RECORD_UNITS];

    while (part < end) {
        uint32_t first = part->first, next = first, count = 0;
        do {
            if (part->first > next)
                places[count++] = (struct iovec){scratch_of(walk),
                                                 (part->first - next) * (size_t)BSPZ_IMAGE_UNIT};
            places[count++] = (struct iovec){part->to, part->count * (size_t)BSPZ_IMAGE_UNIT};
            next = part->first + part->count;
            part++;
        } while (part < end && part->first - next <= READ_OVER);
        int status =
            bspz_record_scatter(walk, (uint64_t)first * BSPZ_IMAGE_UNIT, places, count, fault);
        if (status < 0)
            return status;
    }
    return 0;
}

/* Brings the wanted units of the record into place. */
static int fetch_parts(struct holding *holding, const struct bspz_walk *walk, unsigned char *whole,
                       struct bspz_image_fault *fault)
{
    unsigned char *raw = whole ? whole : scratch_of(walk);

    if (holding->place && walk->section.coding == BSPZ_IMAGE_RAW)
        return read_parts(holding, walk, fault);
    int status = bspz_record_decode(walk, raw, fault);
    for (uint32_t i = 0; i < holding->part_count && status == 0 && raw != whole; i++) {
        const struct part *part = &holding->parts[i];
        if (holding->place)
            memcpy(part->to, raw + (size_t)part->first * BSPZ_IMAGE_UNIT,
                   (size_t)part->count * BSPZ_IMAGE_UNIT);
    }
    return status;
}

static int take_record(struct holding *holding, const struct bspz_walk *walk,
                       struct bspz_image_fault *fault)
{
    uint64_t hash = holding->hash;
    unsigned char *whole;
    bool any = false;

    int status = list_extents(holding, walk, fault);
    if (status < 0)
        return status;
    holding->hash += walk->section.raw / BSPZ_IMAGE_UNIT;
    for (uint32_t i = 0; i < holding->extent_count; i++)
        any = any || holding->extents[i].wanted;
    if (!any)
        return 0;
    status = list_parts(holding, walk, &whole, fault);
    if (status == 0)
        status = fetch_parts(holding, walk, whole, fault);
    for (uint32_t i = 0; i < holding->part_count && status == 0; i++)
        status = check_units(holding, &holding->parts[i], hash, walk, fault);
    return status;
}

int bspz_state_take(const struct bspz_image *newest, const struct bspz_image *image,
                    bspz_image_place_function *place, void *context, struct bspz_image_fault *fault)
{
    struct holding holding = {.image = image, .newest = newest, .place = place, .context = context};
    struct bspz_walk walk;
    int status;

    enter_block(&holding, 0);
    bspz_walk_start(&walk, image);
    while ((status = bspz_walk_next(&walk, fault)) > 0) {
        if (walk.section.kind != BSPZ_IMAGE_DATA)
            continue;
        if ((status = take_record(&holding, &walk, fault)) < 0)
            return status;
    }
    if (status == 0 && holding.left != 0)
        return bspz_image_fail(fault, -EBADMSG, walk.offset, walk.next,
                               "the data at 0x%" PRIx64 " are missing",
                               bspz_block_address(&image->blocks[holding.block]) +
                                   (uint64_t)__builtin_ctz(holding.left) * BSPZ_IMAGE_UNIT);
    return status;
}

/* ---- Chains ---------------------------------------------------------------------------------- */

/* "process 3 at superstep 20, term 1" */
static void name_text(const struct bspz_image_name *name, char text[96])
{
    snprintf(text, 96, "process %" PRIu32 " at superstep %" PRIu64 ", term %" PRIu32, name->pid,
             name->superstep, name->term);
}

int bspz_state_check_chain(struct bspz_image *const *chain, uint32_t count, uint32_t *index,
                           struct bspz_image_fault *fault)
{
    char text[96];

    for (uint32_t i = 0; i < count; i++) {
        const struct bspz_image_header *header = &chain[i]->header;
        *index = i;
        if (i > 0 && memcmp(header->job, chain[0]->header.job, sizeof(header->job)) != 0)
            return bspz_image_fail(fault, -ESTALE, 0, 0, "a base of another job");
        if (header->version != chain[0]->header.version)
            return bspz_image_fail(fault, -ESTALE, 0, 0,
                                   "a base of version %" PRIu32 " for an image of version %" PRIu32,
                                   header->version, chain[0]->header.version);
        if (header->generation == 0)
            return i + 1 == count ? 0
                                  : bspz_image_fail(fault, -ESTALE, 0, 0,
                                                    "a full image with something beneath it");
        name_text(&header->base, text);
        if (i + 1 == count)
            return bspz_image_fail(fault, -ESTALE, 0, 0, "its base, the image of %s, is missing",
                                   text);
        const struct bspz_image *base = chain[i + 1];
        if (memcmp(&header->base, &base->name, sizeof(base->name)) != 0 ||
            base->header.generation + 1 != header->generation) {
            *index = i + 1;
            return bspz_image_fail(fault, -ESTALE, 0, 0,
                                   "not the base that is needed, the image of %s", text);
        }
    }
    *index = 0;
    return bspz_image_fail(fault, -ESTALE, 0, 0, "no image");
}

/* ---- Hashes ---------------------------------------------------------------------------------- */

/* The position among the hashes of one image of a chain during the walk through the newest one's
 * blocks. */
struct hash_place {
    uint64_t block, hash;
};

/* Goes to the block at the address; returns the mask of the units that the image holds of it, whose
 * hashes begin at place->hash. */
static uint32_t go_to_block(struct hash_place *place, const struct bspz_image *image,
                            uint64_t address)
{
    for (; place->block < image->end.blocks; place->block++) {
        const struct bspz_image_block *block = &image->blocks[place->block];
        uint32_t held;

        if (bspz_block_address(block) > address)
            return 0;
        held = bspz_block_held(block, image->header.generation);
        if (bspz_block_address(block) == address)
            return held;
        place->hash += bspz_units_in(held);
    }
    return 0;
}

/* The hash of the unit in the image; NULL: the image does not hold it. */
static const struct bspz_image_hash *
find_hash(struct hash_place *place, const struct bspz_image *image, uint64_t address, uint32_t unit)
{
    uint32_t held = go_to_block(place, image, address);

    return held >> unit & 1
               ? image->hashes + place->hash + bspz_units_in(held & ((1u << unit) - 1))
               : NULL;
}

/* The hashes of a block all of whose units are in one image of the chain; NULL: they are not. */
static const struct bspz_image_hash *find_whole(struct hash_place *places,
                                                struct bspz_image *const *chain, uint32_t count,
                                                const struct bspz_image_block *block)
{
    uint32_t source = bspz_block_source(block, 0), at = count - 1 - source;

    if (bspz_block_mask(block) != WHOLE_BLOCK || block->sources != source * EACH_SOURCE ||
        source >= count ||
        go_to_block(&places[at], chain[at], bspz_block_address(block)) != WHOLE_BLOCK)
        return NULL;
    return chain[at]->hashes + places[at].hash;
}

int bspz_state_gather_hashes(struct bspz_image *const *chain, uint32_t count,
                             struct bspz_image_hash *hashes, uint32_t *index,
                             struct bspz_image_fault *fault)
{
    struct hash_place places[BSPZ_IMAGE_CHAIN_MAX] = {{0}};
    const struct bspz_image *image = chain[0];
    struct bspz_image_hash found[BSPZ_IMAGE_BLOCK_UNITS], all;
    struct bspz_digest digest;

    bspz_digest_start(&digest, 0);
    for (uint64_t i = 0; i < image->end.blocks; i++) {
        const struct bspz_image_block *block = &image->blocks[i];
        const struct bspz_image_hash *of_block = find_whole(places, chain, count, block);
        uint64_t address = bspz_block_address(block);
        uint32_t units = of_block ? BSPZ_IMAGE_BLOCK_UNITS : 0;
        for (uint32_t left = of_block ? 0 : bspz_block_mask(block); left != 0; left &= left - 1) {
            uint32_t unit = (uint32_t)__builtin_ctz(left);
            uint32_t at = count - 1 - bspz_block_source(block, unit);
            const struct bspz_image_hash *hash = find_hash(&places[at], chain[at], address, unit);
            *index = at;
            if (!hash)
                return bspz_image_fail(fault, -EBADMSG, 0, 0,
                                       "the data at 0x%" PRIx64 " are missing",
                                       address + (uint64_t)unit * BSPZ_IMAGE_UNIT);
            found[units++] = *hash;
        }
        if (!of_block)
            of_block = found;
        bspz_digest_add(&digest, of_block, units * sizeof(found[0]));
        if (hashes)
            memcpy(hashes, of_block, units * sizeof(found[0]));
        hashes = hashes ? hashes + units : NULL;
    }
    *index = 0;
    bspz_digest_get(&digest, all.word);
    if (memcmp(&all, &image->hashes[image->end.hashes - 1], sizeof(all)) != 0)
        return bspz_image_fail(fault, -EBADMSG, 0, image->source.size,
                               "the pages of all images together are not what was saved");
    return 0;
}

/* ---- All of it ------------------------------------------------------------------------------- */

int bspz_image_verify(const struct bspz_image *image, struct bspz_image_fault *fault)
{
    struct bspz_image *const alone[] = {(struct bspz_image *)image};
    uint32_t index;

    if (image->blocks_1)
        return bspz_state_1_take(image, image, true, NULL, NULL, fault);
    int status = bspz_state_take(image, image, NULL, NULL, fault);
    return status == 0 && image->header.generation == 0
               ? bspz_state_gather_hashes(alone, 1, NULL, &index, fault)
               : status;
}

int bspz_image_decode(struct bspz_image *const *chain, uint32_t count,
                      bspz_image_place_function *place, void *context, uint32_t *fault_index,
                      struct bspz_image_fault *fault)
{
    uint32_t index = 0;

    int status = bspz_state_check_chain(chain, count, &index, fault);
    if (status == 0 && !chain[0]->blocks_1)
        status = bspz_state_gather_hashes(chain, count, NULL, &index, fault);
    for (uint32_t i = count; i-- > 0 && status == 0;) {
        index = i;
        status = chain[0]->blocks_1
                     ? bspz_state_1_take(chain[0], chain[i], false, place, context, fault)
                     : bspz_state_take(chain[0], chain[i], place, context, fault);
    }
    if (status < 0 && fault_index)
        *fault_index = index;
    return status;
}

int bspz_image_table_from(struct bspz_image_table *table, struct bspz_image *const *chain,
                          uint32_t count, struct bspz_image_fault *fault)
{
    const struct bspz_image *image = count > 0 ? chain[0] : NULL;
    uint32_t index;

    table->usable = 0;
    table->count = 0;
    int status = bspz_state_check_chain(chain, count, &index, fault);
    if (status < 0)
        return status;
    if (image->blocks_1)
        return bspz_image_fail(fault, -EPROTO, 0, 0,
                               "an image of version 1 has no hashes of pages");
    if (image->end.blocks > table->capacity)
        return 0;
    status = bspz_state_gather_hashes(chain, count, bspz_image_table_hashes(table), &index, fault);
    if (status < 0)
        return status;
    memcpy(table->blocks, image->blocks, image->end.blocks * sizeof(table->blocks[0]));
    table->count = image->end.blocks;
    table->image = image->name;
    table->generation = image->header.generation;
    table->usable = 1;
    return 0;
}
