/* wire_dump.h - a message as one line of text, for traces. */
#ifndef TESTS_UNIT_WIRE_DUMP_H
#define TESTS_UNIT_WIRE_DUMP_H

#include "lib/wire/wire.h"

/* Cut to fit and always terminated.  Never fails. */
void wire_dump(const struct wire_message *message, char *text, size_t size);

#endif
