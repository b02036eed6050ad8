/* codec.c - hashing and coding of bytes for images; see codec.h.
 *
 * lz4 comes from its static archive under names that begin with bspz_ (see take_lz4), because this
 * code becomes part of users' programs, which may bring an lz4 of their own.
 */
#include "ckpt/format/codec.h"

#include <stdbool.h>
#include <string.h>

#define LZ4_compress_fast_extState bspz_LZ4_compress_fast_extState
#define LZ4_decompress_safe        bspz_LZ4_decompress_safe
#include <lz4.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define SLICES      4u /* a sample is this many pieces from all over the record ... */
#define SLICE_SIZE  2048u
#define SAMPLE_SIZE (SLICES * SLICE_SIZE)

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct bspz_digest), "state of XXH3");
_Static_assert(LZ4_STREAM_MINSIZE <= BSPZ_LZ4_STATE, "state of lz4");
_Static_assert(LZ4_COMPRESSBOUND(BSPZ_IMAGE_RECORD_MAX) <= BSPZ_CODEC_BOUND, "bound of lz4");

uint64_t bspz_hash64(const void *bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

void bspz_hash128(const void *bytes, size_t size, uint64_t seed, uint64_t hash[2])
{
    XXH128_hash_t value = XXH3_128bits_withSeed(bytes, size, seed);

    hash[0] = value.low64;
    hash[1] = value.high64;
}

void bspz_hash_unit(const void *bytes, uint64_t address, struct bspz_image_hash *hash)
{
    XXH128_hash_t value = XXH3_128bits(bytes, BSPZ_IMAGE_UNIT);

    hash->word[0] = value.low64 + address;
    hash->word[1] = value.high64;
}

void bspz_digest_start(struct bspz_digest *digest, uint64_t seed)
{
    XXH3_state_t *state = (XXH3_state_t *)digest->state;

    /* Else what the memory holds may pass for the secret of that seed. */
    XXH3_INITSTATE(state);
    XXH3_128bits_reset_withSeed(state, seed);
}

void bspz_digest_add(struct bspz_digest *digest, const void *bytes, size_t size)
{
    XXH3_128bits_update((XXH3_state_t *)digest->state, bytes, size);
}

void bspz_digest_get(const struct bspz_digest *digest, uint64_t hash[2])
{
    XXH128_hash_t value = XXH3_128bits_digest((const XXH3_state_t *)digest->state);

    hash[0] = value.low64;
    hash[1] = value.high64;
}

/* ---- Sorting the bytes of words by their place -------------------------------------------------
 *
 * Neighbouring numbers have similar high bytes: side by side those compress, spread out they do
 * not.
 */

typedef unsigned char bytes16 __attribute__((vector_size(16)));

#define GROUP 16u /* words that are sorted at a time */

/* A perfect shuffle: of 128 bytes, the first half and the second alternate.  The place of byte b of
 * word w has the bits wwwwbbb; each shuffle moves the first bit to the end.
 * Compilers keep it in registers only when told to unroll. */
static inline void shuffle(bytes16 row[8])
{
    bytes16 out[8];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        out[2 * i] = __builtin_shufflevector(row[i], row[i + 4], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                             5, 21, 6, 22, 7, 23);
        out[2 * i + 1] = __builtin_shufflevector(row[i], row[i + 4], 8, 24, 9, 25, 10, 26, 11, 27,
                                                 12, 28, 13, 29, 14, 30, 15, 31);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        row[i] = out[i];
}

static void sort_words(const unsigned char *bytes, unsigned char *sorted, size_t size)
{
    size_t lane = size / 8;

    for (size_t i = 0; i < lane; i += GROUP) {
        bytes16 row[8];
        memcpy(row, bytes + 8 * i, sizeof(row));
#pragma GCC unroll 4
        for (int bit = 0; bit < 4; bit++)
            shuffle(row);
#pragma GCC unroll 8
        for (size_t k = 0; k < 8; k++)
            memcpy(sorted + k * lane + i, &row[k], GROUP);
    }
}

static void unsort_words(const unsigned char *sorted, unsigned char *bytes, size_t size)
{
    size_t lane = size / 8;

    for (size_t i = 0; i < lane; i += GROUP) {
        bytes16 row[8];
#pragma GCC unroll 8
        for (size_t k = 0; k < 8; k++)
            memcpy(&row[k], sorted + k * lane + i, GROUP);
#pragma GCC unroll 3
        for (int bit = 0; bit < 3; bit++)
            shuffle(row);
        memcpy(bytes + 8 * i, row, sizeof(row));
    }
}

/* ---- Coding ---------------------------------------------------------------------------------- */

static size_t pack(struct bspz_codec *codec, const void *bytes, size_t size, size_t room)
{
    return (size_t)LZ4_compress_fast_extState(codec->state, bytes, (char *)codec->packed, (int)size,
                                              (int)room, 1);
}

static enum bspz_image_coding choose(struct bspz_codec *codec, const unsigned char *bytes,
                                     size_t size)
{
    unsigned char *sample = codec->sorted, *sorted = codec->sorted + SAMPLE_SIZE;
    size_t length = size < SAMPLE_SIZE ? size : SAMPLE_SIZE;

    if (size <= SAMPLE_SIZE) {
        memcpy(sample, bytes, size);
    } else {
        /* From the middle of each quarter; multiples of 64, so that words stay aligned. */
        size_t step = size / SLICES / 64 * 64, first = (step - SLICE_SIZE) / 2 / 64 * 64;
        for (size_t i = 0; i < SLICES; i++)
            memcpy(sample + i * SLICE_SIZE, bytes + i * step + first, SLICE_SIZE);
    }
    size_t plain = pack(codec, sample, length, BSPZ_CODEC_BOUND);
    sort_words(sample, sorted, length);
    size_t by_word = pack(codec, sorted, length, BSPZ_CODEC_BOUND);

    /* Sorting costs time, so it must save a fifth; compression at all must save an eighth. */
    bool sort = by_word < plain - plain / 5;
    if ((sort ? by_word : plain) >= length - length / 8)
        return BSPZ_IMAGE_RAW;
    return sort ? BSPZ_IMAGE_LZ4_SORTED : BSPZ_IMAGE_LZ4;
}

size_t bspz_encode(struct bspz_codec *codec, const void *bytes, size_t size,
                   enum bspz_image_coding *coding, const void **stored)
{
    enum bspz_image_coding chosen = choose(codec, bytes, size);
    const void *from = bytes;
    size_t room = size - size / 16, packed = 0;

    if (chosen == BSPZ_IMAGE_LZ4_SORTED) {
        sort_words(bytes, codec->sorted, size);
        from = codec->sorted;
    }
    /* lz4 returns 0 when the result does not fit: then the sample was not representative. */
    if (chosen != BSPZ_IMAGE_RAW)
        packed = pack(codec, from, size, room);
    *coding = packed > 0 ? chosen : BSPZ_IMAGE_RAW;
    *stored = packed > 0 ? codec->packed : bytes;
    return packed > 0 ? packed : size;
}

int bspz_decode(enum bspz_image_coding coding, const void *stored, size_t stored_size, void *raw,
                size_t raw_size, void *sorted)
{
    bool by_word = coding == BSPZ_IMAGE_LZ4_SORTED;

    if (raw_size > BSPZ_IMAGE_RECORD_MAX || stored_size > BSPZ_CODEC_BOUND ||
        (by_word && raw_size % (8 * GROUP) != 0))
        return -1;
    if (coding == BSPZ_IMAGE_RAW) {
        if (stored_size != raw_size)
            return -1;
        if (raw != stored)
            memcpy(raw, stored, raw_size);
        return 0;
    }
    int size = LZ4_decompress_safe(stored, by_word ? sorted : raw, (int)stored_size, (int)raw_size);
    if (size < 0 || (size_t)size != raw_size)
        return -1;
    if (by_word)
        unsort_words(sorted, raw, raw_size);
    return 0;
}
