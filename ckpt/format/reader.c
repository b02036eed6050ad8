/* reader.c - opens an image and reads everything but the data; see image.h. */
#include "ckpt/format/reader.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OPAQUES_MAX BSPZ_IMAGE_OPAQUE_COUNT_MAX
#define PACKED_MOST 256u /* the highest ratio of lz4 */
#define END_SIZE    (sizeof(struct bspz_image_section) + sizeof(struct bspz_image_end))

/* How an opaque section lies in memory; its bytes follow, up to a multiple of 8. */
struct opaque {
    uint32_t tag;
    uint32_t version;
    uint64_t size;
};

static bool all_zero(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++)
        if (at[i] != 0)
            return false;
    return true;
}

/* ---- Header and end -------------------------------------------------------------------------- */

static const char *header_complaint(const struct bspz_image_header *header)
{
    if (!bspz_page_size_possible(header->page_size))
        return "an invalid page size";
    if (header->build_id_size > BSPZ_IMAGE_BUILD_ID_MAX)
        return "a build id that is too long";
    if (!all_zero(header->reserved, sizeof(header->reserved)))
        return "reserved bytes that are not zero";
    if (header->generation >= BSPZ_IMAGE_CHAIN_MAX)
        return "a chain that is too long";
    if (header->generation == 0 && !all_zero(&header->base, sizeof(header->base)))
        return "a full image with a base";
    return NULL;
}

static int read_header(struct bspz_image *image, struct bspz_image_fault *fault)
{
    struct bspz_image_header *header = &image->header;
    uint64_t size = image->source.size;

    if (size < sizeof(*header) + END_SIZE)
        return bspz_image_fail(fault, -EBADMSG, 0, size, "too short to be an image");
    int status = image->source.read(image->source.context, 0, header, sizeof(*header));
    if (status < 0)
        return bspz_image_fail(fault, status, 0, sizeof(*header), "cannot be read: %s",
                               strerror(-status));
    if (memcmp(header->magic, BSPZ_IMAGE_MAGIC, sizeof(header->magic)) != 0)
        return bspz_image_fail(fault, -EBADMSG, 0, sizeof(header->magic), "not an image");
    if (header->version < BSPZ_IMAGE_VERSION_BLOCKS || header->version > BSPZ_IMAGE_VERSION)
        return bspz_image_fail(fault, -EPROTO, offsetof(struct bspz_image_header, version),
                               offsetof(struct bspz_image_header, size),
                               "an image of version %" PRIu32 "; this program reads versions %u "
                               "to %u",
                               header->version, BSPZ_IMAGE_VERSION_BLOCKS, BSPZ_IMAGE_VERSION);
    if (header->size != sizeof(*header) ||
        header->hash != bspz_hash64(header, offsetof(struct bspz_image_header, hash), 0))
        return bspz_image_fail(fault, -EBADMSG, 0, sizeof(*header), "damaged header");
    const char *complaint = header_complaint(header);
    if (complaint)
        return bspz_image_fail(fault, -EBADMSG, 0, sizeof(*header), "wrong header: %s", complaint);
    return 0;
}

static const char *end_complaint(const struct bspz_image *image)
{
    const struct bspz_image_end *end = &image->end;
    uint64_t size = image->source.size;

    if (end->length != size)
        return "another length";
    if (end->regions > BSPZ_IMAGE_REGIONS_MAX || end->descriptors > BSPZ_IMAGE_DESCRIPTORS_MAX ||
        end->tables > size)
        return "impossible numbers";
    if (image->header.version == BSPZ_IMAGE_VERSION_BLOCKS
            ? end->blocks > size / sizeof(struct bspz_image_block_1) || end->hashes != 0
            : end->blocks > size * PACKED_MOST / sizeof(struct bspz_image_block) ||
                  end->hashes > size / sizeof(struct bspz_image_hash))
        return "impossible numbers";
    return NULL;
}

static int read_end(struct bspz_image *image, struct bspz_image_fault *fault)
{
    struct {
        struct bspz_image_section section;
        struct bspz_image_end end;
    } last;
    uint64_t size = image->source.size, start = size - END_SIZE;

    int status = image->source.read(image->source.context, start, &last, sizeof(last));
    if (status < 0)
        return bspz_image_fail(fault, status, start, size, "cannot be read: %s", strerror(-status));
    const struct bspz_image_section *section = &last.section;
    uint64_t salt = image->header.hash;
    image->end = last.end;
    if (section->magic != BSPZ_IMAGE_SECTION_MAGIC || section->kind != BSPZ_IMAGE_END ||
        section->stored != sizeof(last.end) ||
        section->check != bspz_section_check(section, salt) ||
        section->hash != bspz_hash64(&last.end, sizeof(last.end), bspz_section_seed(section, salt)))
        return bspz_image_fail(fault, -EBADMSG, start, size, "the end is damaged or missing");
    const char *complaint = end_complaint(image);
    if (complaint)
        return bspz_image_fail(fault, -EBADMSG, start, size, "wrong end: %s", complaint);
    return 0;
}

