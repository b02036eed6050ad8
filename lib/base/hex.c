/* hex.c - see hex.h. */
#include "lib/base/hex.h"

void bspz_hex(char *text, const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++) {
        *text++ = digits[at[i] >> 4];
        *text++ = digits[at[i] & 15];
    }
    *text = '\0';
}
