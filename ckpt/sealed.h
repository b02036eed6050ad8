/* sealed.h - a document with a mark, a version and a checksum around it: a small file.  Internal.
 *
 *   mark (8 bytes) | version (u32) | length of the body (u32) | checksum (u64) | body
 *
 * Numbers are little-endian.  The checksum is XXH3 of the body, seeded with that of the 16 bytes
 * before it. */
#ifndef CKPT_SEALED_H
#define CKPT_SEALED_H

#include <stddef.h>
#include <stdint.h>

#include "lib/wire/document.h"

#define SEALED_HEADER 24u

struct sealed_kind {
    char mark[9];
    const char *name; /* "manifest" */
    uint32_t version;
};

/* Appends header and body to the buffer, which is left as it was on failure. */
int sealed_encode(const struct sealed_kind *kind, const struct wire_schema *schema,
                  const void *fields, struct bspz_buffer *buffer, char *error);

/* The version in the header, unchecked; 0: the file is too short. */
uint32_t sealed_version(const void *bytes, size_t size);

/* -EBADMSG: no such file, or damaged; -EPROTO: of another version. */
int sealed_decode(const struct sealed_kind *kind, const struct wire_schema *schema,
                  const void *bytes, size_t size, void *fields, void **memory, char *error);

#endif
