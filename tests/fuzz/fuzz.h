/* fuzz.h - what a fuzz target provides.
 *
 * With clang a target becomes a libFuzzer program; with any compiler replay.c runs it over its
 * seeds, damaged copies of them, and the files of corpus/ (inputs that once found something). */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_SEED_MAX 4096u

/* Must come back, whatever the bytes are; aborts when something is not as it must be. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Writes the seed of that number, at most FUZZ_SEED_MAX bytes, and returns its size; 0 when there
 * are no more. */
size_t fuzz_seed(unsigned number, uint8_t *bytes);

/* Like assert, and never compiled out. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
