/* codec.h - hashing and coding of bytes for images: the only users of xxhash and lz4.  Internal.
 *
 * No allocation, no errno, no thread-local storage; stack use below 2 KiB (hash states and lz4's
 * tables lie in memory that the caller gives).
 */
#ifndef CKPT_FORMAT_CODEC_H
#define CKPT_FORMAT_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "ckpt/format/layout.h"

/* XXH3. */
uint64_t bspz_hash64(const void *bytes, size_t size, uint64_t seed);
void bspz_hash128(const void *bytes, size_t size, uint64_t seed, uint64_t hash[2]);
/* The hash of the unit at `address`: depends on the address, and costs less than a seed would. */
void bspz_hash_unit(const void *bytes, uint64_t address, struct bspz_image_hash *hash);

/* XXH3-128 in pieces: the same value as bspz_hash128 of all of them. */
struct bspz_digest {
    _Alignas(64) unsigned char state[576];
};
void bspz_digest_start(struct bspz_digest *digest, uint64_t seed);
void bspz_digest_add(struct bspz_digest *digest, const void *bytes, size_t size);
void bspz_digest_get(const struct bspz_digest *digest, uint64_t hash[2]);

#define BSPZ_CODEC_BOUND (BSPZ_IMAGE_RECORD_MAX + BSPZ_IMAGE_RECORD_MAX / 255 + 16)
#define BSPZ_LZ4_STATE   16416u

struct bspz_codec {
    _Alignas(64) unsigned char state[BSPZ_LZ4_STATE];
    _Alignas(64) unsigned char packed[BSPZ_CODEC_BOUND];
    _Alignas(64) unsigned char sorted[BSPZ_IMAGE_RECORD_MAX];
};

/* Codes `size` bytes (whole pages, at most BSPZ_IMAGE_RECORD_MAX) in the way that pays for a sample
 * of them. *stored points to the result, of the returned size, which is in the codec or bytes
 * itself and never larger. */
size_t bspz_encode(struct bspz_codec *codec, const void *bytes, size_t size,
                   enum bspz_image_coding *coding, const void **stored);

/* Decodes into exactly raw_size bytes; sorted: BSPZ_IMAGE_RECORD_MAX bytes of scratch.  Returns -1
 * when the bytes are not a valid coding of that size.  Never writes elsewhere, whatever the
 * input. */
int bspz_decode(enum bspz_image_coding coding, const void *stored, size_t stored_size, void *raw,
                size_t raw_size, void *sorted);

#endif
