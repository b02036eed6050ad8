/* image.h - writing and reading the image of one process.
 *
 * Nothing here allocates or does I/O: memory and a function that writes or reads come from the
 * caller.  Functions return 0 or a negative errno value.
 *
 * The writer runs inside a process that is being captured: it needs at most 16 KiB of stack and
 * touches neither errno nor thread-local storage nor libc's stdio and malloc.
 */
#ifndef CKPT_FORMAT_IMAGE_H
#define CKPT_FORMAT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "ckpt/format/layout.h"

/* ---- Blocks ----------------------------------------------------------------------------------*/

static inline uint64_t bspz_block_address(const struct bspz_image_block *block)
{
    return block->where & ~(uint64_t)(BSPZ_IMAGE_BLOCK - 1);
}

/* Bit i: unit i is saved. */
static inline uint32_t bspz_block_mask(const struct bspz_image_block *block)
{
    return (uint32_t)block->where & 0xffffu;
}

static inline uint32_t bspz_block_source(const struct bspz_image_block *block, uint32_t unit)
{
    return (uint32_t)(block->sources >> 4 * unit) & 15u;
}

static inline uint32_t bspz_units_in(uint32_t mask)
{
    mask -= mask >> 1 & 0x5555u;
    mask = (mask & 0x3333u) + (mask >> 2 & 0x3333u);
    mask = (mask + (mask >> 4)) & 0x0f0fu;
    return (mask + (mask >> 8)) & 0x1fu;
}

/* Bit i: unit i is saved, and its bytes are in the image of that generation. */
uint32_t bspz_block_held(const struct bspz_image_block *block, uint32_t generation);

/* ---- The table of pages, kept between snapshots -----------------------------------------------
 *
 * What an increment is compared with.  The caller provides the memory, one table for the image last
 * committed and one for the image being written; where a forked writer fills it, the memory must be
 * shared with it.  The blocks ascend; behind them lie the hashes of all saved units in the same
 * order.  Cost: 272 bytes for each 64 KiB, 0.4 %. */
struct bspz_image_table {
    struct bspz_image_name image; /* the image it describes; set when that is complete */
    uint32_t generation;          /* of that image */
    uint32_t usable; /* 1: complete; 0: unfinished, or there were more blocks than room */
    uint64_t count;
    uint64_t capacity;
    struct bspz_image_block blocks[];
};

#define BSPZ_IMAGE_TABLE_ENTRY                                                                     \
    (sizeof(struct bspz_image_block) + BSPZ_IMAGE_BLOCK_UNITS * sizeof(struct bspz_image_hash))

/* The bytes that a table for `capacity` blocks takes. */
static inline size_t bspz_image_table_size(uint64_t capacity)
{
    return sizeof(struct bspz_image_table) + capacity * BSPZ_IMAGE_TABLE_ENTRY;
}

static inline struct bspz_image_hash *bspz_image_table_hashes(struct bspz_image_table *table)
{
    return (struct bspz_image_hash *)(table->blocks + table->capacity);
}

static inline const struct bspz_image_hash *
bspz_image_table_hashes_of(const struct bspz_image_table *table)
{
    return (const struct bspz_image_hash *)(table->blocks + table->capacity);
}

/* The most blocks that a run of pages can touch: for sizing a table. */
static inline uint64_t bspz_image_blocks_in(uint64_t address, uint64_t length)
{
    return length == 0 ? 0
                       : (address + length - 1) / BSPZ_IMAGE_BLOCK - address / BSPZ_IMAGE_BLOCK + 1;
}

/* ---- Writing ----------------------------------------------------------------------------------
 *
 *   open; opaque (by ascending tag) ...; region (by ascending address) ...;
 *   descriptor (by ascending number) ...; data (by ascending address) ...; close
 *
 * A call out of this order is -EINVAL.  After a failure every further call returns the same error.
 */

struct bspz_image_writer; /* lies in the scratch memory */

#define BSPZ_IMAGE_WRITER_SCRATCH 1048576u

/* Writes all the bytes: 0 or a negative errno value. */
typedef int bspz_image_write_function(void *context, const void *bytes, size_t size);

struct bspz_image_config {
    bspz_image_write_function *write;
    void *context;
    /* magic, version, size, generation, base and hash are filled in by open. */
    struct bspz_image_header header;
    /* The table of the base of an increment; NULL: write a full image.  -EINVAL when it is not
     * usable or the chain would become too long (see bspz_image_may_extend). */
    const struct bspz_image_table *base;
    struct bspz_image_table
        *next;     /* filled while writing, for the next increment; NULL: not needed */
    bool compress; /* false: store everything as it is */
};

