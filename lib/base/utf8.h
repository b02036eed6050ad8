/* utf8.h - characters of UTF-8. */
#ifndef BSPZ_BASE_UTF8_H
#define BSPZ_BASE_UTF8_H

/* The number of bytes, 1 to 4, of the character at `text`, which ends with a zero byte; 0: invalid,
 * as are overlong forms, surrogates and values beyond U+10FFFF. */
unsigned bspz_utf8_length(const char *text);

#endif