/* The end is damaged.  Reports damage before it if there is any. */
static void find_first_damage(struct bspz_image *image, struct bspz_image_fault *fault)
{
    struct bspz_reader_scratch *scratch = image->scratch;
    struct bspz_image_fault earlier;
    struct bspz_walk walk;

    bspz_walk_start(&walk, image);
    for (int status = 1; status > 0;) {
        status = bspz_walk_next(&walk, &earlier);
        if (status > 0 && bspz_walk_bytes(&walk, scratch->stored, &earlier) < 0)
            status = -EBADMSG;
        if (status < 0 && fault && earlier.first < fault->first)
            *fault = earlier;
    }
}

int bspz_image_open(struct bspz_image *image, const struct bspz_image_source *source, void *scratch,
                    struct bspz_image_fault *fault)
{
    memset(image, 0, sizeof(*image));
    image->source = *source;
    image->scratch = scratch;
    int status = read_header(image, fault);
    if (status < 0)
        return status;
    status = read_end(image, fault);
    if (status == -EBADMSG)
        find_first_damage(image, fault);
    if (status < 0)
        return status;
    image->name.superstep = image->header.superstep;
    image->name.term = image->header.term;
    image->name.pid = image->header.pid;
    memcpy(image->name.digest, image->end.digest, sizeof(image->name.digest));
    return 0;
}

int bspz_image_expect(const struct bspz_image *image, const struct bspz_image_expected *expected,
                      struct bspz_image_fault *fault)
{
    const struct bspz_image_header *header = &image->header;
    const struct bspz_image_name *name = expected->name;
    const char *wrong = NULL;

