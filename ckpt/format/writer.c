/* writer.c - writes the image of a process; see image.h.
 *
 * Runs on a small stack in a process whose libc must not be touched: no allocation, no errno, no
 * stdio.  Small things gather in a buffer; large raw records go out from where they lie.
 */
#include <errno.h>
#include <string.h>

#include "ckpt/format/codec.h"
#include "ckpt/format/image.h"
#include "ckpt/format/section.h"

#define OUT_SIZE      65536u
#define PIECES_MAX    (BSPZ_IMAGE_BLOCK / BSPZ_IMAGE_UNIT)
#define BLOCKS_MAX    (BSPZ_IMAGE_TABLE_MAX / 2 / sizeof(struct bspz_image_block))
#define FULL_MASK     0xffffu
#define BLOCK_ADDRESS (~(uint64_t)FULL_MASK)

/* A run of units of the block being gathered. */
struct piece {
    uint64_t address;
    uint32_t length;
};

struct bspz_image_writer {
    struct bspz_image_config config;
    int error; /* of the first failure */
    enum bspz_image_kind stage;
    uint64_t salt;
    uint64_t offset; /* bytes produced so far */
    uint32_t sequence;
    struct bspz_image_end end;
    struct bspz_image_written written;
    struct bspz_digest digest;

    uint64_t last_key; /* tag, end of region, descriptor or end of data that came last */
    bool any_key;
    uint64_t base_next; /* index into config.base: everything before it lies below */

    /* The block that is not complete: its pieces and their bytes, one after the other. */
    uint64_t block_where;
    uint32_t piece_count;
    uint32_t gathered_size;
    struct piece pieces[PIECES_MAX];

    /* Entries of the table that is being written. */
    uint32_t table_size;
    uint64_t table_first;

    /* Blocks not written yet, and the out buffer. */
    uint32_t block_count;
    uint32_t out_used;
    _Alignas(64) unsigned char table[BSPZ_IMAGE_TABLE_MAX];
    _Alignas(64) struct bspz_image_block blocks[BLOCKS_MAX];
    _Alignas(64) unsigned char gathered[BSPZ_IMAGE_BLOCK];
    _Alignas(64) unsigned char out[OUT_SIZE];
    struct bspz_codec codec;
};

_Static_assert(sizeof(struct bspz_image_writer) <= BSPZ_IMAGE_WRITER_SCRATCH, "scratch");

static int fail(struct bspz_image_writer *writer, int error)
{
    if (writer->error == 0)
        writer->error = error;
    return writer->error;
}

/* ---- Bytes out ---------------------------------------------------------------------------------
 */

static void flush(struct bspz_image_writer *writer)
{
    if (writer->error != 0 || writer->out_used == 0)
        return;
    int status = writer->config.write(writer->config.context, writer->out, writer->out_used);
    if (status < 0)
        fail(writer, status);
    writer->out_used = 0;
}

static void put(struct bspz_image_writer *writer, const void *bytes, size_t size)
{
    if (writer->error != 0 || size == 0)
        return;
    writer->offset += size;
    bool large = size >= OUT_SIZE / 2;
    if (large || size > OUT_SIZE - writer->out_used)
        flush(writer);
    if (writer->error != 0)
        return;
    if (large) {
        int status = writer->config.write(writer->config.context, bytes, size);
        if (status < 0)
            fail(writer, status);
        return;
    }
    memcpy(writer->out + writer->out_used, bytes, size);
    writer->out_used += (uint32_t)size;
}

static void put_section(struct bspz_image_writer *writer, enum bspz_image_kind kind,
                        enum bspz_image_coding coding, uint64_t where, const void *bytes,
                        size_t raw, size_t stored)
{
    struct bspz_image_section section = {
        .magic = BSPZ_IMAGE_SECTION_MAGIC,
        .kind = (uint16_t)kind,
        .coding = (uint16_t)coding,
        .sequence = writer->sequence++,
        .where = where,
        .raw = (uint32_t)raw,
        .stored = (uint32_t)stored,
    };

    section.hash = bspz_hash64(bytes, stored, bspz_section_seed(&section, writer->salt));
    section.check = bspz_section_check(&section, writer->salt);
    if (kind != BSPZ_IMAGE_END) {
        bspz_digest_add(&writer->digest, &section, sizeof(section));
        writer->end.sections++;
    }
    put(writer, &section, sizeof(section));
    put(writer, bytes, stored);
}

/* ---- The order of the calls --------------------------------------------------------------------
 */

