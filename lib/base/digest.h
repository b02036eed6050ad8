/* digest.h - an incremental hash that identifies a stream of bytes.
 *
 * FNV-1a, 64 bits: the state is the digest, so it can be stored and continued later.  It detects
 * another or an edited file, but not a deliberate collision.  About 1 ns per byte.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define BSPZ_DIGEST_NOTHING UINT64_C(0xcbf29ce484222325) /* the digest of no bytes */
#define BSPZ_DIGEST_UNKNOWN UINT64_C(0)

/* The digest of the former bytes followed by these; an unknown digest stays unknown. */
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
