/* errors.c - how the store says what is wrong; see inside.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ckpt/inside.h"

const char *store_error_text(int code)
{
    return code == -EPERM ? "it is not yours, or it is writable by others" : strerror(-code);
}

static void compose(const struct store *store, char *error, const char *ending, const char *format,
                    va_list arguments)
{
    char text[MANIFEST_ERROR_SIZE];

    if (!error)
        return;
    vsnprintf(text, sizeof(text), format, arguments);
    /* Of a long path the beginning is cut, so that the end of the message is kept. */
    int room = (int)(MANIFEST_ERROR_SIZE - 8 - strlen(ending) - strnlen(text, 400));
    int path = (int)strlen(store->path), shown = room < 0 ? 0 : room < path ? room : path;
    snprintf(error, MANIFEST_ERROR_SIZE, "%s%.*s: %.400s%s%s", shown < path ? "..." : "", shown,
             store->path + (path - shown), text, ending[0] ? ": " : "", ending);
}

int store_fail(const struct store *store, int code, char *error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    compose(store, error, "", format, arguments);
    va_end(arguments);
    return code;
}

int store_fail_system(const struct store *store, int code, char *error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    compose(store, error, store_error_text(code), format, arguments);
    va_end(arguments);
    return code;
}