static void flush_table(struct bspz_image_writer *writer)
{
    if (writer->table_size == 0)
        return;
    put_section(writer, writer->stage, BSPZ_IMAGE_RAW, writer->table_first, writer->table,
                writer->table_size, writer->table_size);
    writer->end.tables += writer->table_size;
    writer->table_size = 0;
}

/* Makes the stage the present one; false when its time is over. */
static bool enter(struct bspz_image_writer *writer, enum bspz_image_kind stage)
{
    if (writer->error != 0)
        return false;
    if (stage < writer->stage) {
        fail(writer, -EINVAL);
        return false;
    }
    if (stage > writer->stage) {
        flush_table(writer);
        writer->stage = stage;
        writer->any_key = false;
    }
    return writer->error == 0;
}

/* Whether key may follow what came before; next is the least that may come after it. */
static bool ascend(struct bspz_image_writer *writer, uint64_t key, uint64_t next)
{
    if ((writer->any_key && key < writer->last_key) || next < key) {
        fail(writer, -EINVAL);
        return false;
    }
    writer->any_key = true;
    writer->last_key = next;
    return true;
}

/* ---- Header and tables -------------------------------------------------------------------------
 */

bool bspz_image_may_extend(const struct bspz_image_table *table)
{
    return table && table->usable && table->generation + 1 < BSPZ_IMAGE_CHAIN_MAX;
}

int bspz_image_writer_open(struct bspz_image_writer **result, void *scratch,
                           const struct bspz_image_config *config)
{
    struct bspz_image_writer *writer = scratch;
    struct bspz_image_header *header = &writer->config.header;

    if ((uintptr_t)scratch % 64 != 0 || !config->write ||
        !bspz_page_size_possible(config->header.page_size) ||
        config->header.build_id_size > BSPZ_IMAGE_BUILD_ID_MAX)
        return -EINVAL;
    if (config->base && !bspz_image_may_extend(config->base))
        return -EINVAL;
    memset(writer, 0, offsetof(struct bspz_image_writer, table));
    writer->config = *config;
    memcpy(header->magic, BSPZ_IMAGE_MAGIC, sizeof(header->magic));
    header->version = BSPZ_IMAGE_VERSION;
    header->size = sizeof(*header);
    memset(header->reserved, 0, sizeof(header->reserved));
    memset(&header->base, 0, sizeof(header->base));
    header->generation = 0;
    if (config->base) {
        header->base = config->base->image;
        header->generation = config->base->generation + 1;
    }
    header->hash = bspz_hash64(header, offsetof(struct bspz_image_header, hash), 0);
    writer->salt = header->hash;
    writer->stage = BSPZ_IMAGE_OPAQUE;
    if (config->next) {
        config->next->usable = 0;
        config->next->count = 0;
    }
    bspz_digest_start(&writer->digest, 0);
    bspz_digest_add(&writer->digest, header, sizeof(*header));
    put(writer, header, sizeof(*header));
    *result = writer;
    return writer->error;
}

int bspz_image_opaque(struct bspz_image_writer *writer, uint32_t tag, uint32_t version,
                      const void *bytes, size_t size)
{
    if (!enter(writer, BSPZ_IMAGE_OPAQUE) || !ascend(writer, tag, (uint64_t)tag + 1))
        return writer->error;
    if (tag == 0 || tag > BSPZ_IMAGE_OPAQUE_COUNT_MAX || size > BSPZ_IMAGE_OPAQUE_MAX)
        return fail(writer, -EINVAL);
    put_section(writer, BSPZ_IMAGE_OPAQUE, BSPZ_IMAGE_RAW, (uint64_t)tag << 32 | version, bytes,
                size, size);
    writer->end.tables += size;
    return writer->error;
}

/* Appends an entry with its path to the table of this stage. */
static void add_entry(struct bspz_image_writer *writer, const void *entry, size_t size,
                      const char *path, size_t path_size, uint64_t *count)
{
    size_t whole = bspz_entry_size(size, (uint32_t)path_size);

    if (writer->table_size + whole > sizeof(writer->table))
        flush_table(writer);
    if (writer->table_size == 0)
        writer->table_first = *count;
    unsigned char *at = writer->table + writer->table_size;
    memset(at, 0, whole);
    memcpy(at, entry, size);
    memcpy(at + size, path, path_size);
    writer->table_size += (uint32_t)whole;
    (*count)++;
}

/* The length of a path, also of none; more than the limit when it is longer. */
static size_t length_of(const char *path)
{
    return path ? strnlen(path, BSPZ_IMAGE_PATH_MAX + 1) : 0;
}

