/* document.h - structs other than the protocol's messages as msgpack, for files.
 *
 * A document is described by a schema (see schema.h), which its owner makes: an array of its
 * fields, without an envelope.  Magic numbers, versions and checksums are left to the owner.  The
 * same checks, limits and rules of ownership hold as for messages (wire.h): lists and texts of a
 * decoded document lie in *memory, which is freed with wire_document_free.
 */
#ifndef WIRE_DOCUMENT_H
#define WIRE_DOCUMENT_H

#include "lib/wire/wire.h"

struct wire_schema;

/* Appends the body to the buffer, which is left as it was on failure.  Errors as of wire_encode. */
int wire_document_encode(const struct wire_schema *schema, const void *fields,
                         struct bspz_buffer *buffer, char *error, size_t error_size);

/* Reads the body into the struct at fields.  Errors as of wire_decode. */
int wire_document_decode(const struct wire_schema *schema, const void *body, size_t size,
                         void *fields, void **memory, char *error, size_t error_size);

/* Harmless for NULL. */
void wire_document_free(void *memory);

#endif