    if (expected->job && memcmp(expected->job, header->job, sizeof(header->job)) != 0)
        wrong = "it belongs to another job";
    else if (name && name->pid != header->pid)
        wrong = "it is the image of another process";
    else if (name && name->superstep != header->superstep)
        wrong = "it is of another superstep";
    else if (name && name->term != header->term)
        wrong = "it is of another term";
    else if (expected->nprocs && expected->nprocs != header->nprocs)
        wrong = "it belongs to a job with another number of processes";
    else if (expected->arch && expected->arch != header->arch)
        wrong = "it was made on another kind of processor";
    else if (expected->page_size && expected->page_size != header->page_size)
        wrong = "it was made with another page size";
    else if (expected->build_id_size &&
             (expected->build_id_size != header->build_id_size ||
              expected->build_id_size > sizeof(header->build_id) ||
              memcmp(expected->build_id, header->build_id, expected->build_id_size) != 0))
        wrong = "it was made by another program, or another build of it";
    else if (name && memcmp(name->digest, image->name.digest, sizeof(name->digest)) != 0)
        wrong = "its digest is not the recorded one";
    return wrong ? bspz_image_fail(fault, -ESTALE, 0, 0, "%s", wrong) : 0;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Tables being filled, in the memory of bspz_image_memory. */
struct tables {
    struct bspz_image *image;
    struct bspz_image_block *blocks;
    struct bspz_image_block_1 *blocks_1; /* of version 1, else NULL */
    struct bspz_image_hash *hashes;
    unsigned char *bytes;
    uint64_t used;  /* of end.tables */
    size_t opaques; /* sections */
    size_t opaque_used;
    uint64_t regions, descriptors, block_count, hash_count;
    uint64_t held; /* units in this image according to the blocks */
    uint64_t last_tag;
};

static size_t opaque_room(const struct bspz_image *image)
{
    return OPAQUES_MAX * (sizeof(struct opaque) + 8) + image->end.tables;
}

size_t bspz_image_memory(const struct bspz_image *image)
{
    const struct bspz_image_end *end = &image->end;

    bool first_version = image->header.version == BSPZ_IMAGE_VERSION_BLOCKS;

    return end->blocks * (sizeof(struct bspz_image_block) +
                          (first_version ? sizeof(struct bspz_image_block_1) : 0)) +
           end->hashes * sizeof(struct bspz_image_hash) +
           (end->regions + end->descriptors) * sizeof(void *) + opaque_room(image) + end->tables +
           64;
}

/* An entry at bytes: its size with the path, or 0 when it is incomplete. */
static size_t entry_extent(const unsigned char *bytes, size_t left, size_t entry_size,
                           uint32_t path_size)
{
    if (path_size > BSPZ_IMAGE_PATH_MAX || left < bspz_entry_size(entry_size, path_size))
        return 0;
    size_t whole = bspz_entry_size(entry_size, path_size);
    if (memchr(bytes + entry_size, '\0', path_size) ||
        !all_zero(bytes + entry_size + path_size, whole - entry_size - path_size))
        return 0;
    return whole;
}

static const char *take_regions(struct tables *tables, const unsigned char *bytes, size_t size)
{
    struct bspz_image *image = tables->image;
    uint64_t *count = &tables->regions;

    while (size > 0) {
        const struct bspz_image_region *region = (const void *)bytes;
        size_t whole = size < sizeof(*region)
                           ? 0
                           : entry_extent(bytes, size, sizeof(*region), region->path_size);
        if (whole == 0 || *count >= image->end.regions)
            return "a table of regions that does not end where it should";
        const char *complaint = bspz_region_complaint(region, image->header.page_size);
        if (complaint)
            return complaint;
        if (*count > 0) {
            const struct bspz_image_region *before = image->regions[*count - 1];
            if (region->address < before->address + before->length)
                return "regions that overlap or are out of order";
        }
        image->regions[(*count)++] = region;
        bytes += whole;
        size -= whole;
    }
    return NULL;
}

static const char *take_descriptors(struct tables *tables, const unsigned char *bytes, size_t size)
{
    struct bspz_image *image = tables->image;
    uint64_t *count = &tables->descriptors;

    while (size > 0) {
        const struct bspz_image_descriptor *descriptor = (const void *)bytes;
        size_t whole = size < sizeof(*descriptor)
                           ? 0
                           : entry_extent(bytes, size, sizeof(*descriptor), descriptor->path_size);
        if (whole == 0 || *count >= image->end.descriptors)
            return "a table of descriptors that does not end where it should";
        const char *complaint = bspz_descriptor_complaint(descriptor);
        if (complaint)
            return complaint;
        if (*count > 0 && descriptor->number <= image->descriptors[*count - 1]->number)
            return "descriptors out of order";
        image->descriptors[(*count)++] = descriptor;
        bytes += whole;
        size -= whole;
    }
    return NULL;
}

/* What is wrong with the block that comes next, or NULL. */
static const char *block_complaint(const struct tables *tables,
                                   const struct bspz_image_block *block)
{
    const struct bspz_image *image = tables->image;
    uint32_t bits = image->header.page_size / BSPZ_IMAGE_UNIT, mask = bspz_block_mask(block);
    uint32_t page_mask = (1u << bits) - 1; /* the units of a page are saved together */

    if (mask == 0)
        return "an impossible block";
    for (uint32_t bit = 0; bit < BSPZ_IMAGE_BLOCK_UNITS; bit++) {
        uint32_t source = bspz_block_source(block, bit);
        if (source > image->header.generation || (source > 0 && (mask >> bit & 1) == 0))
            return "an impossible block";
    }
    for (uint32_t bit = 0; bit < BSPZ_IMAGE_BLOCK_UNITS; bit += bits)
        if ((mask >> bit & page_mask) != 0 && (mask >> bit & page_mask) != page_mask)
            return "a block with part of a page";
    if (tables->block_count > 0 &&
        block->where / BSPZ_IMAGE_BLOCK <= block[-1].where / BSPZ_IMAGE_BLOCK)
        return "blocks out of order";
    return NULL;
}

static const char *add_block(struct tables *tables, const struct bspz_image_block *block)
{
    const char *complaint = block_complaint(tables, block);

    tables->block_count++;
    tables->held += bspz_units_in(bspz_block_held(block, tables->image->header.generation));
    return complaint;
}

static const char *take_blocks(struct tables *tables, size_t size)
{
    const char *complaint = NULL;

    for (size_t i = 0; i < size / sizeof(struct bspz_image_block) && !complaint; i++)
        complaint = add_block(tables, tables->blocks + tables->block_count);
    return complaint;
}

/* Version 1: all units of a block come from the same image. */
static const char *take_blocks_1(struct tables *tables, size_t size)
{
    const char *complaint = NULL;

    for (size_t i = 0; i < size / sizeof(struct bspz_image_block_1) && !complaint; i++) {
        const struct bspz_image_block_1 *from = tables->blocks_1 + tables->block_count;
        struct bspz_image_block *block = tables->blocks + tables->block_count;
        if (from->reserved != 0 || from->source >= BSPZ_IMAGE_CHAIN_MAX)
            return "an impossible block";
        *block = (struct bspz_image_block){.where = from->where};
        for (uint32_t bit = 0; bit < BSPZ_IMAGE_BLOCK_UNITS; bit++)
            if (from->where >> bit & 1)
                block->sources |= (uint64_t)from->source << 4 * bit;
        complaint = add_block(tables, block);
    }
    return complaint;
}

/* What is true before and after every section, whatever is in the image. */
static void check_tables(const struct tables *tables)
{
    const struct bspz_image *image = tables->image;
    const struct bspz_image_end *end = &image->end;

    assert(tables->regions <= end->regions && tables->descriptors <= end->descriptors);
    assert(tables->block_count <= end->blocks && tables->hash_count <= end->hashes);
    assert(tables->held <= tables->block_count * BSPZ_IMAGE_BLOCK_UNITS);
    assert(tables->used <= end->tables);
    assert(tables->opaques <= OPAQUES_MAX && tables->opaque_used <= opaque_room(image));
    assert(tables->opaques <= tables->last_tag && tables->last_tag <= UINT32_MAX);
    assert((uintptr_t)tables->bytes % 8 == (uintptr_t)tables->blocks % 8);
}

/* The place for `raw` bytes of a table that has `have` entries and room for `most`; NULL: they do
 * not fit. */
static void *entries_room(void *entries, uint64_t have, uint64_t most, size_t entry, uint32_t raw)
{
    return raw % entry == 0 && raw / entry <= most - have ? (char *)entries + have * entry : NULL;
}

/* The place for the decoded bytes of a section; NULL: the end section announced fewer. */
static void *room_for(struct tables *tables, const struct bspz_image_section *section)
{
    const struct bspz_image_end *end = &tables->image->end;

    if (section->kind == BSPZ_IMAGE_HASHES)
        return entries_room(tables->hashes, tables->hash_count, end->hashes,
                            sizeof(*tables->hashes), section->raw);
    if (section->kind == BSPZ_IMAGE_BLOCKS)
        return tables->blocks_1 ? entries_room(tables->blocks_1, tables->block_count, end->blocks,
                                               sizeof(*tables->blocks_1), section->raw)
                                : entries_room(tables->blocks, tables->block_count, end->blocks,
                                               sizeof(*tables->blocks), section->raw);
    if (section->stored > end->tables - tables->used)
        return NULL;
    tables->used += section->stored;
    if (section->kind == BSPZ_IMAGE_OPAQUE) {
        if (tables->opaques++ >= OPAQUES_MAX)
            return NULL;
        return (unsigned char *)tables->image->opaque + tables->opaque_used + sizeof(struct opaque);
    }
    return tables->bytes;
}

static const char *take_opaque(struct tables *tables, const struct bspz_image_section *section,
                               unsigned char *bytes)
{
    struct opaque *opaque = (struct opaque *)(bytes - sizeof(*opaque));
    uint64_t tag = section->where >> 32;

    if (tag <= tables->last_tag)
        return "opaque sections out of order";
    tables->last_tag = tag;
    *opaque = (struct opaque){(uint32_t)tag, (uint32_t)section->where, section->stored};
    tables->opaque_used += sizeof(*opaque) + (section->stored + 7u) / 8 * 8;
    return NULL;
}

/* Takes the bytes of a section where room_for put them. */
static const char *take(struct tables *tables, const struct bspz_image_section *section,
                        unsigned char *bytes)
{
    uint64_t count = section->kind == BSPZ_IMAGE_REGIONS       ? tables->regions
                     : section->kind == BSPZ_IMAGE_DESCRIPTORS ? tables->descriptors
                     : section->kind == BSPZ_IMAGE_HASHES      ? tables->hash_count
                                                               : tables->block_count;
    if (section->kind == BSPZ_IMAGE_OPAQUE)
        return take_opaque(tables, section, bytes);
    if (section->where != count || section->stored == 0)
        return "a table out of order";
    if (section->kind == BSPZ_IMAGE_BLOCKS)
        return tables->blocks_1 ? take_blocks_1(tables, section->raw)
                                : take_blocks(tables, section->raw);
    if (section->kind == BSPZ_IMAGE_HASHES) {
        tables->hash_count += section->raw / sizeof(*tables->hashes);
        return NULL;
    }
    if (section->stored % 8 != 0)
        return "a table of impossible size";
    tables->bytes += section->stored;
    if (section->kind == BSPZ_IMAGE_REGIONS)
        return take_regions(tables, bytes, section->stored);
    return take_descriptors(tables, bytes, section->stored);
}

static void divide_memory(struct tables *tables, struct bspz_image *image, void *memory)
{
    unsigned char *at = memory;

    memset(tables, 0, sizeof(*tables));
    tables->image = image;
    tables->blocks = (void *)at;
    image->blocks = tables->blocks;
    at += image->end.blocks * sizeof(struct bspz_image_block);
    tables->hashes = (void *)at;
    image->hashes = tables->hashes;
    at += image->end.hashes * sizeof(struct bspz_image_hash);
    if (image->header.version == BSPZ_IMAGE_VERSION_BLOCKS) {
        tables->blocks_1 = (void *)at;
        at += image->end.blocks * sizeof(struct bspz_image_block_1);
    }
    image->blocks_1 = tables->blocks_1;
    image->regions = (void *)at;
    at += image->end.regions * sizeof(void *);
    image->descriptors = (void *)at;
    at += image->end.descriptors * sizeof(void *);
    image->opaque = at;
    at += (opaque_room(image) + 7) / 8 * 8;
    tables->bytes = at;
}

/* Whether these follow the tables of regions and descriptors, and what is opaque. */
static bool is_of_pages(const struct bspz_image_section *section)
{
    return section->kind == BSPZ_IMAGE_DATA || section->kind == BSPZ_IMAGE_BLOCKS ||
           section->kind == BSPZ_IMAGE_HASHES;
}

/* front: no more than precedes the first page. */
static int load(struct bspz_image *image, struct tables *tables, bool front, struct bspz_walk *walk,
                struct bspz_image_fault *fault)
{
    int status;

