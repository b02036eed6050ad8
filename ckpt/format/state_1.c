/* state_1.c - the saved memory in images of version 1; see state.h.
 *
 * The newest image's blocks say for each saved unit which image of the chain holds it, and have one
 * hash for all units of a block.  Each image's records are walked once, in step with the units
 * expected from it: at the end each must have been found, and each block must have its hash.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ckpt/format/reader.h"
#include "ckpt/format/state.h"

#define MASK 0xffffu

/* A walk through the units that are expected from one image. */
struct wanted {
    const struct bspz_image *newest;
    uint32_t source;
    bool all;                  /* a record with other units is an error */
    uint64_t block;            /* index of the present one; newest->end.blocks when none is left */
    uint32_t unit;             /* of that block */
    bool begun;                /* part of the present block has been found */
    struct bspz_digest digest; /* of that part */
    uint64_t region;           /* index: all before it lie below */
    bspz_image_place_function *place; /* NULL: nothing is stored */
    void *context;
};

static const struct bspz_image_block_1 *block_now(const struct wanted *wanted)
{
    return &wanted->newest->blocks_1[wanted->block];
}

static bool done(const struct wanted *wanted)
{
    return wanted->block >= wanted->newest->end.blocks;
}

static uint64_t address_now(const struct wanted *wanted)
{
    return (block_now(wanted)->where & ~(uint64_t)MASK) + wanted->unit * BSPZ_IMAGE_UNIT;
}

/* Goes to the first unit of the next block that comes from this image, from block index on. */
static void enter_block(struct wanted *wanted, uint64_t block)
{
    while (block < wanted->newest->end.blocks &&
           wanted->newest->blocks_1[block].source != wanted->source)
        block++;
    wanted->block = block;
    if (done(wanted))
        return;
    wanted->unit = (uint32_t)__builtin_ctz((uint32_t)(block_now(wanted)->where & MASK));
    wanted->begun = false;
}

/* The number of contiguous wanted bytes from the present address on, within this block. */
static size_t run_in_block(const struct wanted *wanted, size_t limit)
{
    uint32_t mask = (uint32_t)(block_now(wanted)->where & MASK);
    uint32_t unit = wanted->unit;
    size_t run = 0;

    while (run < limit && unit < 16 && (mask >> unit & 1)) {
        run += BSPZ_IMAGE_UNIT;
        unit++;
    }
    return run;
}

/* Takes the decoded bytes of a run within one block. */
static int accept(struct wanted *wanted, const void *bytes, size_t size)
{
    uint64_t where = block_now(wanted)->where, hash[2];
    uint32_t mask = (uint32_t)(where & MASK);

    wanted->unit += (uint32_t)(size / BSPZ_IMAGE_UNIT);
    uint32_t left = wanted->unit < 16 ? mask >> wanted->unit << wanted->unit : 0;
    if (left == 0 && !wanted->begun) {
        bspz_hash128(bytes, size, where, hash);
    } else {
        if (!wanted->begun)
            bspz_digest_start(&wanted->digest, where);
        wanted->begun = true;
        bspz_digest_add(&wanted->digest, bytes, size);
        if (left != 0) {
            wanted->unit = (uint32_t)__builtin_ctz(left);
            return 0;
        }
        bspz_digest_get(&wanted->digest, hash);
    }
    if (memcmp(hash, block_now(wanted)->hash, sizeof(hash)) != 0)
        return -EBADMSG;
    enter_block(wanted, wanted->block + 1);
    return 0;
}

/* ---- Where things go ------------------------------------------------------------------------- */

/* Limits `length` so that the run lies within one region; 0 when it begins in none. */
static size_t within_region(struct wanted *wanted, uint64_t address, size_t length)
{
    const struct bspz_image *newest = wanted->newest;

    while (wanted->region < newest->end.regions) {
        const struct bspz_image_region *region = newest->regions[wanted->region];
        uint64_t end = region->address + region->length;
        if (address < region->address)
            return 0;
        if (address < end)
            return end - address < length ? (size_t)(end - address) : length;
        wanted->region++;
    }
    return 0;
}

/* Copies a wanted run (which may cross blocks and regions) from the decoded record. */
static int deliver(struct wanted *wanted, const unsigned char *bytes, size_t size,
                   const struct bspz_walk *walk, struct bspz_image_fault *fault)
{
    while (size > 0) {
        uint64_t address = address_now(wanted);
        size_t length = within_region(wanted, address, run_in_block(wanted, size));
        if (length == 0)
            return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                                   "data at 0x%" PRIx64 " that belong to no region", address);
        if (wanted->place) {
            void *to = wanted->place(wanted->context, address, length);
            if (!to)
                return bspz_image_fail(fault, -EFAULT, 0, 0, "no place for the data at 0x%" PRIx64,
                                       address);
            memcpy(to, bytes, length);
        }
        if (accept(wanted, bytes, length) < 0)
            return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                                   "the block at 0x%" PRIx64 " is not what it was",
                                   address / BSPZ_IMAGE_BLOCK * BSPZ_IMAGE_BLOCK);
        bytes += length;
        size -= length;
    }
    return 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* The number of contiguous wanted bytes from the wanted unit on, across blocks. */
