/* exact.h - sums of doubles without rounding, rounded once at the end.
 *
 * Addition of doubles depends on the order, hence on the number of processes; addition in a fixed
 * point number wide enough for every double does not (Kulisch and Miranker: "The arithmetic of the
 * digital computer: a new approach", SIAM Review 28, 1986).  The number is kept as 32-bit digits
 * in 64-bit words, so that carries are dealt with only once in 2^30 additions.
 */
#ifndef APPS_COMMON_EXACT_H
#define APPS_COMMON_EXACT_H

#include <stdint.h>

enum { EXACT_DIGITS = 69 };

struct exact {
    int64_t digit[EXACT_DIGITS]; /* digit i counts 2^(32 i - 1074) */
    int64_t additions;           /* since the carries were last propagated */
    double special;              /* sum of the infinities and NaNs, else 0 */
};

/* *sum += value.  An all-zero struct is the number zero. */
void exact_add(struct exact *sum, double value);

/* *sum += x * y, exact unless the product overflows or lies below 2^-968 (4e-292), where it
 * loses digits. */
void exact_add_product(struct exact *sum, double x, double y);

/* The nearest double. */
double exact_round(struct exact *sum);

/* The sum over all processes, rounded; the same on every process.  Collective. */
double exact_total(struct exact *sum);

#endif
