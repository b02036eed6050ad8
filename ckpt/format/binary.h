/* binary.h - which file it is that a process has mapped: its program, a library, data.
 *
 * ELF files are known by their build id, others by path, size and time of the last change.  Pure:
 * no system calls, no allocation. */
#ifndef CKPT_FORMAT_BINARY_H
#define CKPT_FORMAT_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/format/layout.h"

#define BSPZ_BINARY_START 4096 /* bytes at the beginning of a file that hold headers and notes */

struct bspz_build_id {
    uint32_t size; /* 0: none */
    uint8_t bytes[BSPZ_IMAGE_BUILD_ID_MAX];
};

struct bspz_binary {
    uint64_t size;     /* of the file */
    uint64_t modified; /* nanoseconds since 1970 */
    struct bspz_build_id id;
};

/* The build id in the beginning of an ELF file, `size` bytes of it, aligned to 16. */
void bspz_build_id_find(struct bspz_build_id *id, const void *elf, size_t size);

/* Build ids decide where there are any; else size and time of the last change. */
bool bspz_binary_same(const struct bspz_binary *one, const struct bspz_binary *other);

/* That of a region that maps a file. */
void bspz_binary_of(const struct bspz_image_region *region, struct bspz_binary *binary);

/* The name under which a copy of it is kept: letters, digits and '-'. */
#define BSPZ_BINARY_NAME_BYTES 20u
#define BSPZ_BINARY_NAME       64u
void bspz_binary_name(const struct bspz_binary *binary, const char *path,
                      char name[BSPZ_BINARY_NAME]);

#endif
