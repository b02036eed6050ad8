/* writer.c - writes the image of a process; see image.h.
 *
 * Runs on a small stack in a process whose libc must not be touched: no allocation, no errno, no
 * stdio.  Small items are collected in a buffer; large uncoded records are written from their
 * place.
 *
 * Each 4 KiB unit is hashed once and compared with the base, unless the caller knows that it has
 * not changed.  Units that differ are collected in records: a long run of them is written from its
 * place, short ones are first copied into one record, so that scattered pages do not take a section
 * each.
 */
#include <errno.h>
#include <string.h>

#include "ckpt/format/codec.h"
#include "ckpt/format/image.h"
#include "ckpt/format/section.h"

#define OUT_SIZE      65536u
#define ENTRIES_MAX   2048u /* of blocks or hashes in one section */
#define PACK_UNIT     8u    /* blocks: the input of the codec is a multiple of 128 bytes */
#define RUN_DIRECT    (BSPZ_IMAGE_RECORD_MAX / 2) /* the least bytes worth a record of their own */
#define BLOCK_ADDRESS (~(uint64_t)(BSPZ_IMAGE_BLOCK - 1))
#define WHOLE_BLOCK   ((1u << BSPZ_IMAGE_BLOCK_UNITS) - 1) /* the mask of all units */

#define AHEAD         (8 * BSPZ_IMAGE_UNIT) /* of the unit that is hashed: touched meanwhile */

static const unsigned char zeros[BSPZ_IMAGE_UNIT];

struct bspz_image_writer {
    struct bspz_image_config config;
    int error; /* the first failure */
    enum bspz_image_kind stage;
    uint64_t salt;
    uint64_t offset; /* bytes produced so far */
    uint32_t sequence;
    struct bspz_image_end end;
    struct bspz_image_written written;
    struct bspz_digest digest;
    struct bspz_digest state; /* of the hashes of all units */

    uint64_t last_key; /* tag, end of region, descriptor or end of data that came last */
    bool any_key;

    /* The present block; its `where` is 0 before the first one. */
    struct bspz_image_block block;
    struct bspz_image_hash block_hashes[BSPZ_IMAGE_BLOCK_UNITS];
    uint32_t block_units;
    /* The position in the base's table: all blocks before base_next lie below; base_hash counts the
     * units before it.  base_block is the one at the present address, or NULL. */
    uint64_t base_next, base_hash;
    const struct bspz_image_block *base_block;
    uint64_t next_hash;           /* units in config.next */
    struct bspz_image_hash zeros; /* of a unit of zeros at address 0 */

    /* Units to be stored: a run that has not been written yet, by its place, and after it other
     * runs that were copied together. */
    uint64_t run_address, gathered_address;
    const unsigned char *run;
    uint32_t run_size, gathered_size;

    /* Entries of the table that is being written. */
    uint32_t table_size;
    uint64_t table_first;