int bspz_image_region(struct bspz_image_writer *writer, const struct bspz_image_region *region,
                      const char *path)
{
    struct bspz_image_region copy = *region;
    size_t path_size = length_of(path);

    if (!enter(writer, BSPZ_IMAGE_REGIONS) ||
        !ascend(writer, region->address, region->address + region->length))
        return writer->error;
    copy.path_size = (uint32_t)path_size;
    if (path_size > BSPZ_IMAGE_PATH_MAX || writer->end.regions >= BSPZ_IMAGE_REGIONS_MAX ||
        bspz_region_complaint(&copy, writer->config.header.page_size))
        return fail(writer, -EINVAL);
    add_entry(writer, &copy, sizeof(copy), path ? path : "", path_size, &writer->end.regions);
    return writer->error;
}

int bspz_image_descriptor(struct bspz_image_writer *writer,
                          const struct bspz_image_descriptor *descriptor, const char *path)
{
    struct bspz_image_descriptor copy = *descriptor;
    size_t path_size = length_of(path);

    if (!enter(writer, BSPZ_IMAGE_DESCRIPTORS) ||
        !ascend(writer, descriptor->number, (uint64_t)descriptor->number + 1))
        return writer->error;
    copy.path_size = (uint32_t)path_size;
    if (path_size > BSPZ_IMAGE_PATH_MAX || writer->end.descriptors >= BSPZ_IMAGE_DESCRIPTORS_MAX ||
        bspz_descriptor_complaint(&copy))
        return fail(writer, -EINVAL);
    add_entry(writer, &copy, sizeof(copy), path ? path : "", path_size, &writer->end.descriptors);
    return writer->error;
}

/* ---- Data --------------------------------------------------------------------------------------
 */

static void put_record(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                       size_t size)
{
    enum bspz_image_coding coding = BSPZ_IMAGE_RAW;
    const void *stored = bytes;
    size_t stored_size = size;

    if (writer->config.compress)
        stored_size = bspz_encode(&writer->codec, bytes, size, &coding, &stored);
    put_section(writer, BSPZ_IMAGE_DATA, coding, address, stored, size, stored_size);
    writer->end.records++;
    writer->end.raw_bytes += size;
    writer->end.data_bytes += stored_size;
}

static void flush_blocks(struct bspz_image_writer *writer)
{
    size_t size = writer->block_count * sizeof(struct bspz_image_block);

    if (writer->block_count == 0)
        return;
    put_section(writer, BSPZ_IMAGE_BLOCKS, BSPZ_IMAGE_RAW, writer->end.blocks, writer->blocks, size,
                size);
    writer->end.blocks += writer->block_count;
    writer->block_count = 0;
}

/* The generation that already holds a block just like this one; that of this image when none. */
static uint32_t find_source(struct bspz_image_writer *writer, const struct bspz_image_block *block)
{
    const struct bspz_image_table *base = writer->config.base;
    uint64_t address = block->where & BLOCK_ADDRESS;

    if (!base)
        return 0;
    uint64_t i = writer->base_next;
    while (i < base->count && (base->blocks[i].where & BLOCK_ADDRESS) < address)
        i++;
    writer->base_next = i;
    if (i < base->count && base->blocks[i].where == block->where &&
        base->blocks[i].hash[0] == block->hash[0] && base->blocks[i].hash[1] == block->hash[1])
        return base->blocks[i].source;
    return writer->config.header.generation;
}

/* Notes a complete block whose saved units lie one after the other at bytes; true when it has to be
 * stored. */
static bool note_block(struct bspz_image_writer *writer, uint64_t where, const void *bytes,
                       size_t size)
{
    struct bspz_image_table *next = writer->config.next;
    struct bspz_image_block *block = &writer->blocks[writer->block_count++];

    *block = (struct bspz_image_block){.where = where};
    bspz_hash128(bytes, size, where, block->hash);
    block->source = find_source(writer, block);
    bool store = block->source == writer->config.header.generation;
    if (next && next->count < next->capacity)
        next->blocks[next->count] = *block;
    if (next)
        next->count++; /* beyond capacity: close will say that it is of no use */
    writer->written.blocks_stored += store;
    return store;
}

/* The gathered block is complete: notes it and writes its pieces.  Its data come before the section
 * of blocks that names it. */
static void end_gathered(struct bspz_image_writer *writer)
{
    const unsigned char *bytes = writer->gathered;

    if (writer->piece_count == 0)
        return;
    bool store = note_block(writer, writer->block_where, bytes, writer->gathered_size);
    for (uint32_t i = 0; store && i < writer->piece_count; i++) {
        put_record(writer, writer->pieces[i].address, bytes, writer->pieces[i].length);
        bytes += writer->pieces[i].length;
    }
    writer->piece_count = 0;
    writer->gathered_size = 0;
    if (writer->block_count == BLOCKS_MAX)
        flush_blocks(writer);
}

