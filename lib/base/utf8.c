/* utf8.c - see utf8.h. */
#include "lib/base/utf8.h"

#include <string.h>

unsigned bspz_utf8_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned length = at[0] < 0x80                     ? 1
                      : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                      : at[0] >= 0xe0 && at[0] <= 0xef ? 3
                      : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                       : 0;

    for (unsigned i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

unsigned bspz_utf8_take(const char **text, char character[BSPZ_UTF8_MOST])
{
    unsigned char byte = (unsigned char)**text;
    unsigned length = bspz_utf8_length(*text);

    if (length > 0) {
        memcpy(character, *text, length);
        *text += length;
        return length;
    }
    character[0] = (char)(0xc0 | byte >> 6);
    character[1] = (char)(0x80 | (byte & 0x3f));
    ++*text;
    return 2;
}