static size_t run_from_here(const struct wanted *wanted, size_t limit)
{
    struct wanted ahead = {.newest = wanted->newest, .source = wanted->source};
    uint64_t start = address_now(wanted);
    size_t run = 0;

    ahead.block = wanted->block;
    ahead.unit = wanted->unit;
    while (run < limit && !done(&ahead) && address_now(&ahead) == start + run) {
        run += run_in_block(&ahead, limit - run);
        /* The run continues in the next block only if this one is wanted to its end. */
        uint64_t block = ahead.block + 1;
        while (block < ahead.newest->end.blocks &&
               ahead.newest->blocks_1[block].source != ahead.source)
            block++;
        ahead.block = block;
        if (!done(&ahead))
            ahead.unit = (uint32_t)__builtin_ctz((uint32_t)(block_now(&ahead)->where & MASK));
    }
    return run;
}

/* A record that goes to one place as a whole is decoded there directly. */
static int take_directly(struct wanted *wanted, const struct bspz_walk *walk, bool *taken,
                         struct bspz_image_fault *fault)
{
    const struct bspz_image_section *section = &walk->section;
    bspz_image_place_function *place = wanted->place;

    *taken = place && section->where == address_now(wanted) &&
             run_from_here(wanted, section->raw) == section->raw &&
             within_region(wanted, section->where, section->raw) == section->raw;
    if (!*taken)
        return 0;
    void *to = place(wanted->context, section->where, section->raw);
    if (!to)
        return bspz_image_fail(fault, -EFAULT, 0, 0, "no place for the data at 0x%" PRIx64,
                               section->where);
    int status = section->coding == BSPZ_IMAGE_RAW ? bspz_record_read(walk, to, fault)
                                                   : bspz_record_decode(walk, to, fault);
    if (status < 0)
        return status;
    wanted->place = NULL; /* the bytes are in place */
    status = deliver(wanted, to, section->raw, walk, fault);
    wanted->place = place;
    return status;
}

static int take_record(struct wanted *wanted, const struct bspz_walk *walk,
                       struct bspz_image_fault *fault)
{
    struct bspz_reader_scratch *scratch = walk->image->scratch;
    const struct bspz_image_section *section = &walk->section;
    uint64_t at = section->where, end = at + section->raw;
    bool taken;

    if (!wanted->all && (done(wanted) || address_now(wanted) >= end))
        return 0;
    if (!done(wanted)) {
        int status = take_directly(wanted, walk, &taken, fault);
        if (status < 0 || taken)
            return status;
    }
    int status = bspz_record_decode(walk, scratch->raw, fault);
    while (status == 0 && at < end) {
        uint64_t next = done(wanted) ? UINT64_MAX : address_now(wanted);
        if (next < at)
            return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                                   "the data at 0x%" PRIx64 " are missing", next);
        if (wanted->all && next != at)
            return bspz_image_fail(fault, -EBADMSG, walk->offset, walk->next,
                                   "data at 0x%" PRIx64 " that are not in the table of blocks", at);
        if (next >= end)
            break;
        size_t run = run_from_here(wanted, (size_t)(end - next));
        status = deliver(wanted, scratch->raw + (next - section->where), run, walk, fault);
        at = next + run;
    }
    return status;
}

int bspz_state_1_take(const struct bspz_image *newest, const struct bspz_image *image, bool all,
                      bspz_image_place_function *place, void *context,
                      struct bspz_image_fault *fault)
{
    struct wanted wanted = {.newest = newest,
                            .source = image->header.generation,
                            .all = all,
                            .place = place,
                            .context = context};
    struct bspz_walk walk;
    int status;

    enter_block(&wanted, 0);
    bspz_walk_start(&walk, image);
    while ((status = bspz_walk_next(&walk, fault)) > 0) {
        if (walk.section.kind != BSPZ_IMAGE_DATA)
            continue;
        if ((status = take_record(&wanted, &walk, fault)) < 0)
            return status;
    }
    if (status == 0 && !done(&wanted))
        return bspz_image_fail(fault, -EBADMSG, walk.offset, walk.next,
                               "the data at 0x%" PRIx64 " are missing", address_now(&wanted));
    return status;
}
