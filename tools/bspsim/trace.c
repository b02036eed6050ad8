/* trace.c - failure traces; see trace.h. */
#include "tools/bspsim/trace.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/digest.h"

#define NAME_MAX_SIZE 255
#define COLUMNS_MAX   64
#define NAMES         (2u * TRACE_HOSTS_MAX) /* size of the hash table of names, a power of two */

enum column { COLUMN_HOST, COLUMN_UP, COLUMN_DOWN, COLUMNS };

static const char *const column_names[COLUMNS] = {"host", "up", "down"};

struct field {
    const char *text;
    size_t length;
};

struct reading {
    const char *file, *hosts;
    struct trace *trace;
    char *error;
    uint32_t line;
    int places[COLUMNS], widest; /* field number of each column */
    bool has_header;
    uint32_t *table;     /* of names: index + 1, by digest */
    double *ups, *downs; /* of the lives, in seconds as in the file; down < 0: none */
};

static bool wrong(struct reading *reading, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool wrong(struct reading *reading, uint32_t line, const char *format, ...)
{
    char text[TRACE_ERROR - 128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (line > 0)
        snprintf(reading->error, TRACE_ERROR, "%.100s:%u: %s", reading->file, line, text);
    else
        snprintf(reading->error, TRACE_ERROR, "%.100s: %s", reading->file, text);
    return false;
}

/* ---- Lines and fields --------------------------------------------------------------------- */

static struct field trimmed(const char *text, size_t length)
{
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        length--;
    while (length > 0 && strchr(" \t", *text)) {
        text++;
        length--;
    }
    return (struct field){text, length};
}

/* Splits a line.  Returns the number of fields; excess ones are counted and not stored. */
static int split(struct field line, struct field fields[COLUMNS_MAX])
{
    const char *end = line.text + line.length;
    int count = 0;
    for (const char *at = line.text;; at++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (!comma)
            comma = end;
        if (count < COLUMNS_MAX)
            fields[count] = trimmed(at, (size_t)(comma - at));
        count++;
        at = comma;
        if (at == end)
            return count;
    }
}

static bool is(struct field field, const char *word)
{
    return field.length == strlen(word) && memcmp(field.text, word, field.length) == 0;
}

static bool take_header(struct reading *reading, const struct field *fields, int count)
{
    reading->widest = 0;
    for (int column = 0; column < COLUMNS; column++) {
        int place = 0, found = -1;
        for (; place < count && place < COLUMNS_MAX; place++)
            if (is(fields[place], column_names[column])) {
                if (found >= 0)
                    return wrong(reading, reading->line, "the column %s is named twice",
                                 column_names[column]);
                found = place;
            }
        if (found < 0)
            return wrong(reading, reading->line,
                         "there is no column %s: the first line names the columns, which are "
                         "host,up,down",
                         column_names[column]);
        reading->places[column] = found;
        if (found > reading->widest)
            reading->widest = found;
    }
    reading->has_header = true;
    return true;
}

/* ---- Hosts -------------------------------------------------------------------------------- */

static bool is_in_list(const char *list, struct field name)
{
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strcspn(at, ",") == name.length && memcmp(at, name.text, name.length) == 0)
            return true;
    return false;
}

static uint64_t digest_of(struct field name)
{
    uint64_t digest = bspz_digest(BSPZ_DIGEST_NOTHING, name.text, name.length);
    return digest ^ digest >> 29;
}

static bool add_host(struct reading *reading, struct field name, uint32_t *place)
{
    struct trace *trace = reading->trace;
    if (trace->host_count == TRACE_HOSTS_MAX)
        return wrong(reading, reading->line, "more than %u hosts", TRACE_HOSTS_MAX);
    char *copy = strndup(name.text, name.length);
    if (!copy || !BSPZ_GROW(trace->names, trace->host_count)) {
        free(copy);
        return wrong(reading, 0, "out of memory");
    }
    trace->names[trace->host_count] = copy;
    *place = ++trace->host_count;
    return true;
}

static bool is_name(struct reading *reading, struct field name)
{
    if (name.length == 0 || name.length > NAME_MAX_SIZE)
        return wrong(reading, reading->line, "the name of the host is %s",
                     name.length == 0 ? "empty" : "too long");
    if (memchr(name.text, '"', name.length))
        return wrong(reading, reading->line, "quotes are not supported: host,up,down");
    return true;
}

static bool find_host(struct reading *reading, struct field name, uint32_t *host)
{
    uint64_t place = digest_of(name) & (NAMES - 1);
    for (; reading->table[place]; place = (place + 1) & (NAMES - 1)) {
        *host = reading->table[place] - 1;
        if (is(name, reading->trace->names[*host]))
            return true;
    }
    if (!add_host(reading, name, &reading->table[place]))
        return false;
    *host = reading->table[place] - 1;
    return true;
}

/* ---- Lives -------------------------------------------------------------------------------- */

static bool take_seconds(struct reading *reading, enum column column, struct field field,
                         double *seconds)
{
    char text[64], *end;
    if (field.length >= sizeof(text))
        return wrong(reading, reading->line, "%s is not a number of seconds", column_names[column]);
    memcpy(text, field.text, field.length);
    text[field.length] = '\0';
    *seconds = strtod(text, &end);
    if (end == text || *end || !isfinite(*seconds))
        return wrong(reading, reading->line, "%s is not a number of seconds: \"%s\"",
                     column_names[column], text);
    if (fabs(*seconds) > TRACE_SECONDS_MAX)
        return wrong(reading, reading->line, "%s is more than %g seconds: %s", column_names[column],
                     TRACE_SECONDS_MAX, text);
    return true;
}

static bool make_room(struct reading *reading)
{
    struct trace *trace = reading->trace;
    uint32_t count = trace->life_count;
    if (count == TRACE_LIVES_MAX)
        return wrong(reading, reading->line, "more than %u lives", TRACE_LIVES_MAX);
    if (!BSPZ_GROW(trace->lives, count) || !BSPZ_GROW(reading->ups, count) ||
        !BSPZ_GROW(reading->downs, count))
        return wrong(reading, 0, "out of memory");
    return true;
}

static bool take_life(struct reading *reading, const struct field *fields, int count)
{
    struct trace *trace = reading->trace;
    struct trace_life life = {.line = reading->line};
    double up, down;
    if (count <= reading->widest)
        return wrong(reading, reading->line, "%d column%s, there should be %d", count,
                     count == 1 ? "" : "s", reading->widest + 1);
    struct field last = fields[reading->places[COLUMN_DOWN]];
    struct field name = fields[reading->places[COLUMN_HOST]];
    if (!is_name(reading, name))
        return false;
    if (reading->hosts && !is_in_list(reading->hosts, name))
        return true;
    if (!find_host(reading, name, &life.host) ||
        !take_seconds(reading, COLUMN_UP, fields[reading->places[COLUMN_UP]], &up) ||
        (last.length > 0 && !take_seconds(reading, COLUMN_DOWN, last, &down)) ||
        !make_room(reading))
        return false;
    if (last.length > 0 && down <= up)
        return wrong(reading, reading->line, "host %s goes down (%.12g) before it is up (%.12g)",
                     trace->names[life.host], down, up);
    life.up_ns = trace->life_count; /* for now its index in ups and downs */
    reading->ups[trace->life_count] = up;
    reading->downs[trace->life_count] = last.length > 0 ? down : INFINITY;
    trace->lives[trace->life_count++] = life;
    return true;
}

static bool take_line(struct reading *reading, struct field line)
{
    struct field fields[COLUMNS_MAX];
    if (line.length == 0 || line.text[0] == '#')
        return true;
    if (memchr(line.text, '\0', line.length))
        return wrong(reading, reading->line, "a byte of value 0: this is not text");
    int count = split(line, fields);
    return reading->has_header ? take_life(reading, fields, count)
                               : take_header(reading, fields, count);
}

/* ---- Order -------------------------------------------------------------------------------- */

static int by_host_and_time(const void *a, const void *b)
{
    const struct trace_life *left = a, *right = b;
    if (left->host != right->host)
        return left->host < right->host ? -1 : 1;
    if (left->up_ns != right->up_ns)
        return left->up_ns < right->up_ns ? -1 : 1;
    return left->line < right->line ? -1 : left->line > right->line;
}

/* Converts the seconds of the file to nanoseconds since the earliest. */
static void count_from_earliest(struct reading *reading)
{
    struct trace *trace = reading->trace;
    double earliest = INFINITY;
    for (uint32_t i = 0; i < trace->life_count; i++)
        earliest = fmin(earliest, reading->ups[i]);
    for (uint32_t i = 0; i < trace->life_count; i++) {
        struct trace_life *life = &trace->lives[i];
        double up = reading->ups[i] - earliest, down = reading->downs[i] - earliest;
        life->up_ns = (uint64_t)llround(up * 1e9);
        life->down_ns = isfinite(down) ? (uint64_t)llround(down * 1e9) : TRACE_FOR_EVER;
        if (life->down_ns <= life->up_ns)
            life->down_ns = life->up_ns + 1;
    }
}

static bool put_in_order(struct reading *reading)
{
    struct trace *trace = reading->trace;
    count_from_earliest(reading);
    qsort(trace->lives, trace->life_count, sizeof(*trace->lives), by_host_and_time);
    for (uint32_t i = 1; i < trace->life_count; i++) {
        const struct trace_life *life = &trace->lives[i], *before = life - 1;
        if (life->host == before->host && life->up_ns < before->down_ns)
            return wrong(reading, life->line,
                         "two lives of host %s overlap: it is up here before the life of line %u "
                         "has ended",
                         trace->names[life->host], before->line);
    }
    trace->first = calloc((size_t)trace->host_count + 1, sizeof(*trace->first));
    if (!trace->first)
        return wrong(reading, 0, "out of memory");
    for (uint32_t i = 0; i < trace->life_count; i++)
        trace->first[trace->lives[i].host + 1] = i + 1;
    return true;
}

/* False: --hosts names a host that the trace lacks. */
static bool has_all_hosts(struct reading *reading)
{
    for (const char *at = reading->hosts; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        struct field name = {at, strcspn(at, ",")};
        bool found = false;
        for (uint32_t i = 0; i < reading->trace->host_count && !found; i++)
            found = is(name, reading->trace->names[i]);
        if (!found)
            return wrong(reading, 0, "there is no host %.*s, which --hosts names", (int)name.length,
                         name.text);
    }
    return true;
}

static bool read_all(struct reading *reading, const char *text)
{
    for (const char *line = text; *line;) {
        const char *newline = strchr(line, '\n');
        size_t length = newline ? (size_t)(newline - line) : strlen(line);
        reading->line++;
        if (!take_line(reading, trimmed(line, length)))
            return false;
        line += length + (newline != NULL);
    }
    if (!reading->has_header)
        return wrong(reading, 0, "empty: the first line names the columns host,up,down");
    if (!has_all_hosts(reading))
        return false;
    if (reading->trace->life_count == 0)
        return wrong(reading, 0, "it contains no life of a host");
    return put_in_order(reading);
}

bool trace_parse(const char *file, const char *text, const char *hosts, struct trace *trace,
                 char error[TRACE_ERROR])
{
    struct trace got = {0};
    struct reading reading = {.file = file, .hosts = hosts, .trace = &got, .error = error};
    reading.table = calloc(NAMES, sizeof(*reading.table));
    bool good = reading.table ? read_all(&reading, text) : wrong(&reading, 0, "out of memory");
    free(reading.table);
    free(reading.ups);
    free(reading.downs);
    if (good)
        *trace = got;
    else
        trace_free(&got);
    return good;
}

/* ---- Files -------------------------------------------------------------------------------- */

bool trace_read(const char *file, const char *hosts, struct trace *trace, char error[TRACE_ERROR])
{
    bool standard = strcmp(file, "-") == 0;
    FILE *stream = standard ? stdin : fopen(file, "re");
    char *text = NULL;
    size_t room = 0;
    bool good = false;
    /* Reads all; text contains no zero byte. */
    ssize_t length = stream ? getdelim(&text, &room, '\0', stream) : -1;
    if (!stream || ferror(stream))
        snprintf(error, TRACE_ERROR, "%.200s: %s", file, strerror(errno));
    else if (length > 0 && text[length - 1] == '\0')
        snprintf(error, TRACE_ERROR, "%.200s: a byte of value 0: this is not text", file);
    else
        good = trace_parse(standard ? "standard input" : file, length > 0 ? text : "", hosts, trace,
                           error);
    if (stream && !standard)
        fclose(stream);
    free(text);
    return good;
}

void trace_free(struct trace *trace)
{
    if (!trace)
        return;
    for (uint32_t i = 0; i < trace->host_count; i++)
        free(trace->names[i]);
    free(trace->names);
    free(trace->lives);
    free(trace->first);
    *trace = (struct trace){0};
}
