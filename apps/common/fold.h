/* fold.h - operators for bsp_fold. */
#ifndef APPS_COMMON_FOLD_H
#define APPS_COMMON_FOLD_H

#include <stddef.h>

/* The sum of two vectors of doubles. */
static inline void add_vectors(double *result, double *left, double *right, int *nbytes)
{
    for (size_t i = 0; i < (size_t)*nbytes / sizeof *result; i++)
        result[i] = left[i] + right[i];
}

#endif
