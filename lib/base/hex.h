/* hex.h - bytes as hexadecimal digits. */
#ifndef BSPZ_BASE_HEX_H
#define BSPZ_BASE_HEX_H

#include <stddef.h>

/* Writes two digits (0-9, a-f) for each byte and a final zero byte: 2 * size + 1 bytes of text.
 * Async-signal-safe. */
void bspz_hex(char *text, const void *bytes, size_t size);

#endif
