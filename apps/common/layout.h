/* layout.h - who owns what: block distributions and grids of processes.
 *
 * n items over p parts: the first n mod p parts hold one item more than the others, so that empty
 * parts, if any, are the last ones.  The sizes of the parts of a cyclic distribution are the same.
 */
#ifndef APPS_COMMON_LAYOUT_H
#define APPS_COMMON_LAYOUT_H

#include <stdint.h>

static inline int64_t block_size(int64_t n, int parts, int part)
{
    return n / parts + (part < n % parts);
}

static inline int64_t block_first(int64_t n, int parts, int part)
{
    int64_t extra = n % parts;

    return n / parts * part + (part < extra ? part : extra);
}

static inline int block_owner(int64_t n, int parts, int64_t item)
{
    int64_t small = n / parts, extra = n % parts;

    if (item < extra * (small + 1))
        return (int)(item / (small + 1));
    return (int)((item - extra) / small);
}

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The most nearly square factorisation p = rows * cols with rows <= cols. */
static inline void grid_shape(int p, int *rows, int *cols)
{
    *rows = 1;
    for (int r = 2; r <= p / r; r++)
        if (p % r == 0)
            *rows = r;
    *cols = p / *rows;
}

#endif
