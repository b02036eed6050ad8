/* document.h - structs of other tables than the protocol's, as msgpack: what is kept in files.
 *
 * A document is described by a schema (see schema.h), which its owner makes: an array of its
 * fields, without any envelope.  Marks, versions and checksums are the owner's affair.  The same
 * checks and limits hold as for messages (wire.h), and the same rules for who owns what: lists and
 * texts of a decoded document lie in *memory, which is given back with wire_document_free.
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
