/* walk.c - walking through the sections of an image; see reader.h. */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ckpt/format/reader.h"

int bspz_image_fail(struct bspz_image_fault *fault, int code, uint64_t first, uint64_t end,
                    const char *format, ...)
{
    va_list arguments;

    if (!fault)
        return code;
    fault->first = first;
    fault->end = end;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof(fault->text), format, arguments);
    va_end(arguments);
    return code;
}

void bspz_walk_start(struct bspz_walk *walk, const struct bspz_image *image)
{
    memset(walk, 0, sizeof(*walk));
    walk->image = image;
    walk->next = sizeof(image->header);
    walk->kind = BSPZ_IMAGE_OPAQUE;
    bspz_digest_start(&walk->digest, 0);
    bspz_digest_add(&walk->digest, &image->header, sizeof(image->header));
}

static const char *data_complaint(struct bspz_walk *walk)
{
    const struct bspz_image_section *section = &walk->section;
    uint32_t page = walk->image->header.page_size;
    bool in_one_piece = walk->image->header.version == BSPZ_IMAGE_VERSION_BLOCKS;
    uint32_t least = in_one_piece ? page : BSPZ_IMAGE_UNIT;

    if (section->raw == 0 || section->raw > BSPZ_IMAGE_RECORD_MAX || section->raw % least != 0 ||
        section->where % least != 0 || section->where + section->raw < section->where)
        return "a record that is not made of whole pages";
    if (walk->records > 0 && section->where < walk->end_of_data)
        return "a record out of order";
    if (section->coding >= BSPZ_IMAGE_CODING_COUNT)
        return "a record of unknown coding";
    if (section->coding == BSPZ_IMAGE_RAW ? section->stored != section->raw
                                          : section->stored >= section->raw)
        return "a record of impossible size";
    walk->end_of_data = section->where + section->raw;
    walk->records++;
    return NULL;
}

/* Data, blocks and hashes alternate; all other sections come in the order of their kinds. */
static unsigned order_of(uint16_t kind)
{
    return kind == BSPZ_IMAGE_BLOCKS || kind == BSPZ_IMAGE_HASHES ? BSPZ_IMAGE_DATA : kind;
}

static bool kind_may_follow(const struct bspz_walk *walk, uint16_t kind)
{
    bool first_version = walk->image->header.version == BSPZ_IMAGE_VERSION_BLOCKS;

    if (kind < BSPZ_IMAGE_OPAQUE || kind > (first_version ? BSPZ_IMAGE_END : BSPZ_IMAGE_HASHES))
        return false;
    return order_of(kind) >= order_of(walk->kind);
}

/* Tables are uncoded, but those of blocks may be compressed like data. */
static bool table_size_possible(const struct bspz_walk *walk)
{
    const struct bspz_image_section *section = &walk->section;
    bool packable = section->kind == BSPZ_IMAGE_BLOCKS &&
                    walk->image->header.version != BSPZ_IMAGE_VERSION_BLOCKS;
    uint32_t limit =
        section->kind == BSPZ_IMAGE_OPAQUE ? BSPZ_IMAGE_OPAQUE_MAX : BSPZ_IMAGE_TABLE_MAX;

    if (section->raw > limit)
        return false;
    if (section->coding == BSPZ_IMAGE_RAW)
        return section->stored == section->raw;
    return packable && section->coding < BSPZ_IMAGE_CODING_COUNT && section->stored < section->raw;
}

static const char *section_complaint(struct bspz_walk *walk)
{
    const struct bspz_image_section *section = &walk->section;

    if (section->sequence != walk->sequence)
        return "a section out of order";
    if (!kind_may_follow(walk, section->kind))
        return "a section of a kind that cannot be here";
    if (section->kind == BSPZ_IMAGE_DATA)
        return data_complaint(walk);
    if (!table_size_possible(walk))
        return "a table of impossible size";
    return NULL;
}

/* At the end section: compares its totals with those of the walk. */
static int at_end(struct bspz_walk *walk, struct bspz_image_fault *fault)
{
    const struct bspz_image *image = walk->image;
    uint64_t digest[2];

    bspz_digest_get(&walk->digest, digest);
    if (walk->next != image->source.size || walk->sequence != image->end.sections ||
        walk->records != image->end.records ||
        memcmp(digest, image->end.digest, sizeof(digest)) != 0)
        return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                               "the end does not fit what comes before it");
    return 0;
}

