/* sealed.c - small files with a mark, a version and a checksum; see sealed.h. */
#include "ckpt/sealed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/format/codec.h"
#include "ckpt/manifest.h"
#include "lib/base/error_text.h"
#include "lib/wire/schema.h"

#define CHECKED 16u /* bytes before the checksum */

static void put(unsigned char *at, uint64_t number, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        at[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t get(const unsigned char *at, unsigned width)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < width; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

static uint64_t checksum(const unsigned char *header, const void *body, size_t size)
{
    return bspz_hash64(body, size, bspz_hash64(header, CHECKED, 0));
}

int sealed_encode(const struct sealed_kind *kind, const struct wire_schema *schema,
                  const void *fields, struct bspz_buffer *buffer, char *error)
{
    struct bspz_buffer body = {0};

    int status = wire_document_encode(schema, fields, &body, error, MANIFEST_ERROR_SIZE);
    if (status < 0)
        return status;
    if (!bspz_buffer_reserve(buffer, SEALED_HEADER + body.size)) {
        bspz_buffer_free(&body);
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, -ENOMEM, "out of memory");
    }
    unsigned char *header = buffer->data + buffer->size;
    memcpy(header, kind->mark, 8);
    put(header + 8, kind->version, 4);
    put(header + 12, body.size, 4);
    put(header + CHECKED, checksum(header, body.data, body.size), 8);
    memcpy(header + SEALED_HEADER, body.data, body.size);
    buffer->size += SEALED_HEADER + body.size;
    bspz_buffer_free(&body);
    return 0;
}

uint32_t sealed_version(const void *bytes, size_t size)
{
    return size < SEALED_HEADER ? 0 : (uint32_t)get((const unsigned char *)bytes + 8, 4);
}

int sealed_decode(const struct sealed_kind *kind, const struct wire_schema *schema,
                  const void *bytes, size_t size, void *fields, void **memory, char *error)
{
    const unsigned char *header = bytes, *body;

    if (size < SEALED_HEADER || memcmp(header, kind->mark, 8) != 0)
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, -EBADMSG, "not a %s", kind->name);
    body = header + SEALED_HEADER;
    uint64_t version = get(header + 8, 4), length = get(header + 12, 4);
    if (version != kind->version)
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, -EPROTO,
                               "a %s of version %" PRIu64 "; this program reads version %" PRIu32,
                               kind->name, version, kind->version);
    if (length != size - SEALED_HEADER)
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, -EBADMSG,
                               "%s damaged: it has %zu bytes and should have %" PRIu64, kind->name,
                               size, length + SEALED_HEADER);
    if (get(header + CHECKED, 8) != checksum(header, body, length))
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, -EBADMSG, "%s damaged: wrong checksum",
                               kind->name);
    int status =
        wire_document_decode(schema, body, length, fields, memory, error, MANIFEST_ERROR_SIZE);
    return status == -EPROTO || status == -EMSGSIZE ? -EBADMSG : status;
}
