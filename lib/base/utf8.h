/* utf8.h - characters of UTF-8. */
#ifndef BSPZ_BASE_UTF8_H
#define BSPZ_BASE_UTF8_H

/* The bytes of the character at text, which ends with a zero byte: 1 to 4; 0 when there is none:
 * overlong forms, surrogates and what lies beyond U+10FFFF are none either. */
unsigned bspz_utf8_length(const char *text);

#endif
