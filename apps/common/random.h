/* random.h - random numbers by counter: the same (seed, stream, index) gives the same number on
 * every process and in any order, so that results do not depend on the number of processes.
 *
 * Philox-4x32 with 10 rounds; Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011.
 */
#ifndef APPS_COMMON_RANDOM_H
#define APPS_COMMON_RANDOM_H

#include <stdint.h>

struct random_words {
    uint32_t word[4];
};

static inline struct random_words random_at(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    struct random_words x = {
        {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};

    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53 * x.word[0], b = (uint64_t)0xCD9E8D57 * x.word[2];

        x = (struct random_words){{(uint32_t)(b >> 32) ^ x.word[1] ^ key0, (uint32_t)b,
                                   (uint32_t)(a >> 32) ^ x.word[3] ^ key1, (uint32_t)a}};
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
    return x;
}

/* 64 random bits. */
static inline uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    struct random_words x = random_at(seed, stream, index);

    return (uint64_t)x.word[1] << 32 | x.word[0];
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double random_unit(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (double)(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

/* A number that changes with every bit of both arguments: the finishing steps of MurmurHash3.
 * Sums of it over (position, content) make checksums that do not depend on the order of summing. */
static inline uint64_t mix_bits(uint64_t position, uint64_t content)
{
    uint64_t z = content + (position + 1) * 0x9E3779B97F4A7C15;

    z = (z ^ z >> 33) * 0xFF51AFD7ED558CCD;
    z = (z ^ z >> 33) * 0xC4CEB9FE1A85EC53;
    return z ^ z >> 33;
}

/* The bits of a double, to put it into a checksum. */
static inline uint64_t double_bits(double value)
{
    union {
        double value;
        uint64_t bits;
    } both = {.value = value};

    return both.bits;
}

#endif
