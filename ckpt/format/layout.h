/* layout.h - the file format of the image of one process, described in doc/formats.md.
 *
 *   header | opaque sections | regions | descriptors | data, blocks and hashes, mixed | end
 *
 * Numbers are little-endian, structs are written as in memory: every member is naturally aligned,
 * and the sizes are asserted below.  Reserved members are zero and checked.
 */
#ifndef CKPT_FORMAT_LAYOUT_H
#define CKPT_FORMAT_LAYOUT_H

#include <stdint.h>

#include "lib/base/exact.h"
#include "lib/base/snapshot.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "images are little-endian; writing them on this machine is not implemented"
#endif

#define BSPZ_IMAGE_MAGIC            "BSPZimg\n"
#define BSPZ_IMAGE_VERSION          2u /* written; version 1 can be read, too */
#define BSPZ_IMAGE_VERSION_BLOCKS   1u /* in which increments compared blocks */
#define BSPZ_IMAGE_JOB_SIZE         16u
#define BSPZ_IMAGE_BUILD_ID_MAX     32u
#define BSPZ_IMAGE_UNIT             4096u  /* what increments compare */
#define BSPZ_IMAGE_BLOCK            65536u /* bytes per entry of the table of blocks */
#define BSPZ_IMAGE_BLOCK_UNITS      16u
#define BSPZ_IMAGE_RECORD_MAX       262144u /* raw bytes of one data record */
#define BSPZ_IMAGE_TABLE_MAX        65536u  /* bytes of one section of a table */
#define BSPZ_IMAGE_OPAQUE_MAX       1048576u
#define BSPZ_IMAGE_OPAQUE_COUNT_MAX 64u /* opaque sections, and their tags */
#define BSPZ_IMAGE_PATH_MAX         4095u
#define BSPZ_IMAGE_REGIONS_MAX      1048576u
#define BSPZ_IMAGE_DESCRIPTORS_MAX  1048576u
#define BSPZ_IMAGE_SECTION_MAGIC    0x7a707362u /* "bspz" */
/* Images in a chain, the full one included: a generation has four bits in the table of blocks. */
#define BSPZ_IMAGE_CHAIN_MAX        16u

enum bspz_image_arch { BSPZ_IMAGE_X86_64 = 1, BSPZ_IMAGE_AARCH64 = 2 };

BSPZ_EXACT_BEGIN

struct bspz_image_header {
    char magic[8];
    uint32_t version;
    uint32_t size; /* of this struct */
    uint8_t job[BSPZ_IMAGE_JOB_SIZE];
    uint64_t superstep;
    uint32_t term;
    uint32_t pid;
    uint32_t nprocs;
    uint32_t generation;         /* 0: a full image; else one more than its base's */
    struct bspz_image_name base; /* zero in a full image */
    uint32_t arch;
    uint32_t page_size;
    uint64_t created;         /* nanoseconds since 1970 */
    uint64_t cpu_features[8]; /* as defined by the capture of that architecture */
    uint64_t vdso_hash[2];
    uint32_t build_id_size;
    uint32_t libbsp_version;                   /* of the code that froze the process */
    uint8_t build_id[BSPZ_IMAGE_BUILD_ID_MAX]; /* of the program */
    uint8_t reserved[88];
    uint64_t hash; /* of everything before it */
};

enum bspz_image_kind {
    BSPZ_IMAGE_OPAQUE = 1, /* where: tag * 2^32 + version; tags ascend */
    BSPZ_IMAGE_REGIONS,    /* where: number of the first entry */
    BSPZ_IMAGE_DESCRIPTORS,
    BSPZ_IMAGE_DATA,   /* where: address of the first byte */
    BSPZ_IMAGE_BLOCKS, /* where: number of the first entry */
    BSPZ_IMAGE_END,
    BSPZ_IMAGE_HASHES, /* where: number of the first entry */
};

enum bspz_image_coding {
    BSPZ_IMAGE_RAW,
    BSPZ_IMAGE_LZ4,
    BSPZ_IMAGE_LZ4_SORTED, /* the bytes of 64-bit words sorted by their place, then lz4 */
    BSPZ_IMAGE_CODING_COUNT
};

/* Before each section's bytes. */
struct bspz_image_section {
    uint32_t magic;
    uint16_t kind;
    uint16_t coding;
    uint32_t sequence; /* 0, 1, ... */
    uint32_t check;    /* of this struct without check and hash */
    uint64_t where;
    uint32_t raw;    /* bytes when decoded */
    uint32_t stored; /* bytes that follow */
    uint64_t hash;   /* of the bytes that follow, seeded with the members above and the header */
};

enum bspz_image_region_kind {
    BSPZ_REGION_ANON = 1, /* private memory */
    BSPZ_REGION_FILE,     /* a file mapped privately, or shared and read-only */
    BSPZ_REGION_HEAP,     /* the memory of brk */
    BSPZ_REGION_STACK,
    BSPZ_REGION_VDSO,
    BSPZ_REGION_SHARED,      /* a shared mapping that only this process has */
    BSPZ_REGION_SHARED_FILE, /* a file mapped shared and writable */
    BSPZ_REGION_COMMON,      /* memory that all processes share: a part of one memfd */
    BSPZ_REGION_KIND_COUNT
};

