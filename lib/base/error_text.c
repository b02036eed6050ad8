/* error_text.c - see error_text.h. */
#include "lib/base/error_text.h"

#include <stdarg.h>
#include <stdio.h>

int bspz_error_text(char *error, size_t size, int status, const char *format, ...)
{
    if (error) {
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(error, size, format, arguments);
        va_end(arguments);
    }
    return status;
}
