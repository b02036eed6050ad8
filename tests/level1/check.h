/* Checks for the test programs: the first one that does not hold ends the job. */
#ifndef TESTS_LEVEL1_CHECK_H
#define TESTS_LEVEL1_CHECK_H

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            bsp_abort("%s:%d: not true: %s", __FILE__, __LINE__, #condition);                      \
    } while (0)

/* A sequence of numbers that every process computes alike. */
static inline unsigned next_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
