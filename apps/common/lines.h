/* lines.h - the lines of a text, or 64-bit keys, as things that have an order. */
#ifndef APPS_COMMON_LINES_H
#define APPS_COMMON_LINES_H

#include <stdint.h>

#include "apps/common/text_files.h"

enum { KEY = 8 }; /* bytes of a key */

/* A line without its end, or a key with the most significant byte first: either way the order is
 * that of the bytes.  Points into a text. */
struct line {
    const unsigned char *at;
    int64_t size;
    uint64_t head; /* the first 8 bytes as a number, which settles most comparisons */
};

struct lines {
    struct line *item; /* to be freed; NULL when there are none */
    int64_t count;
};

struct line line_make(const unsigned char *at, int64_t size);

/* The order of the bytes; of two lines that begin alike the shorter one comes first. */
int line_compare(const struct line *a, const struct line *b);

uint64_t line_hash(const struct line *line);

/* The records of this many bytes of a text or, when record is 0, its lines, each of which has its
 * end.  bsp_abort when memory is out. */
struct lines lines_find(const struct text *text, int64_t record);

/* Turns a little-endian key into bytes in the order of numbers, and back. */
void key_reverse(unsigned char *key);

#endif
