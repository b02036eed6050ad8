/* utf8.h - characters of UTF-8. */
#ifndef BSPZ_BASE_UTF8_H
#define BSPZ_BASE_UTF8_H

/* The number of bytes, 1 to 4, of the character at `text`, which ends with a zero byte; 0: invalid,
 * as are overlong forms, surrogates and values beyond U+10FFFF. */
unsigned bspz_utf8_length(const char *text);

#define BSPZ_UTF8_MOST 4

/* The first character of the text, which is not empty, in UTF-8, without a zero byte; a byte that
 * begins none is taken for one of Latin-1.  Moves the text behind it, and returns the number of
 * bytes stored. */
unsigned bspz_utf8_take(const char **text, char character[BSPZ_UTF8_MOST]);

#endif
