/* formatted.c - see formatted.h. */
#include "lib/base/formatted.h"

#include <stdarg.h>
#include <stdio.h>

void bspz_formatted_add(struct bspz_formatted *text, const char *format, ...)
{
    size_t room = text->size - text->used;
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text->at + text->used, room, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    text->cut |= (size_t)length >= room;
    text->used += (size_t)length < room ? (size_t)length : room - 1;
}
