/* copy.c - copying large blocks, past the cache and through it.
 *
 * The lines of an outbox are still in the cache of the rank that read them last.  Plain stores have
 * to acquire their ownership: if cores have separate caches, non-temporal stores are two to three
 * times faster for the whole superstep; if two ranks share a cache they are two times slower.  The
 * speed of a plain copy shows which is the case.
 *
 * The C library copies large blocks by the processor's string instruction.  On many processors that
 * is ten times slower if the target lies slightly above the source modulo 4096 bytes: and large
 * arrays from malloc begin 16 bytes after a page boundary, records of an outbox a little more.
 */
#include "lib/rt/outbox.h"

#ifdef __SSE2__
#include <emmintrin.h>

#define SLOW_DISTANCE 64 /* with a string instruction; safely above the slow distances */

void bspz_copy_cached(void *to, const void *from, uint64_t bytes)
{
    uint64_t distance = ((uintptr_t)to - (uintptr_t)from) & 4095;
    __m128i *out = to;
    const __m128i *in = from;

    if (distance == 0 || distance >= SLOW_DISTANCE) {
        memcpy(to, from, bytes);
        return;
    }
    for (; bytes >= 64; bytes -= 64, in += 4, out += 4) {
        __m128i a = _mm_loadu_si128(in);
        __m128i b = _mm_loadu_si128(in + 1);
        __m128i c = _mm_loadu_si128(in + 2);
        __m128i d = _mm_loadu_si128(in + 3);

        _mm_storeu_si128(out, a);
        _mm_storeu_si128(out + 1, b);
        _mm_storeu_si128(out + 2, c);
        _mm_storeu_si128(out + 3, d);
    }
    memcpy(out, in, bytes);
}

void bspz_copy_streaming(void *to, const void *from, uint64_t bytes)
{
    char *target = to;
    const char *source = from;
    uint64_t head = -(uintptr_t)target & 63;

    if (head > bytes)
        head = bytes;
    memcpy(target, source, head);
    target += head;
    source += head;
    bytes -= head;
    for (; bytes >= 64; bytes -= 64, target += 64, source += 64) {
        const __m128i *in = (const __m128i *)source;
        __m128i *out = (__m128i *)target;
        __m128i a = _mm_loadu_si128(in);
        __m128i b = _mm_loadu_si128(in + 1);
        __m128i c = _mm_loadu_si128(in + 2);
        __m128i d = _mm_loadu_si128(in + 3);

        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    memcpy(target, source, bytes);
    _mm_sfence();
}
#else
void bspz_copy_cached(void *to, const void *from, uint64_t bytes)
{
    memcpy(to, from, bytes);
}

void bspz_copy_streaming(void *to, const void *from, uint64_t bytes)
{
    memcpy(to, from, bytes);
}
#endif

#define PROBE_MINIMUM   (16u << 10) /* a smaller copy is not worth reading the clock twice */
#define PLAIN_PER_NS    12 /* a plain copy with fewer bytes per nanosecond waits for other cores */
#define STREAMED_BLOCKS 64 /* before a plain copy is tried again */

void bspz_copy_block_in(void *to, const void *from, uint64_t bytes)
{
    uint64_t start;

    if (bytes >= BSPZ_STREAM_ALWAYS) {
        bspz_copy_streaming(to, from, bytes);
    } else if (atomic_load_explicit(&bspz_rt.board->spin_ns, memory_order_relaxed) == 0) {
        bspz_copy_cached(to, from, bytes); /* ranks that share cores share the cache */
    } else if (bspz_rt.stream_blocks > 0) {
        bspz_rt.stream_blocks--;
        bspz_copy_streaming(to, from, bytes);
    } else if (bytes < PROBE_MINIMUM) {
        bspz_copy_cached(to, from, bytes);
    } else {
        start = bspz_now_ns();
        bspz_copy_cached(to, from, bytes);
        if (bytes < (bspz_now_ns() - start) * PLAIN_PER_NS)
            bspz_rt.stream_blocks = STREAMED_BLOCKS;
    }
}