int bspz_walk_next(struct bspz_walk *walk, struct bspz_image_fault *fault)
{
    const struct bspz_image *image = walk->image;
    struct bspz_image_section *section = &walk->section;
    uint64_t start = walk->next, size = image->source.size;

    assert(start >= sizeof(image->header) && walk->offset <= start);
    if (start > size || size - start < sizeof(*section))
        return bspz_image_fail(fault, -EBADMSG, start < size ? start : size, size,
                               "the image is cut off");
    int status = image->source.read(image->source.context, start, section, sizeof(*section));
    if (status < 0)
        return bspz_image_fail(fault, status, start, start + sizeof(*section), "cannot be read: %s",
                               strerror(-status));
    walk->offset = start + sizeof(*section);
    if (section->magic != BSPZ_IMAGE_SECTION_MAGIC ||
        section->check != bspz_section_check(section, image->header.hash))
        return bspz_image_fail(fault, -EBADMSG, start, walk->offset, "damaged");
    const char *complaint = section_complaint(walk);
    if (complaint)
        return bspz_image_fail(fault, -EBADMSG, start, walk->offset, "damaged: %s", complaint);
    if (section->stored > size - walk->offset)
        return bspz_image_fail(fault, -EBADMSG, start, size, "the image is cut off");
    walk->next = walk->offset + section->stored;
    walk->kind = section->kind;
    if (section->kind == BSPZ_IMAGE_END)
        return at_end(walk, fault);
    walk->sequence++;
    bspz_digest_add(&walk->digest, section, sizeof(*section));
    assert(walk->offset <= walk->next && walk->next <= size);
    assert(walk->records <= walk->sequence);
    return 1;
}

int bspz_walk_bytes(const struct bspz_walk *walk, void *bytes, struct bspz_image_fault *fault)
{
    const struct bspz_image *image = walk->image;
    const struct bspz_image_section *section = &walk->section;

    int status = image->source.read(image->source.context, walk->offset, bytes, section->stored);
    if (status < 0)
        return bspz_image_fail(fault, status, walk->offset, walk->next, "cannot be read: %s",
                               strerror(-status));
    uint64_t seed = bspz_section_seed(section, image->header.hash);
    if (bspz_hash64(bytes, section->stored, seed) != section->hash)
        return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next, "damaged");
    return 0;
}

int bspz_record_read(const struct bspz_walk *walk, void *raw, struct bspz_image_fault *fault)
{
    const struct bspz_image_source *source = &walk->image->source;
    int status = source->read(source->context, walk->offset, raw, walk->section.stored);

    return status < 0 ? bspz_image_fail(fault, status, walk->offset, walk->next,
                                        "cannot be read: %s", strerror(-status))
                      : 0;
}

int bspz_record_scatter(const struct bspz_walk *walk, uint64_t first, const struct iovec *places,
                        uint32_t count, struct bspz_image_fault *fault)
{
    const struct bspz_image_source *source = &walk->image->source;
    uint64_t offset = walk->offset + first;
    int status = 0;

    if (source->scatter)
        status = source->scatter(source->context, offset, places, count);
    for (uint32_t i = 0; i < count && status == 0 && !source->scatter; i++) {
        status = source->read(source->context, offset, places[i].iov_base, places[i].iov_len);
        offset += places[i].iov_len;
    }
    return status < 0 ? bspz_image_fail(fault, status, walk->offset, walk->next,
                                        "cannot be read: %s", strerror(-status))
                      : 0;
}

int bspz_walk_decode(const struct bspz_walk *walk, void *raw, const char *what,
                     struct bspz_image_fault *fault)
{
    struct bspz_reader_scratch *scratch = walk->image->scratch;
    const struct bspz_image_section *section = &walk->section;
    bool as_is = section->coding == BSPZ_IMAGE_RAW;

    int status = bspz_walk_bytes(walk, as_is ? raw : scratch->stored, fault);
    if (status == 0 && !as_is &&
        bspz_decode((enum bspz_image_coding)section->coding, scratch->stored, section->stored, raw,
                    section->raw, scratch->sorted) < 0)
        return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                               "damaged: a %s that cannot be decoded", what);
    return status;
}

int bspz_record_decode(const struct bspz_walk *walk, void *raw, struct bspz_image_fault *fault)
{
    assert(walk->section.kind == BSPZ_IMAGE_DATA && walk->section.raw <= BSPZ_IMAGE_RECORD_MAX);
    return bspz_walk_decode(walk, raw, "record", fault);
}