struct bspz_image_written {
    struct bspz_image_name name; /* with the digest for the manifest */
    uint64_t length;
    uint64_t raw_bytes;   /* given to bspz_image_data and stored */
    uint64_t total_bytes; /* given to bspz_image_data, or not of zeros to bspz_image_zeroed */
    uint64_t blocks;
    uint64_t units; /* saved in this image or its bases */
    uint64_t units_stored;
};

/* scratch: BSPZ_IMAGE_WRITER_SCRATCH bytes, aligned to 64; in use until the image is closed. */
int bspz_image_writer_open(struct bspz_image_writer **writer, void *scratch,
                           const struct bspz_image_config *config);

/* Opaque data of the capture; tags are 1 to BSPZ_IMAGE_OPAQUE_COUNT_MAX, tag 1 is the thread's
 * state, tag 2 what is left free, tag 3 the signals that wait, tag 4 the attributes.  At most
 * BSPZ_IMAGE_OPAQUE_MAX bytes; the version is the caller's. */
#define BSPZ_IMAGE_TAG_THREAD     1u
#define BSPZ_IMAGE_TAG_APART      2u /* address ranges that must be free: pairs of uint64_t */
#define BSPZ_IMAGE_TAG_PENDING    3u /* struct bspz_pending of ckpt/capture */
#define BSPZ_IMAGE_TAG_ATTRIBUTES 4u /* struct bspz_attributes of ckpt/capture */
int bspz_image_opaque(struct bspz_image_writer *writer, uint32_t tag, uint32_t version,
                      const void *bytes, size_t size);

/* path may be NULL; region->path_size is set from path. */
int bspz_image_region(struct bspz_image_writer *writer, const struct bspz_image_region *region,
                      const char *path);
int bspz_image_descriptor(struct bspz_image_writer *writer,
                          const struct bspz_image_descriptor *descriptor, const char *path);

/* Saves a run of whole pages that lies within one region (any length).  `bytes` is where they can
 * be read now, `address` where they belong; neither is referred to after the call.  Pages that are
 * not given are not part of the image: restoring leaves them as the region's mapping makes them. */
int bspz_image_data(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                    size_t length);
/* The same where the region's mapping reads as zero: pages of zeros are as if they were not given.
 */
int bspz_image_zeroed(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                      size_t length);

/* The same of pages that are as they were when the base was written: those that the base has are
 * not looked at. */
int bspz_image_unchanged(struct bspz_image_writer *writer, uint64_t address, const void *bytes,
                         size_t length);

/* Ends the image; written may be NULL.  next is usable from now on. */
int bspz_image_writer_close(struct bspz_image_writer *writer, struct bspz_image_written *written);

/* Whether an increment on the image that this table describes is possible.  NULL: no. */
bool bspz_image_may_extend(const struct bspz_image_table *table);

/* ---- Reading ----------------------------------------------------------------------------------
 *
 * Runs in an ordinary process and may use libc.  Every byte is checked by a hash before it is
 * believed, and every number against its limits. */

/* Reads exactly size bytes at offset: 0 or a negative errno value. */
typedef int bspz_image_read_function(void *context, uint64_t offset, void *bytes, size_t size);

/* Reads at offset what fills the places, one after the other: 0 or a negative errno value. */
typedef int bspz_image_scatter_function(void *context, uint64_t offset, const struct iovec *places,
                                        uint32_t count);

struct bspz_image_source {
    bspz_image_read_function *read;
    bspz_image_scatter_function *scatter; /* NULL: each place is read by itself */
    void *context;
    uint64_t size;
};

/* A fault: in bytes first to end - 1 of the image (both 0 when no bytes are at fault), and one line
 * without newline. */
struct bspz_image_fault {
    uint64_t first;
    uint64_t end;
    char text[256];
};

#define BSPZ_IMAGE_READER_SCRATCH 2097152u

struct bspz_image {
    struct bspz_image_source source;
    struct bspz_image_header header;
    struct bspz_image_end end;
    struct bspz_image_name name;
    void *scratch;
    /* After bspz_image_load, in its memory: */
    const struct bspz_image_region **regions; /* end.regions of them, ascending */
    const struct bspz_image_descriptor **descriptors;
    const struct bspz_image_block *blocks; /* end.blocks of them */
    const struct bspz_image_hash *hashes;  /* end.hashes of them */
    const struct bspz_image_block_1
        *blocks_1;      /* of version 1: what `blocks` was made of; or NULL */
    const void *opaque; /* sections one after the other: bspz_image_find */
    size_t opaque_size;
};

