/* options_values.c - the values of bsprun's options except for those about hosts and snapshots;
 * messages about invalid values. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/options/options_inside.h"
#include "lib/base/buffer.h"
#include "lib/base/units.h"
#include "lib/shm/board.h"

#define TIMEOUT_MAX 1e9 /* seconds */
#define BYTES_MAX   (UINT64_C(1) << 60)

bool options_wrong(struct options *options, const char *format, ...)
{
    va_list arguments;

    options->action = OPTIONS_ERROR;
    va_start(arguments, format);
    vsnprintf(options->error, sizeof options->error, format, arguments);
    va_end(arguments);
    return false;
}

void options_note(struct options *options, const char *format, ...)
{
    size_t used = strlen(options->note);
    va_list arguments;

    if (used > 0)
        used += (size_t)snprintf(options->note + used, sizeof options->note - used, "; ");
    if (used >= sizeof options->note)
        return;
    va_start(arguments, format);
    vsnprintf(options->note + used, sizeof options->note - used, format, arguments);
    va_end(arguments);
}

bool options_keep_instead(struct options *options, enum option_code code, const char *text,
                          const char *other)
{
    size_t length = strlen(options_name(code));
    char **last = options->kept_count > 0 ? &options->kept[options->kept_count - 1] : NULL, *whole;

    if (!last || strncmp(*last, options_name(code), length) != 0 || (*last)[length] != '=' ||
        strcmp(*last + length + 1, text) != 0)
        return true;
    if (asprintf(&whole, "%s=%s", options_name(code), other) < 0)
        return options_wrong(options, "out of memory");
    free(*last);
    *last = whole;
    return true;
}

bool options_take_processes(struct options *options, const char *source, const char *text)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end == text || *end)
        return options_wrong(options, "%s%.80s is not a number of processes: give 1 to %d", source,
                             text, BSPZ_MAX_PROCS);
    if (errno || value < 1 || value > BSPZ_MAX_PROCS)
        return options_wrong(options, "%s%.80s: the number of processes must be from 1 to %d",
                             source, text, BSPZ_MAX_PROCS);
    options->processes = (int)value;
    return true;
}

bool options_take_timeout(struct options *options, const char *source, const char *text)
{
    char *end;
    double value;

    errno = 0;
    value = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(value) || value * 1e9 < 1 || value > TIMEOUT_MAX)
        return options_wrong(options, "%s%.80s: give a number of seconds greater than 0", source,
                             text);
    options->timeout = value;
    return true;
}

bool options_take_total(struct options *options, const char *source, const char *text)
{
    return bspz_whole(text, 1, UINT64_MAX, &options->total_supersteps) ||
           options_wrong(options, "%s%.80s: give the number of supersteps, at least 1", source,
                         text);
}

bool options_take_report(struct options *options, char **file, const char *source, const char *text)
{
    if (!*text)
        return options_wrong(options, "%s: the name of the file is empty", source);
    if (file == &options->report_page && *text == '-') /* a word of its own */
        return options_wrong(options,
                             "%s%.80s: this is an option; the file comes first, and is ./%.80s if "
                             "that is its name",
                             source, text, text);
    free(*file);
    *file = strdup(text);
    options->report = true;
    return *file || options_wrong(options, "out of memory");
}

bool options_take_bind(struct options *options, const char *source, const char *text)
{
    const char *name = strcmp(text, "socket") == 0 ? "package" : text;

    for (uint32_t bind = WIRE_BIND_DEFAULT + 1; bind < WIRE_BIND_COUNT; bind++)
        if (strcmp(name, wire_bind_text(bind)) == 0) {
            options->bind = (enum wire_bind)bind;
            return true;
        }
    return options_wrong(options, "%s%.80s: give core, hwthread, package (or socket), numa or none",
                         source, text);
}

bool options_take_export(struct options *options, const char *text)
{
    size_t length = strcspn(text, "=");
    const char *value;
    char *assignment;

    if (length == 0)
        return options_wrong(options, "-x %.80s: give a variable, as in -x VAR or -x VAR=value",
                             text);
    value = text[length] ? text + length + 1 : options->lookup(text);
    if (!value)
        return options_wrong(
            options, "-x %.80s: no such variable in the environment; -x %.80s=value sets it", text,
            text);
    if (!BSPZ_GROW(options->exports, (size_t)options->export_count) ||
        asprintf(&assignment, "%.*s=%s", (int)length, text, value) < 0)
        return options_wrong(options, "out of memory");
    options->exports[options->export_count++] = assignment;
    return true;
}

bool options_take_bytes(struct options *options, uint64_t *bytes, const char *source,
                        const char *text, const char *what)
{
    double value;

    if (!bspz_bytes(text, &value) || value < 1 || value > (double)BYTES_MAX)
        return options_wrong(options,
                             "%s%.80s: give %s, with a unit (" BSPZ_BYTES_UNITS ") or none", source,
                             text, what);
    *bytes = (uint64_t)value;
    return true;
}
