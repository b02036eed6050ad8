/* error_text.h - a line that says what went wrong, for whoever called. */
#ifndef BSPZ_BASE_ERROR_TEXT_H
#define BSPZ_BASE_ERROR_TEXT_H

#include <stddef.h>

/* Writes the text to error (NULL: not at all), cut to size bytes with the zero byte at its end, and
 * returns status: what a function that fails returns in one line. */
int bspz_error_text(char *error, size_t size, int status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