#define BSPZ_REGION_IS_SHARED    0x0001u
#define BSPZ_REGION_GROWS_DOWN   0x0002u
#define BSPZ_REGION_DONT_FORK    0x0004u
#define BSPZ_REGION_WIPE_ON_FORK 0x0008u
#define BSPZ_REGION_DONT_DUMP    0x0010u
#define BSPZ_REGION_HUGE         0x0020u /* asked for huge pages */
#define BSPZ_REGION_NO_HUGE      0x0040u
#define BSPZ_REGION_LOCKED       0x0080u
#define BSPZ_REGION_NO_RESERVE   0x0100u
#define BSPZ_REGION_MERGEABLE    0x0200u
#define BSPZ_REGION_HUGETLB      0x0400u
#define BSPZ_REGION_FLAGS        0x07ffu

/* One mapping; its path and a NUL follow, then zeros up to a multiple of 8. */
struct bspz_image_region {
    uint64_t address;
    uint64_t length;
    uint64_t offset; /* in the file */
    uint64_t file_size;
    uint64_t device;
    uint64_t inode;
    uint64_t modified;   /* the file's mtime, nanoseconds since 1970; 0 unknown */
    uint32_t protection; /* PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4 */
    uint32_t flags;
    uint32_t kind;
    uint32_t path_size; /* without the NUL; 0: no path */
    uint32_t build_id_size;
    uint32_t reserved;
    uint8_t build_id[BSPZ_IMAGE_BUILD_ID_MAX];
};

enum bspz_image_descriptor_kind {
    BSPZ_DESCRIPTOR_FILE = 1, /* a regular file */
    BSPZ_DESCRIPTOR_DIRECTORY,
    BSPZ_DESCRIPTOR_DEVICE,   /* null, zero, urandom, a terminal: reopened by its path */
    BSPZ_DESCRIPTOR_JOB,      /* the job's own, replaced at a restore */
    BSPZ_DESCRIPTOR_EXCLUDED, /* by the user's rules; reopened if it has a path, else closed */
    BSPZ_DESCRIPTOR_LOST,     /* cannot be restored: reading and writing fail with EIO */
    BSPZ_DESCRIPTOR_KIND_COUNT
};

/* The signal number of fcntl(F_SETSIG), which has no effect on files, marks a shared description:
 * it distinguishes that from others of the same file in all processes. */
#define BSPZ_SHARED_FIRST 35u
#define BSPZ_SHARED_LAST  64u

/* One open file descriptor; path as for regions. */
struct bspz_image_descriptor {
    uint32_t number;
    uint32_t kind;
    uint32_t flags;            /* O_*, of the open file description */
    uint32_t descriptor_flags; /* FD_CLOEXEC */
    uint64_t offset;
    uint64_t size;
    uint64_t device;
    uint64_t inode;
    uint64_t modified; /* as for regions */
    uint32_t mode;     /* file type and permissions */
    uint32_t same_as;  /* the lowest number with the same open file description; number if alone */
    uint32_t shared;   /* 0, or the mark of a description that other processes of the job hold, too:
                          BSPZ_SHARED_FIRST to BSPZ_SHARED_LAST, unique per file */
    uint32_t path_size;
};

/* Which units of 65536 bytes at an aligned address are saved, and in which images of the chain. */
struct bspz_image_block {
    uint64_t where;   /* address + mask in the low 16 bits: bit i for bytes i * 4096 and on */
    uint64_t sources; /* bits 4 * i to 4 * i + 3: generation of the image that holds the unit of bit
                         i of the mask; 0: not saved */
};

/* XXH3-128 of a unit whose bytes this image holds, with its address added to the low half; in the
 * order of those bytes.  The last entry is the XXH3-128 of the hashes of all saved units, including
 * those in other images of the chain, in the order of their addresses. */
struct bspz_image_hash {
    uint64_t word[2];
};

/* Version 1: a block comes from one image as a whole.  Blocks are equal when `where` and `hash`
 * are. */
struct bspz_image_block_1 {
    uint64_t where;
    uint64_t hash[2]; /* XXH3-128 of the saved units one after the other, seeded with where */
    uint32_t source;  /* generation of the image in the chain that holds the bytes */
    uint32_t reserved;
};

struct bspz_image_end {
    uint64_t length;   /* of the whole image */
    uint64_t sections; /* before this one */
    uint64_t regions;
    uint64_t descriptors;
    uint64_t records; /* sections of data */
    uint64_t blocks;
    uint64_t tables;     /* bytes of the opaque sections, regions, descriptors */
    uint64_t raw_bytes;  /* of data */
    uint64_t data_bytes; /* of data, as stored */
    uint64_t hashes;     /* units that this image holds, and one; version 1: zero */
    uint8_t digest[BSPZ_IMAGE_DIGEST_SIZE]; /* XXH3-128 of the header and all sections' structs */
};

BSPZ_EXACT_END

_Static_assert(sizeof(struct bspz_image_name) == 32, "layout");
_Static_assert(sizeof(struct bspz_image_header) == 320, "layout");
_Static_assert(sizeof(struct bspz_image_section) == 40, "layout");
_Static_assert(sizeof(struct bspz_image_region) == 112, "layout");
_Static_assert(sizeof(struct bspz_image_descriptor) == 72, "layout");
_Static_assert(sizeof(struct bspz_image_block) == 16, "layout");
_Static_assert(sizeof(struct bspz_image_hash) == 16, "layout");
_Static_assert(sizeof(struct bspz_image_block_1) == 32, "layout");
_Static_assert(sizeof(struct bspz_image_end) == 96, "layout");

#endif