/* Part of a block: kept until the block is known to be complete. */
static void gather(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                   uint32_t size)
{
    uint32_t first = (uint32_t)(address % BSPZ_IMAGE_BLOCK / BSPZ_IMAGE_UNIT);
    uint32_t units = size / BSPZ_IMAGE_UNIT;

    if (writer->piece_count > 0 &&
        (writer->block_where & BLOCK_ADDRESS) != (address & BLOCK_ADDRESS))
        end_gathered(writer);
    if (writer->piece_count == 0)
        writer->block_where = address & BLOCK_ADDRESS;
    writer->block_where |= ((1u << units) - 1) << first;
    writer->pieces[writer->piece_count++] = (struct piece){address, size};
    memcpy(writer->gathered + writer->gathered_size, bytes, size);
    writer->gathered_size += size;
}

/* Whole blocks: stored from where they are, up to four in a record. */
static void whole_blocks(struct bspz_image_writer *writer, uint64_t address,
                         const unsigned char *bytes, size_t length)
{
    size_t start = 0, at = 0; /* from start to at: to be stored */

    while (at < length && writer->error == 0) {
        bool store = note_block(writer, (address + at) | FULL_MASK, bytes + at, BSPZ_IMAGE_BLOCK);
        at += BSPZ_IMAGE_BLOCK;
        size_t run = at - start - (store ? 0 : BSPZ_IMAGE_BLOCK);
        bool last = at >= length || !store || run >= BSPZ_IMAGE_RECORD_MAX ||
                    writer->block_count == BLOCKS_MAX;
        if (last && run > 0)
            put_record(writer, address + start, bytes + start, run);
        if (last)
            start = at;
        if (writer->block_count == BLOCKS_MAX)
            flush_blocks(writer);
    }
}

int bspz_image_data(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                    size_t length)
{
    const unsigned char *from = bytes;
    uint64_t page = writer->config.header.page_size;

    if (!enter(writer, BSPZ_IMAGE_DATA) || !ascend(writer, address, address + length))
        return writer->error;
    if (address % page != 0 || length % page != 0)
        return fail(writer, -EINVAL);
    writer->written.total_bytes += length;
    while (length > 0 && writer->error == 0) {
        uint64_t within = address % BSPZ_IMAGE_BLOCK;
        size_t take = length;
        if (within != 0 || length < BSPZ_IMAGE_BLOCK) {
            if (take > BSPZ_IMAGE_BLOCK - within)
                take = BSPZ_IMAGE_BLOCK - within;
            gather(writer, address, from, (uint32_t)take);
        } else {
            take = length / BSPZ_IMAGE_BLOCK * BSPZ_IMAGE_BLOCK;
            end_gathered(writer);
            whole_blocks(writer, address, from, take);
        }
        address += take;
        from += take;
        length -= take;
    }
    return writer->error;
}

/* ---- The end -----------------------------------------------------------------------------------
 */

static void fill_written(struct bspz_image_writer *writer)
{
    struct bspz_image_written *written = &writer->written;
    const struct bspz_image_header *header = &writer->config.header;

    written->name.superstep = header->superstep;
    written->name.term = header->term;
    written->name.pid = header->pid;
    memcpy(written->name.digest, writer->end.digest, sizeof(written->name.digest));
    written->length = writer->end.length;
    written->raw_bytes = writer->end.raw_bytes;
    written->data_bytes = writer->end.data_bytes;
    written->blocks = writer->end.blocks;
}

int bspz_image_writer_close(struct bspz_image_writer *writer, struct bspz_image_written *written)
{
    struct bspz_image_table *next = writer->config.next;
    uint64_t digest[2];

    if (!enter(writer, BSPZ_IMAGE_DATA))
        return writer->error;
    end_gathered(writer);
    flush_blocks(writer);
    if (!enter(writer, BSPZ_IMAGE_END))
        return writer->error;
    bspz_digest_get(&writer->digest, digest);
    memcpy(writer->end.digest, digest, sizeof(digest));
    writer->end.length = writer->offset + sizeof(struct bspz_image_section) + sizeof(writer->end);
    put_section(writer, BSPZ_IMAGE_END, BSPZ_IMAGE_RAW, 0, &writer->end, sizeof(writer->end),
                sizeof(writer->end));
    flush(writer);
    if (writer->error != 0)
        return writer->error;
    fill_written(writer);
    if (next && next->count <= next->capacity) {
        next->image = writer->written.name;
        next->generation = writer->config.header.generation;
        next->usable = 1;
    }
    if (written)
        *written = writer->written;
    return 0;
}
