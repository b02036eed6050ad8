/* check.h - what every conformance program says: which check failed, or that all went well. */
#ifndef CONFORM_CHECK_H
#define CONFORM_CHECK_H

#include <bsp.h>
#include <stdlib.h>
#include <string.h>

static int conform_failures;

/* Goes on after a failure: the superstep structure must stay the same on every process. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("pid %d: line %d: not true: %s\n", bsp_pid(), __LINE__, #condition);            \
            conform_failures++;                                                                    \
        }                                                                                          \
    } while (0)

#define CHECK_INT(value, expected)                                                                 \
    do {                                                                                           \
        long long conform_value = (value), conform_expected = (expected);                          \
        if (conform_value != conform_expected) {                                                   \
            printf("pid %d: line %d: %s is %lld, expected %lld\n", bsp_pid(), __LINE__, #value,    \
                   conform_value, conform_expected);                                               \
            conform_failures++;                                                                    \
        }                                                                                          \
    } while (0)

/* Each process says once, inside the SPMD part, that it saw nothing wrong. */
static inline void conform_done(void)
{
    if (conform_failures == 0)
        printf("pid %d: ok\n", bsp_pid());
}

/* What pid 0 says behind bsp_end. */
static inline int conform_end(void)
{
    if (conform_failures == 0)
        printf("end: ok\n");
    return conform_failures != 0;
}

#endif
