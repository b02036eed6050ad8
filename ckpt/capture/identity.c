/* identity.c - a hash for the kernel's pages. */
#include "ckpt/capture/identity.h"

#include <string.h>

void bspz_hash_bytes(uint64_t hash[2], const void *bytes, size_t size)
{
    const char *at = bytes;
    uint64_t a = 0x9e3779b97f4a7c15u ^ size, b = 0xc2b2ae3d27d4eb4fu + size;

    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;

        memcpy(&word, at, 8);
        a = (a ^ word) * 0x9fb21c651e98df25u;
        a ^= a >> 32;
        b = (b + word) * 0xd6e8feb86659fd93u;
        b ^= b >> 29;
    }
    hash[0] = a ^ b >> 7;
    hash[1] = b + a;
}