/* What an image must be; members that are zero are ignored. */
struct bspz_image_expected {
    const uint8_t *job; /* BSPZ_IMAGE_JOB_SIZE bytes, or NULL */
    const struct bspz_image_name *name;
    uint32_t nprocs;
    uint32_t arch;
    uint32_t page_size;
    uint32_t build_id_size;
    const uint8_t *build_id;
};

/* Reads header and end.  scratch: BSPZ_IMAGE_READER_SCRATCH bytes, aligned to 64; images may share
 * it, as its contents do not outlive a call.  -EBADMSG: damaged or no image; -EPROTO: of another
 * version; else the error of `read`. */
int bspz_image_open(struct bspz_image *image, const struct bspz_image_source *source, void *scratch,
                    struct bspz_image_fault *fault);

/* -ESTALE when the image is not the expected one; the fault names the first difference. */
int bspz_image_expect(const struct bspz_image *image, const struct bspz_image_expected *expected,
                      struct bspz_image_fault *fault);

/* The bytes that bspz_image_load needs, aligned to 16. */
size_t bspz_image_memory(const struct bspz_image *image);

/* Reads and checks everything but the data: the tables and the structs of all sections. */
int bspz_image_load(struct bspz_image *image, void *memory, struct bspz_image_fault *fault);
/* The same without blocks and hashes, which are not to be used then: of an image of many pages it
 * reads only the beginning, and what is damaged behind that is not noticed. */
int bspz_image_load_front(struct bspz_image *image, void *memory, struct bspz_image_fault *fault);

/* The path of a region; NULL: it has none. */
static inline const char *bspz_image_region_path(const struct bspz_image_region *region)
{
    return (const char *)(region + 1);
}
static inline const char *bspz_image_descriptor_path(const struct bspz_image_descriptor *descriptor)
{
    return (const char *)(descriptor + 1);
}
/* The bytes of an opaque section (aligned to 8), or NULL. */
const void *bspz_image_find(const struct bspz_image *image, uint32_t tag, uint32_t *version,
                            size_t *size);

/* Checks a loaded image completely: every byte, every record decoded, every page's hash.  Does not
 * need its base. */
int bspz_image_verify(const struct bspz_image *image, struct bspz_image_fault *fault);

/* Returns where the bytes for `address`, which lie within one region, are to be put.  A place is in
 * use until places for BSPZ_IMAGE_RECORD_MAX more bytes have been returned.  NULL: -EFAULT. */
typedef void *bspz_image_place_function(void *context, uint64_t address, size_t length);

/* Decodes the state that chain[0] describes; chain[1] is its base and so on up to the full image,
 * all loaded.  Every saved page is put in its place, and a page that an older image has, too,
 * possibly more than once, the right one last.  The result may only be used after a return of 0,
 * since whether pages are missing is known only at the end.  fault_index tells which image of the
 * chain was at fault; -ESTALE: the base is missing or another image. */
int bspz_image_decode(struct bspz_image *const *chain, uint32_t count,
                      bspz_image_place_function *place, void *context, uint32_t *fault_index,
                      struct bspz_image_fault *fault);

/* For memory that holds the state of an image and is to become that of a newer one. */
struct bspz_image_changes {
    bspz_image_place_function *place; /* as for bspz_image_decode */
    /* The bytes are as they were in the older state. 0 or a negative errno. */
    int (*keep)(void *context, uint64_t address, size_t length);
    /* The bytes were saved in the older state and are not in the newer one: they become what the
     * region's mapping makes them. 0 or a negative errno. */
    int (*drop)(void *context, uint64_t address, size_t length);
    void *context;
};

/* Calls for everything that differs, and keep for all other pages, given the state of chain[base]:
 * first drop and keep, ascending by blocks, then place.  The images from chain[base] on were
 * checked when they were decoded; those before are checked now.  As bspz_image_decode otherwise;
 * -EINVAL: base is 0 or count or more; -EPROTO: images of version 1.  Cost: that of the images
 * before chain[base], and 20 ns per page of memory. */
int bspz_image_advance(struct bspz_image *const *chain, uint32_t count, uint32_t base,
                       const struct bspz_image_changes *changes, uint32_t *fault_index,
                       struct bspz_image_fault *fault);

/* Fills a table from a loaded chain, for the next increment of a restored process and for bspckpt
 * diff.  `usable` is 0 when the table is too small; -ESTALE when the images are not a chain,
 * -EBADMSG when it lacks a page, -EPROTO when it is of version 1, which has no hashes of pages. */
int bspz_image_table_from(struct bspz_image_table *table, struct bspz_image *const *chain,
                          uint32_t count, struct bspz_image_fault *fault);

#endif
