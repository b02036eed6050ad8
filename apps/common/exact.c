/* exact.c - sums of doubles without rounding; see exact.h. */
#include "apps/common/exact.h"

#include <math.h>
#include <stdbool.h>

#include <bsp.h>
#include <bsp_level1.h>

enum { LOWEST = -1074, ADDITIONS_BEFORE_CARRY = 1 << 30 };

/* Brings every digit but the last into [0, 2^32). */
static void propagate(struct exact *sum)
{
    int64_t carry = 0;

    for (int i = 0; i < EXACT_DIGITS - 1; i++) {
        int64_t digit = sum->digit[i] + carry;

        carry = digit >> 32;
        sum->digit[i] = digit & 0xFFFFFFFF;
    }
    sum->digit[EXACT_DIGITS - 1] += carry;
    sum->additions = 1;
}

void exact_add(struct exact *sum, double value)
{
    union {
        double value;
        uint64_t bits;
    } both = {.value = value};
    int exponent = (int)(both.bits >> 52 & 0x7FF), position, shift;
    uint64_t mantissa = both.bits & 0xFFFFFFFFFFFFF, low, high;
    int64_t pieces[3];

    if (exponent == 0x7FF) {
        sum->special += value;
        return;
    }
    if (exponent > 0) {
        mantissa |= (uint64_t)1 << 52;
        exponent--; /* subnormals share the exponent of the smallest normal numbers */
    }
    position = exponent / 32;
    shift = exponent % 32;
    low = (mantissa & 0xFFFFFFFF) << shift;
    high = ((mantissa >> 32) << shift) + (low >> 32);
    pieces[0] = (int64_t)(low & 0xFFFFFFFF);
    pieces[1] = (int64_t)(high & 0xFFFFFFFF);
    pieces[2] = (int64_t)(high >> 32);
    for (int i = 0; i < 3; i++)
        sum->digit[position + i] += both.bits >> 63 ? -pieces[i] : pieces[i];
    if (++sum->additions >= ADDITIONS_BEFORE_CARRY)
        propagate(sum);
}

void exact_add_product(struct exact *sum, double x, double y)
{
    double product = x * y;

    exact_add(sum, product);
    if (isfinite(product))
        exact_add(sum, fma(x, y, -product));
}

double exact_round(struct exact *sum)
{
    struct exact magnitude;
    unsigned __int128 head = 0;
    uint64_t leading, rest = 0;
    int top, drop;
    bool negative;

    if (sum->special != 0)
        return sum->special;
    propagate(sum);
    magnitude = *sum;
    negative = sum->digit[EXACT_DIGITS - 1] < 0;
    if (negative) {
        for (int i = 0; i < EXACT_DIGITS; i++)
            magnitude.digit[i] = -magnitude.digit[i];
        propagate(&magnitude);
    }
    for (top = EXACT_DIGITS - 1; top >= 0 && magnitude.digit[top] == 0; top--)
        ;
    if (top < 0)
        return 0;
    /* Three digits hold at least 65 bits; all that lies below only says "a little more". */
    for (int i = top; i > top - 3; i--)
        head = head << 32 | (i >= 0 ? (uint64_t)magnitude.digit[i] : 0);
    for (int i = top - 3; i >= 0; i--)
        rest |= (uint64_t)magnitude.digit[i];
    for (drop = 0; head >> drop >> 64; drop++)
        ;
    leading = (uint64_t)(head >> drop);
    if (rest || head & (((unsigned __int128)1 << drop) - 1))
        leading |= 1;
    return ldexp(negative ? -(double)leading : (double)leading, LOWEST + 32 * (top - 2) + drop);
}

/* *left + *right, as an operator for bsp_fold. */
static void exact_merge(void *result, void *left, void *right, int *nbytes)
{
    struct exact *sum = result;
    const struct exact *a = left, *b = right;

    (void)nbytes;
    for (int i = 0; i < EXACT_DIGITS; i++)
        sum->digit[i] = a->digit[i] + b->digit[i];
    sum->additions = a->additions + b->additions;
    sum->special = a->special + b->special;
}

double exact_total(struct exact *sum)
{
    struct exact total;

    propagate(sum);
    bsp_fold(exact_merge, sum, &total, sizeof total);
    return exact_round(&total);
}
