/* notices.c - bsprun's own lines on stderr; see notices.h. */
#include "bsprun/launcher/notices.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bsprun/launcher/window.h"

#define COLUMNS_UNKNOWN 80u
#define ERASE           "\r\033[K"

void notices_clear(struct notices *notices)
{
    if (notices->line_shown)
        fputs(ERASE, stderr);
    notices->line_shown = false;
}

/* A pipe that has no room holds up whoever writes to it until somebody reads. */
static bool has_room(void)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};

    return poll(&out, 1, 0) != 0;
}

/* In one piece: processes may write to the same terminal.  stderr has no buffer, so what is one
 * string is one write. */
void notices_say(struct notices *notices, const char *format, ...)
{
    char *text, *line;
    va_list arguments;

    notices->lines++;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (asprintf(&line, "%sbsprun: %s\n", notices->line_shown ? ERASE : "",
                 text ? text : "out of memory") < 0)
        line = NULL;
    notices->line_shown = false;
    if (!notices->hurries || has_room())
        fputs(line ? line : "bsprun: out of memory\n", stderr);
    free(line);
    free(text);
}

void notices_say_once(struct notices *notices, uint64_t term, uint64_t once, const char *text)
{
    unsigned next = notices->shown_count % NOTICES_ONCE;

    for (unsigned i = 0; i < NOTICES_ONCE; i++)
        if (notices->shown[i].once == once && notices->shown[i].term == term)
            return;
    notices->shown[next].term = term;
    notices->shown[next].once = once;
    notices->shown_count++;
    notices_say(notices, "%s", text);
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
    fprintf(stderr, ERASE "bsprun: %.*s", (int)(columns - sizeof "bsprun: "), text);
    notices->line_shown = true;
}