    bspz_walk_start(walk, image);
    while ((status = bspz_walk_next(walk, fault)) > 0) {
        const char *complaint = "a table that is longer than announced";
        check_tables(tables);
        if (front && is_of_pages(&walk->section))
            return 0;
        if (walk->section.kind == BSPZ_IMAGE_DATA)
            continue;
        void *bytes = room_for(tables, &walk->section);
        if (bytes) {
            status = bspz_walk_decode(walk, bytes, "table", fault);
            if (status < 0)
                return status;
            complaint = take(tables, &walk->section, bytes);
        }
        if (complaint)
            return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next, "damaged: %s",
                                   complaint);
    }
    check_tables(tables);
    return status;
}

int bspz_image_load_front(struct bspz_image *image, void *memory, struct bspz_image_fault *fault)
{
    struct tables tables;
    struct bspz_walk walk;

    divide_memory(&tables, image, memory);
    int status = load(image, &tables, true, &walk, fault);
    image->opaque_size = tables.opaque_used;
    if (status == 0 &&
        (tables.regions != image->end.regions || tables.descriptors != image->end.descriptors ||
         tables.used != image->end.tables))
        return bspz_image_fail(fault, -EBADMSG, walk.offset, walk.next,
                               "the end does not fit the tables");
    return status;
}

