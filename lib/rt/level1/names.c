/* The plain names of the collective operations.  They are weak: a program's own functions of these
 * names replace them.  The library does not call them.
 */
#include "include/bsp_level1.h"

#define WEAK __attribute__((__weak__))

/* Names in parentheses are not taken for the macros. */
#define PLAIN_SCALAR(name, type)                                                                   \
    WEAK type(name)(type value)                                                                    \
    {                                                                                              \
        return name##_cpp(value, 0, "unprofiled");                                                 \
    }
BSP_FOR_EACH_SCALAR_(PLAIN_SCALAR)

#define PLAIN_ROOTED(name)                                                                         \
    WEAK void(name)(int root, const void *src, void *dst, int nbytes)                              \
    {                                                                                              \
        name##_cpp(root, src, dst, nbytes, 0, "unprofiled");                                       \
    }
PLAIN_ROOTED(bsp_bcast)
PLAIN_ROOTED(bsp_gather)
PLAIN_ROOTED(bsp_scatter)

#define PLAIN_OPERATION(name, type)                                                                \
    WEAK void(name)(type op, const void *src, void *dst, int nbytes)                               \
    {                                                                                              \
        name##_cpp(op, src, dst, nbytes, 0, "unprofiled");                                         \
    }
PLAIN_OPERATION(bsp_fold, bsp_operator_t)
PLAIN_OPERATION(bsp_scan, bsp_operator_t)
PLAIN_OPERATION(bsp_sort, bsp_order_t)

#define PLAIN_PARAMETER(name, type)                                                                \
    WEAK type(name)(void)                                                                          \
    {                                                                                              \
        return name##_cpp(0, "unprofiled");                                                        \
    }
PLAIN_PARAMETER(bsp_s, double)
PLAIN_PARAMETER(bsp_l, double)
PLAIN_PARAMETER(bsp_g, double)
PLAIN_PARAMETER(bsp_nhalf, int)
