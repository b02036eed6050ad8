/* formatted.h - texts of bounded size that are put together piece by piece. */
#ifndef BSPZ_BASE_FORMATTED_H
#define BSPZ_BASE_FORMATTED_H

#include <stdbool.h>
#include <stddef.h>

/* Begins as {memory, its size, 0, false}, with a zero byte at the beginning of the memory. */
struct bspz_formatted {
    char *at;
    size_t size; /* at least 1 */
    size_t used; /* without the zero byte */
    bool cut;    /* not everything has fitted */
};

/* Appends what fits, with a zero byte behind it. */
void bspz_formatted_add(struct bspz_formatted *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
