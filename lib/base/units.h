/* units.h - times, sizes, rates and numbers as users write them: 20s, 4h, 2G, 17; sizes as users
 * are shown them. */
#ifndef BSPZ_BASE_UNITS_H
#define BSPZ_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BSPZ_SECONDS_UNITS "ms, s, m, h, d"
#define BSPZ_BYTES_UNITS   "k, M, G, T"

/* Parses a number followed directly by a unit: ms, s, m (minutes), h or d (days).  At least 0, no
 * sign.  False: malformed, or too large for a double. */
bool bspz_seconds(const char *text, double *seconds);

/* The same for bytes; k, M, G, T are powers of 1024; without a unit: bytes. */
bool bspz_bytes(const char *text, double *bytes);

/* A whole number from `least` to `most`: digits only.  False: the text is not one, and *number is
 * as it was. */
bool bspz_whole(const char *text, uint64_t least, uint64_t most, uint64_t *number);

/* "1.2 MiB" and the like, for at most 4 digits. */
#define BSPZ_BYTES_TEXT 16u
void bspz_bytes_text(uint64_t bytes, char *text, size_t size);

/* "1.5 s", "3.2 h" and the like; INFINITY: "for ever". */
#define BSPZ_TIME_TEXT 32u
const char *bspz_time_text(double seconds, char text[BSPZ_TIME_TEXT]);

#endif
