/* The operations on one value per process: bsp_sumI to bsp_maxD_prefix, bsp_any, bsp_all,
 * bsp_constantI, bsp_sortI to bsp_sortC.
 */
#include <math.h>

#include "include/bsp_level1.h"
#include "lib/rt/level1/collective.h"

#define OPERATOR(name, type, expression)                                                           \
    static void name(void *result, void *left, void *right, int *nbytes)                           \
    {                                                                                              \
        type a = *(type *)left, b = *(type *)right;                                                \
        (void)nbytes;                                                                              \
        *(type *)result = (expression);                                                            \
    }

/* Sums and products of int wrap around where they overflow. */
OPERATOR(sum_int, int, (int)((unsigned)a + (unsigned)b))
OPERATOR(sum_float, float, a + b)
OPERATOR(sum_double, double, a + b)
OPERATOR(product_int, int, (int)((unsigned)a *(unsigned)b))
OPERATOR(product_float, float, a *b)
OPERATOR(product_double, double, a *b)
OPERATOR(min_int, int, b < a ? b : a)
OPERATOR(min_float, float, b < a ? b : a)
OPERATOR(min_double, double, b < a ? b : a)
OPERATOR(max_int, int, b > a ? b : a)
OPERATOR(max_float, float, b > a ? b : a)
OPERATOR(max_double, double, b > a ? b : a)
OPERATOR(any_int, int, a || b)
OPERATOR(all_int, int, a &&b)

enum reduction { FOLD, SCAN };

static void reduce(enum bspz_call id, enum reduction reduction, bsp_operator_t op,
                   const void *value, void *result, ptrdiff_t n, int line, const char *file)
{
    struct bspz_collective call = {.id = id,
                                   .function = bspz_call_name(id),
                                   .root = BSPZ_NO_ROOT,
                                   .n = n,
                                   .line = line,
                                   .file = file};
    struct bspz_operator by = {.by_reference = op};

    bspz_collective_begin(&call);
    if (reduction == FOLD)
        bspz_fold(&call, &by, value, result);
    else
        bspz_scan(&call, &by, value, result);
    bspz_collective_end();
}

#define REDUCTION(name, type, op)                                                                  \
    type name##_cpp(type value, int line, const char *file)                                        \
    {                                                                                              \
        type result;                                                                               \
        reduce(BSPZ_IN_##name, FOLD, op, &value, &result, sizeof(type), line, file);               \
        return result;                                                                             \
    }                                                                                              \
    type name##_prefix_cpp(type value, int line, const char *file)                                 \
    {                                                                                              \
        type result;                                                                               \
        reduce(BSPZ_IN_##name##_prefix, SCAN, op, &value, &result, sizeof(type), line, file);      \
        return result;                                                                             \
    }

REDUCTION(bsp_sumI, int, sum_int)
REDUCTION(bsp_sumR, float, sum_float)
REDUCTION(bsp_sumD, double, sum_double)
REDUCTION(bsp_productI, int, product_int)
REDUCTION(bsp_productR, float, product_float)
REDUCTION(bsp_productD, double, product_double)
REDUCTION(bsp_minI, int, min_int)
REDUCTION(bsp_minR, float, min_float)
REDUCTION(bsp_minD, double, min_double)
REDUCTION(bsp_maxI, int, max_int)
REDUCTION(bsp_maxR, float, max_float)
REDUCTION(bsp_maxD, double, max_double)

/* Any value that is not 0 counts as 1, also when there is nothing to combine it with. */
#define TRUTH_REDUCTION(name, reduction, op)                                                       \
    int name##_cpp(int value, int line, const char *file)                                          \
    {                                                                                              \
        int truth = value != 0, result;                                                            \
        reduce(BSPZ_IN_##name, reduction, op, &truth, &result, sizeof(int), line, file);           \
        return result;                                                                             \
    }

TRUTH_REDUCTION(bsp_any, FOLD, any_int)
TRUTH_REDUCTION(bsp_all, FOLD, all_int)
TRUTH_REDUCTION(bsp_any_prefix, SCAN, any_int)
TRUTH_REDUCTION(bsp_all_prefix, SCAN, all_int)

/* A run of values: its first one, and whether all are the same. */
struct constant {
    int value;
    int same;
};

static void join_constants(void *result, void *left, void *right, int *nbytes)
{
    const struct constant *a = left, *b = right;

    (void)nbytes;
    *(struct constant *)result =
        (struct constant){.value = a->value, .same = a->same && b->same && a->value == b->value};
}

int bsp_constantI_cpp(int value, int line, const char *file)
{
    struct constant mine = {.value = value, .same = 1}, result;

    reduce(BSPZ_IN_bsp_constantI, FOLD, join_constants, &mine, &result, sizeof(mine), line, file);
    return result.same;
}

#define ORDER(name, type, expression)                                                              \
    static int name(void *left, void *right, int *nbytes)                                          \
    {                                                                                              \
        type a = *(type *)left, b = *(type *)right;                                                \
        (void)nbytes;                                                                              \
        return (expression);                                                                       \
    }

/* NaN comes last. */
ORDER(before_int, int, a < b)
ORDER(before_float, float, a < b || (isnan(b) && !isnan(a)))
ORDER(before_double, double, a < b || (isnan(b) && !isnan(a)))
ORDER(before_char, char, a < b)

#define SORT(name, type, before)                                                                   \
    type name##_cpp(type value, int line, const char *file)                                        \
    {                                                                                              \
        struct bspz_collective call = {BSPZ_COLLECTIVE(name), .root = BSPZ_NO_ROOT,                \
                                       .n = sizeof(type), .line = line, .file = file};             \
        type result;                                                                               \
        bspz_collective_begin(&call);                                                              \
        bspz_sort(&call, before, &value, &result);                                                 \
        bspz_collective_end();                                                                     \
        return result;                                                                             \
    }

SORT(bsp_sortI, int, before_int)
SORT(bsp_sortR, float, before_float)
SORT(bsp_sortD, double, before_double)
SORT(bsp_sortC, char, before_char)
