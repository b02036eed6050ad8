/* digest.h - a number by which a stream of bytes is recognized, made while the bytes go by.
 *
 * FNV-1a, 64 bits: the state is the digest, so it can be written down and continued later.  It finds
 * another file and an edited one; it is no protection against somebody who wants the same number.
 * About 1 ns per byte.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define BSPZ_DIGEST_NOTHING UINT64_C(0xcbf29ce484222325) /* of no bytes */
#define BSPZ_DIGEST_UNKNOWN UINT64_C(0)

/* Of what `digest` is of, and these bytes behind it; the unknown stays unknown. */
static inline uint64_t bspz_digest(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    if (digest == BSPZ_DIGEST_UNKNOWN)
        return digest;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
    return digest;
}

#endif
