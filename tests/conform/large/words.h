/* words.h - blocks of gigabytes in which every word knows its place. */
#ifndef CONFORM_LARGE_WORDS_H
#define CONFORM_LARGE_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Different for words that are 2 or 4 GiB apart. */
static inline uint64_t word_at(size_t i)
{
    return (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
}

static inline void words_fill(uint64_t *words, size_t first, size_t bytes)
{
    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = word_at(first + i);
}

static inline void *words_new(size_t bytes)
{
    uint64_t *words = malloc(bytes);

    if (words)
        words_fill(words, 0, bytes);
    return words;
}

static inline bool words_are_right(const void *block, size_t bytes)
{
    const uint64_t *words = block;

    for (size_t i = 0; i < bytes / 8; i++)
        if (words[i] != word_at(i)) {
            printf("word %zu is wrong\n", i);
            return false;
        }
    return true;
}

#endif
