/* error_text.h - one line about an error, for the caller. */
#ifndef BSPZ_BASE_ERROR_TEXT_H
#define BSPZ_BASE_ERROR_TEXT_H

#include <stddef.h>

/* Writes the text to `error` (unless NULL), cut to `size` bytes including the zero byte, and
 * returns `status`, for use in a return statement. */
int bspz_error_text(char *error, size_t size, int status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
