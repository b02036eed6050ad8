/* binary.h - the identity of a file that a process has mapped: its program, a library, data.
 *
 * ELF files are identified by their build id, others by path, size and time of the last change.
 * Pure: no system calls, no allocation. */
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

/* Finds the build id in the first `size` bytes of an ELF file, aligned to 16. */
void bspz_build_id_find(struct bspz_build_id *id, const void *elf, size_t size);

/* Compares build ids if there are any; else size and time of the last change. */
bool bspz_binary_same(const struct bspz_binary *one, const struct bspz_binary *other);

/* The identity of the file that a region maps. */
void bspz_binary_of(const struct bspz_image_region *region, struct bspz_binary *binary);

/* The file name of a copy: letters, digits and '-'. */
#define BSPZ_BINARY_NAME_BYTES 20u
#define BSPZ_BINARY_NAME       64u
void bspz_binary_name(const struct bspz_binary *binary, const char *path,
                      char name[BSPZ_BINARY_NAME]);

#endif