    /* Blocks and hashes not written yet, and the out buffer. */
    uint32_t block_count, hash_count;
    uint32_t out_used;
    _Alignas(64) unsigned char table[BSPZ_IMAGE_TABLE_MAX];
    _Alignas(64) struct bspz_image_block blocks[ENTRIES_MAX];
    _Alignas(64) struct bspz_image_hash hashes[ENTRIES_MAX];
    _Alignas(64) unsigned char gathered[BSPZ_IMAGE_RECORD_MAX];
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

/* ---- Bytes out ------------------------------------------------------------------------------- */

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

/* ---- The order of the calls ------------------------------------------------------------------ */

static void flush_table(struct bspz_image_writer *writer)
{
    if (writer->table_size == 0)
        return;
    put_section(writer, writer->stage, BSPZ_IMAGE_RAW, writer->table_first, writer->table,
                writer->table_size, writer->table_size);
    writer->end.tables += writer->table_size;
    writer->table_size = 0;
}

/* Makes `stage` the present one; false: a later stage has begun. */
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

/* Whether `key` may follow the previous ones; `next` is the least that may follow it. */
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

/* ---- Header and tables ----------------------------------------------------------------------- */

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
    bspz_hash_unit(zeros, 0, &writer->zeros);
    if (config->next) {
        config->next->usable = 0;
        config->next->count = 0;
    }
    bspz_digest_start(&writer->state, 0);
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

/* The length of a path, 0 for none; of a too long one, more than the limit. */
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

/* ---- Blocks and hashes ----------------------------------------------------------------------- */

static void put_blocks(struct bspz_image_writer *writer, const struct bspz_image_block *blocks,
                       uint32_t count, bool pack)
{
    enum bspz_image_coding coding = BSPZ_IMAGE_RAW;
    size_t size = count * sizeof(*blocks), stored_size = size;
    const void *stored = blocks;

    if (count == 0)
        return;
    if (pack)
        stored_size = bspz_encode(&writer->codec, blocks, size, &coding, &stored);
    put_section(writer, BSPZ_IMAGE_BLOCKS, coding, writer->end.blocks, stored, size, stored_size);
    writer->end.blocks += count;
}

/* Tables of blocks are repetitive, and compress to a tenth. */
static void flush_blocks(struct bspz_image_writer *writer)
{
    uint32_t packed = writer->config.compress ? writer->block_count / PACK_UNIT * PACK_UNIT : 0;

    put_blocks(writer, writer->blocks, packed, true);
    put_blocks(writer, writer->blocks + packed, writer->block_count - packed, false);
    writer->block_count = 0;
}

static void flush_hashes(struct bspz_image_writer *writer)
{
    size_t size = writer->hash_count * sizeof(writer->hashes[0]);

    if (writer->hash_count == 0)
        return;
    put_section(writer, BSPZ_IMAGE_HASHES, BSPZ_IMAGE_RAW, writer->end.hashes, writer->hashes, size,
                size);
    writer->end.hashes += writer->hash_count;
    writer->hash_count = 0;
}

static void put_hash(struct bspz_image_writer *writer, const struct bspz_image_hash *hash)
{
    writer->hashes[writer->hash_count++] = *hash;
    if (writer->hash_count == ENTRIES_MAX)
        flush_hashes(writer);
}

/* The present block is complete. */
static void end_block(struct bspz_image_writer *writer)
{
    struct bspz_image_table *next = writer->config.next;

    if (writer->block_units == 0) { /* none, or all its units were of zeros */
        writer->block.where = 0;
        return;
    }
    size_t size = writer->block_units * sizeof(writer->block_hashes[0]);
    bspz_digest_add(&writer->state, writer->block_hashes, size);
    if (next && next->count < next->capacity) {
        next->blocks[next->count] = writer->block;
        memcpy(bspz_image_table_hashes(next) + writer->next_hash, writer->block_hashes, size);
        writer->next_hash += writer->block_units;
    }
    if (next)
        next->count++; /* beyond the capacity: close will make it unusable */
    writer->block_units = 0;
    writer->blocks[writer->block_count++] = writer->block;
    writer->block.where = 0;
    if (writer->block_count == ENTRIES_MAX)
        flush_blocks(writer);
}

/* Goes to the block at `address`, also in the base's table. */
static void begin_block(struct bspz_image_writer *writer, uint64_t address)
{
    const struct bspz_image_table *base = writer->config.base;

    end_block(writer);
    writer->block = (struct bspz_image_block){.where = address};
    writer->base_block = NULL;
    if (!base)
        return;
    uint64_t i = writer->base_next;
    while (i < base->count && bspz_block_address(&base->blocks[i]) < address)
        writer->base_hash += bspz_units_in(bspz_block_mask(&base->blocks[i++]));
    writer->base_next = i;
    if (i < base->count && bspz_block_address(&base->blocks[i]) == address)
        writer->base_block = &base->blocks[i];
}

/* The hash of a unit of the present block in the base; NULL: the base does not have the unit. */
static const struct bspz_image_hash *find_before(const struct bspz_image_writer *writer,
                                                 uint32_t unit)
{
    const struct bspz_image_block *block = writer->base_block;

    if (!block || (bspz_block_mask(block) >> unit & 1) == 0)
        return NULL;
    uint32_t before = bspz_block_mask(block) & ((1u << unit) - 1);
    return bspz_image_table_hashes_of(writer->config.base) + writer->base_hash +
           bspz_units_in(before);
}

/* The hash says so of nearly all that are not. */
static bool is_of_zeros(const struct bspz_image_writer *writer, uint64_t address,
                        const unsigned char *bytes, const struct bspz_image_hash *hash)
{
    return hash->word[0] - address == writer->zeros.word[0] &&
           hash->word[1] == writer->zeros.word[1] && memcmp(bytes, zeros, sizeof zeros) == 0;
}

static void enter_block(struct bspz_image_writer *writer, uint64_t address)
{
    if (writer->block.where == 0 || bspz_block_address(&writer->block) != (address & BLOCK_ADDRESS))
        begin_block(writer, address & BLOCK_ADDRESS);
}

/* Adds a unit of the present block to the tables; `before`: its hash in the base, or NULL.  True:
 * it has to be stored. */
static bool note_unit(struct bspz_image_writer *writer, uint32_t unit,
                      const struct bspz_image_hash *hash, const struct bspz_image_hash *before)
{
    bool store = !before || hash->word[0] != before->word[0] || hash->word[1] != before->word[1];
    uint32_t source =
        store ? writer->config.header.generation : bspz_block_source(writer->base_block, unit);

    writer->block.where |= UINT64_C(1) << unit;
    writer->block.sources |= (uint64_t)source << 4 * unit;
    writer->block_hashes[writer->block_units++] = *hash;
    writer->written.units++;
    writer->written.units_stored += store;
    if (store)
        put_hash(writer, hash);
    return store;
}

/* ---- Data ------------------------------------------------------------------------------------ */

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

static void flush_gathered(struct bspz_image_writer *writer)
{
    if (writer->gathered_size > 0)
        put_record(writer, writer->gathered_address, writer->gathered, writer->gathered_size);
    writer->gathered_size = 0;
}

/* Ends the run: the next unit is not adjacent, or the record is full. */
static void end_run(struct bspz_image_writer *writer)
{
    uint32_t size = writer->run_size;

    writer->run_size = 0;
    if (size == 0)
        return;
    if (size >= RUN_DIRECT || size > BSPZ_IMAGE_RECORD_MAX - writer->gathered_size)
        flush_gathered(writer);
    if (size >= RUN_DIRECT) {
        put_record(writer, writer->run_address, writer->run, size);
        return;
    }
    if (writer->gathered_size == 0)
        writer->gathered_address = writer->run_address;
    memcpy(writer->gathered + writer->gathered_size, writer->run, size);
    writer->gathered_size += size;
}

/* Adds all units of a block to the tables as the base has them.  False: it does not have all. */
static bool take_block(struct bspz_image_writer *writer, uint64_t address)
{
    const struct bspz_image_block *before;

    enter_block(writer, address);
    before = writer->base_block;
    if (!before || bspz_block_mask(before) != WHOLE_BLOCK)
        return false;
    writer->block.where |= WHOLE_BLOCK;
    writer->block.sources = before->sources;
    memcpy(writer->block_hashes,
           bspz_image_table_hashes_of(writer->config.base) + writer->base_hash,
           sizeof writer->block_hashes);
    writer->block_units = BSPZ_IMAGE_BLOCK_UNITS;
    writer->written.units += BSPZ_IMAGE_BLOCK_UNITS;
    writer->written.total_bytes += BSPZ_IMAGE_BLOCK;
    return true;
}

enum data {
    DATA,      /* pages of zeros are stored, too */
    ZEROED,    /* they are left out */
    UNCHANGED, /* the same, and what the base has is as it was */
};

/* Adds the unit to the tables; true: it has to be stored. */
static bool take_unit(struct bspz_image_writer *writer, uint64_t address,
                      const unsigned char *bytes, enum data kind)
{
    uint32_t unit = (uint32_t)(address % BSPZ_IMAGE_BLOCK / BSPZ_IMAGE_UNIT);
    const struct bspz_image_hash *before;
    struct bspz_image_hash hash;

    enter_block(writer, address);
    before = find_before(writer, unit);
    if (kind == UNCHANGED && before) {
        writer->written.total_bytes += BSPZ_IMAGE_UNIT;
        return note_unit(writer, unit, before, before);
    }
    bspz_hash_unit(bytes, address, &hash);
    if (kind != DATA && is_of_zeros(writer, address, bytes, &hash))
        return false;
    writer->written.total_bytes += BSPZ_IMAGE_UNIT;
    return note_unit(writer, unit, &hash, before);
}

static int put_units(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                     size_t length, enum data kind)
{
    const unsigned char *from = bytes;
    uint64_t page = writer->config.header.page_size;

    if (!enter(writer, BSPZ_IMAGE_DATA) || !ascend(writer, address, address + length))
        return writer->error;
    if (address % page != 0 || length % page != 0)
        return fail(writer, -EINVAL);
    for (size_t at = 0; at < length && writer->error == 0; at += BSPZ_IMAGE_UNIT) {
        if (kind == UNCHANGED && (address + at) % BSPZ_IMAGE_BLOCK == 0 &&
            length - at >= BSPZ_IMAGE_BLOCK && take_block(writer, address + at)) {
            end_run(writer);
            at += BSPZ_IMAGE_BLOCK - BSPZ_IMAGE_UNIT;
            continue;
        }
        /* Processors do not look beyond the end of a page by themselves. */
        if (kind != UNCHANGED && at + AHEAD < length)
            __builtin_prefetch(from + at + AHEAD);
        if (!take_unit(writer, address + at, from + at, kind)) {
            end_run(writer);
            continue;
        }
        if (writer->run_size == 0) {
            writer->run = from + at;
            writer->run_address = address + at;
        }
        writer->run_size += BSPZ_IMAGE_UNIT;
        if (writer->run_size == BSPZ_IMAGE_RECORD_MAX)
            end_run(writer);
    }
    end_run(writer); /* its bytes may be gone after this call */
    return writer->error;
}

int bspz_image_data(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                    size_t length)
{
    return put_units(writer, address, bytes, length, DATA);
}

int bspz_image_zeroed(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                      size_t length)
{
    return put_units(writer, address, bytes, length, ZEROED);
}

int bspz_image_unchanged(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                         size_t length)
{
    return put_units(writer, address, bytes, length, UNCHANGED);
}

/* ---- The end --------------------------------------------------------------------------------- */

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
    written->blocks = writer->end.blocks;
}

int bspz_image_writer_close(struct bspz_image_writer *writer, struct bspz_image_written *written)
{
    struct bspz_image_table *next = writer->config.next;
    struct bspz_image_hash state;
    uint64_t digest[2];

    if (!enter(writer, BSPZ_IMAGE_DATA))
        return writer->error;
    flush_gathered(writer);
    end_block(writer);
    bspz_digest_get(&writer->state, state.word);
    put_hash(writer, &state);
    flush_blocks(writer);
    flush_hashes(writer);
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