int bspz_image_load(struct bspz_image *image, void *memory, struct bspz_image_fault *fault)
{
    struct tables tables;
    struct bspz_walk walk;

    divide_memory(&tables, image, memory);
    int status = load(image, &tables, false, &walk, fault);
    image->opaque_size = tables.opaque_used;
    if (status == 0 &&
        (tables.regions != image->end.regions || tables.descriptors != image->end.descriptors ||
         tables.block_count != image->end.blocks || tables.used != image->end.tables ||
         tables.hash_count != image->end.hashes ||
         (!image->blocks_1 && tables.held + 1 != image->end.hashes)))
        return bspz_image_fail(fault, -EBADMSG, walk.offset, walk.next,
                               "the end does not fit what comes before it");
    return status;
}

const void *bspz_image_find(const struct bspz_image *image, uint32_t tag, uint32_t *version,
                            size_t *size)
{
    const unsigned char *at = image->opaque, *end = at + image->opaque_size;

    while (at < end) {
        const struct opaque *opaque = (const void *)at;
        if (opaque->tag == tag) {
            *version = opaque->version;
            *size = opaque->size;
            return at + sizeof(*opaque);
        }
        at += sizeof(*opaque) + (opaque->size + 7) / 8 * 8;
    }
    return NULL;
}
