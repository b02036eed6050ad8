/* wire_sample.h - a message of any kind with something in every field, made from the table. */
#ifndef WIRE_SAMPLE_H
#define WIRE_SAMPLE_H

#include "lib/wire/schema.h"

/* Fills the message; what it points to is static and the same for the same kind and variant.
 * Variant 0 leaves every field empty, others differ from one another. */
void wire_sample(enum wire_kind kind, unsigned variant, struct wire_message *message);

/* Whether two messages have the same content; *field becomes the first one that differs. */
bool wire_same(const struct wire_message *a, const struct wire_message *b, const char **field);

#endif
