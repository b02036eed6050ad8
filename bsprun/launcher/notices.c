/* notices.c - bsprun's own lines on stderr; see notices.h. */
#include "bsprun/launcher/notices.h"

#include <stdarg.h>
#include <stdio.h>

#include "bsprun/launcher/window.h"

#define COLUMNS_UNKNOWN 80u

void notices_clear(struct notices *notices)
{
    if (notices->line_shown)
        fputs("\r\033[K", stderr);
    notices->line_shown = false;
}

void notices_say(struct notices *notices, const char *format, ...)
{
    va_list arguments;

    notices->lines++;
    notices_clear(notices);
    fputs("bsprun: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    fflush(stderr);
}

void notices_progress(struct notices *notices, const char *text)
{
    uint32_t columns = window_look().columns;

    if (!notices->terminal) {
        notices_say(notices, "%s", text);
        return;
    }
    if (notices->within_line)
        return; /* it would erase a prompt, say */
    /* A line that wraps could not be erased; the cursor needs the last column. */
    if (columns <= sizeof "bsprun: ")
        columns = COLUMNS_UNKNOWN;
    fprintf(stderr, "\r\033[Kbsprun: %.*s", (int)(columns - sizeof "bsprun: "), text);
    fflush(stderr);
    notices->line_shown = true;
}
