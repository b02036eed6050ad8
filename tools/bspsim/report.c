/* report.c - the report of a real job; see report.h.
 *
 * A JSON reader that keeps only the names of the enclosing objects. */
#include "tools/bspsim/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32
#define NAME_SIZE 16 /* bytes of a name that are compared */

struct reading {
    const char *file, *at;
    unsigned line;
    char names[DEPTH_MAX][NAME_SIZE]; /* of the enclosing objects */
    int depth;
    struct report report, kept; /* of the present job, of the previous one */
    unsigned jobs;              /* jobs that report failures */
    char *error;
};

static bool wrong(struct reading *reading, const char *text)
{
    snprintf(reading->error, REPORT_ERROR, "%.200s:%u: %s", reading->file, reading->line, text);
    return false;
}

static void skip_space(struct reading *reading)
{
    for (; *reading->at && strchr(" \t\r\n", *reading->at); reading->at++)
        reading->line += *reading->at == '\n';
}

/* Stores as much in `name` as fits; escapes are not decoded. */
static bool read_string(struct reading *reading, char name[NAME_SIZE])
{
    size_t length = 0;
    if (*reading->at != '"')
        return wrong(reading, "this is not JSON: a name in quotes should be here");
    for (reading->at++; *reading->at != '"'; reading->at++) {
        if (*reading->at == '\0' || *reading->at == '\n')
            return wrong(reading, "this is not JSON: the quotes are not closed");
        if (length < NAME_SIZE - 1)
            name[length++] = *reading->at;
        if (*reading->at == '\\' && reading->at[1])
            reading->at++;
    }
    reading->at++;
    name[length] = '\0';
    return true;
}

static bool is_named(const struct reading *reading, int above, const char *name)
{
    int place = reading->depth - 1 - above;
    return place >= 0 && strcmp(reading->names[place], name) == 0;
}

static void take_number(struct reading *reading, double value)
{
    struct report *report = &reading->report;
    if (!(value >= 0) || !isfinite(value))
        return;
    if (is_named(reading, 1, "failures") && is_named(reading, 0, "hosts"))
        report->hosts = value;
    if (!is_named(reading, 2, "failures") || !is_named(reading, 1, "model"))
        return;
    if (is_named(reading, 0, "rate"))
        report->rate = value;
    if (is_named(reading, 0, "delay"))
        report->delay = value;
    if (is_named(reading, 0, "cost")) {
        report->snapshot = value;
        report->has_snapshot = value > 0;
    }
    if (is_named(reading, 0, "restore")) {
        report->restore = value;
        report->has_restore = value > 0;
    }
}

static bool read_value(struct reading *reading);

/* Called after the object "failures" of a job. */
static bool is_second(struct reading *reading)
{
    if (reading->jobs++ == 0)
        reading->kept = reading->report;
    reading->report = (struct report){0};
    return reading->jobs > 1 &&
           !wrong(reading, "a second job: leave only the one that is meant in the file");
}

static bool read_name(struct reading *reading, char name[NAME_SIZE])
{
    if (!read_string(reading, name))
        return false;
    skip_space(reading);
    if (*reading->at != ':')
        return wrong(reading, "this is not JSON: a colon is missing");
    reading->at++;
    return true;
}

/* Reads the members of an object, or of a list, which have no names. */
static bool read_members(struct reading *reading, bool named)
{
    char end = named ? '}' : ']';
    if (reading->depth == DEPTH_MAX)
        return wrong(reading, "this is nested too deeply");
    char *name = reading->names[reading->depth++];
    name[0] = '\0';
    reading->at++;
    skip_space(reading);
    bool good = true, more = *reading->at != end;
    while (good && more) {
        skip_space(reading);
        good = !named || read_name(reading, name);
        good = good && read_value(reading);
        if (!good)
            break;
        if (named && strcmp(name, "failures") == 0 && reading->report.hosts > 0 &&
            is_second(reading))
            return false;
        skip_space(reading);
        more = *reading->at == ',';
        if (more)
            reading->at++;
    }
    if (good && *reading->at != end)
        good = wrong(reading, "this is not JSON: it ends in the middle, or a comma is missing");
    reading->at += good;
    reading->depth--;
    return good;
}

static bool read_value(struct reading *reading)
{
    static const char *const words[] = {"null", "true", "false"};
    char ignored[NAME_SIZE], *end;
    skip_space(reading);
    if (*reading->at == '{' || *reading->at == '[')
        return read_members(reading, *reading->at == '{');
    if (*reading->at == '"')
        return read_string(reading, ignored);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(reading->at, words[i], strlen(words[i])) == 0) {
            reading->at += strlen(words[i]);
            return true;
        }
    double value = strtod(reading->at, &end);
    if (end == reading->at || !strchr("-0123456789", *reading->at))
        return wrong(reading, "this is not JSON");
    reading->at = end;
    take_number(reading, value);
    return true;
}

bool report_parse(const char *file, const char *text, struct report *report,
                  char error[REPORT_ERROR])
{
    struct reading reading = {.file = file, .at = text, .line = 1, .error = error};
    do { /* one value per line */
        if (!read_value(&reading))
            return false;
        skip_space(&reading);
    } while (*reading.at == '{' || *reading.at == '[');
    if (*reading.at)
        return wrong(&reading, "this is not JSON: something follows it");
    if (reading.jobs == 0) {
        snprintf(error, REPORT_ERROR,
                 "%.200s: it contains nothing about failures and hosts: is it the output of "
                 "bspstat --json for a job that takes snapshots?",
                 file);
        return false;
    }
    *report = reading.kept;
    return true;
}

bool report_read(const char *file, struct report *report, char error[REPORT_ERROR])
{
    bool standard = strcmp(file, "-") == 0, good = false;
    FILE *stream = standard ? stdin : fopen(file, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t length = stream ? getdelim(&text, &room, '\0', stream) : -1;
    if (!stream || ferror(stream))
        snprintf(error, REPORT_ERROR, "%.200s: %s", file, strerror(errno));
    else
        good =
            report_parse(standard ? "standard input" : file, length > 0 ? text : "", report, error);
    if (stream && !standard)
        fclose(stream);
    free(text);
    return good;
}
