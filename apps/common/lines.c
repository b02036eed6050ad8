/* lines.c - see lines.h. */
#include "apps/common/lines.h"

#include <stdlib.h>
#include <string.h>

#include <bsp.h>

#include "apps/common/random.h"

struct line line_make(const unsigned char *at, int64_t size)
{
    struct line line = {at, size, 0};

    for (int i = 0; i < 8; i++)
        line.head = line.head << 8 | (i < size ? at[i] : 0);
    return line;
}

int line_compare(const struct line *a, const struct line *b)
{
    int order;

    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    order = memcmp(a->at, b->at, (size_t)(a->size < b->size ? a->size : b->size));
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

uint64_t line_hash(const struct line *line)
{
    uint64_t hash = 0xCBF29CE484222325; /* FNV-1a */

    for (int64_t i = 0; i < line->size; i++)
        hash = (hash ^ line->at[i]) * 0x100000001B3;
    return mix_bits((uint64_t)line->size, hash);
}

struct lines lines_find(const struct text *text, int64_t record)
{
    struct lines lines = {NULL, 0};
    int64_t capacity = 0;

    for (int64_t at = 0; at < text->size;) {
        const unsigned char *begin = text->byte + at;
        int64_t size = record, step = record;

        if (record == 0) {
            const unsigned char *end = memchr(begin, '\n', (size_t)(text->size - at));

            size = end - begin;
            step = size + 1;
        }
        if (lines.count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            lines.item = realloc(lines.item, (size_t)capacity * sizeof *lines.item);
            if (!lines.item)
                bsp_abort("no memory for %lld lines\n", (long long)capacity);
        }
        lines.item[lines.count++] = line_make(begin, size);
        at += step;
    }
    return lines;
}

void key_reverse(unsigned char *key)
{
    uint64_t bits;

    memcpy(&bits, key, KEY);
    bits = __builtin_bswap64(bits);
    memcpy(key, &bits, KEY);
}
