/* hosts_file.c - host files in their three formats; see hosts.h. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/hosts/hosts.h"

#define OLD_NCPUS_MAX 1023u

struct reader {
    struct hosts *hosts;
    const char *file;
    const char *at, *end, *line_start;
    unsigned line;
    hosts_lookup *lookup;
    char *error;
};

/* A piece of the file, or of a variable's value, and its line. */
struct word {
    const char *text;
    size_t length;
    unsigned line, column;
};

/* ---- Errors and blanks ---- */

__attribute__((format(printf, 4, 5))) static bool wrong(struct reader *reader, unsigned line,
                                                        unsigned column, const char *format, ...)
{
    int used = snprintf(reader->error, HOSTS_ERROR, "%.150s:%u:%u: ", reader->file, line, column);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reader->error + used, HOSTS_ERROR - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

static unsigned column(const struct reader *reader)
{
    return (unsigned)(reader->at - reader->line_start) + 1;
}

static bool syntax_error(struct reader *reader, const char *what)
{
    if (reader->at == reader->end)
        return wrong(reader, reader->line, column(reader), "%s, but the file ends", what);
    if (isgraph((unsigned char)*reader->at))
        return wrong(reader, reader->line, column(reader), "%s, not \"%c\"", what, *reader->at);
    return wrong(reader, reader->line, column(reader), "%s", what);
}

static bool at_char(const struct reader *reader, char c)
{
    return reader->at < reader->end && *reader->at == c;
}

static bool at_line_end(const struct reader *reader)
{
    return reader->at == reader->end || *reader->at == '\n';
}

/* Skips blanks and comments, optionally across line ends. */
static void skip(struct reader *reader, bool over_lines)
{
    for (;;) {
        while (at_char(reader, ' ') || at_char(reader, '\t') || at_char(reader, '\r'))
            reader->at++;
        while (at_char(reader, '#') && !at_line_end(reader))
            reader->at =
                memchr(reader->at, '\n', (size_t)(reader->end - reader->at)) ?: reader->end;
        if (!over_lines || !at_char(reader, '\n'))
            return;
        reader->line_start = ++reader->at;
        reader->line++;
    }
}

static struct word begin_word(const struct reader *reader)
{
    return (struct word){reader->at, 0, reader->line, column(reader)};
}

static void end_word(const struct reader *reader, struct word *word)
{
    word->length = (size_t)(reader->at - word->text);
}

/* A mention of the host with this name, or NULL. */
static struct host *mention(struct reader *reader, const struct word *name, uint32_t slots)
{
    char why[HOSTS_ERROR];
    char *user, *bare;
    struct host *host = NULL;

    if (hosts_cut_name(name->text, name->length, &user, &bare, why)) {
        host = hosts_mention(reader->hosts, user, bare, slots, why);
        free(user);
        free(bare);
    }
    if (!host)
        wrong(reader, name->line, name->column, "%.200s", why);
    return host;
}

/* ---- The Oxford toolset's form ---- */

/* Parses the words between parentheses: bare, "quoted" or $NAME. */
static bool take_value(struct reader *reader, struct word *value)
{
    *value = begin_word(reader);
    if (at_char(reader, '"')) {
        value->text = ++reader->at;
        while (!at_line_end(reader) && !at_char(reader, '"'))
            reader->at++;
        end_word(reader, value);
        if (!at_char(reader, '"'))
            return wrong(reader, value->line, value->column, "this quoted string does not end");
        reader->at++;
        return true;
    }
    bool variable = at_char(reader, '$');

    reader->at += variable;
    while (reader->at < reader->end &&
           (isalnum((unsigned char)*reader->at) ||
            (*reader->at && (*reader->at == '_' || (!variable && strchr("-.:", *reader->at))))))
        reader->at++;
    end_word(reader, value);
    if (value->length == (size_t)variable)
        return syntax_error(reader, "expected a value");
    if (!variable)
        return true;

    char name[WIRE_NAME_MAX + 1];

    snprintf(name, sizeof name, "%.*s", (int)value->length - 1, value->text + 1);
    value->text = reader->lookup(name);
    if (!value->text)
        return wrong(reader, value->line, value->column, "$%.80s is not in the environment", name);
    value->length = strlen(value->text);
    return true;
}

/* key(value) */
static bool take_pair(struct reader *reader, struct word *key, struct word *value)
{
    *key = begin_word(reader);
    while (reader->at < reader->end && (isalnum((unsigned char)*reader->at) || *reader->at == '_'))
        reader->at++;
    end_word(reader, key);
    if (key->length == 0)
        return syntax_error(reader, "expected a key, as in host(NAME) or ncpus(4), or a semicolon");
    skip(reader, true);
    if (!at_char(reader, '('))
        return syntax_error(reader, "expected a parenthesis, as in ncpus(4)");
    reader->at++;
    skip(reader, true);
    if (!take_value(reader, value))
        return false;
    skip(reader, true);
    if (!at_char(reader, ')'))
        return syntax_error(reader, "expected a closing parenthesis");
    reader->at++;
    skip(reader, true);
    return true;
}

static bool is(const struct word *word, const char *text)
{
    return word->length == strlen(text) && strncasecmp(word->text, text, word->length) == 0;
}

static bool set_adapter(struct reader *reader, struct host *host, const struct word *value)
{
    char why[HOSTS_ERROR];
    char *user = NULL, *name = NULL;
    bool good = hosts_cut_name(value->text, value->length, &user, &name, why);

    if (good && (user || (host->adapter && strcmp(host->adapter, name) != 0))) {
        snprintf(why, sizeof why,
                 user ? "an adapter cannot have a user" : "this host already has an adapter");
        good = false;
    }
    free(user);
    if (!good) {
        free(name);
        return wrong(reader, value->line, value->column, "%.200s", why);
    }
    free(host->adapter);
    host->adapter = name;
    return true;
}

/* host(NAME) key(VALUE) ... ; */
static bool take_statement(struct reader *reader)
{
    struct word key, value, name;
    struct host *host;

    if (!take_pair(reader, &key, &name))
        return false;
    if (!is(&key, "host"))
        return wrong(reader, key.line, key.column, "host(NAME) must come first");
    host = mention(reader, &name, 0);
    if (!host)
        return false;
    uint32_t ncpus = 1;

    while (!at_char(reader, ';')) {
        if (!take_pair(reader, &key, &value))
            return false;
        if (is(&key, "host"))
            return wrong(reader, key.line, key.column, "a semicolon is missing between two hosts");
        if (is(&key, "adapter") && !set_adapter(reader, host, &value))
            return false;
        if (is(&key, "ncpus"))
            ncpus = hosts_slots(value.text, value.length);
    }
    if (ncpus > 1 && ncpus <= OLD_NCPUS_MAX && !mention(reader, &name, ncpus - 1))
        return false;
    reader->at++;
    skip(reader, true);
    return true;
}

static bool is_old_form(struct reader reader)
{
    skip(&reader, true);
    if (reader.end - reader.at < 4 || strncasecmp(reader.at, "host", 4) != 0)
        return false;
    reader.at += 4;
    skip(&reader, true);
    return at_char(&reader, '(');
}

/* ---- A line for each host ---- */

static void take_word(struct reader *reader, struct word *word)
{
    *word = begin_word(reader);
    while (!at_line_end(reader) && *reader->at && !strchr(" \t\r=#", *reader->at))
        reader->at++;
    end_word(reader, word);
}

/* Parses slots=4, also with blanks. */
static bool take_setting(struct reader *reader, uint32_t *slots, uint32_t *most)
{
    struct word key, value;

    take_word(reader, &key);
    if (!is(&key, "slots") && !is(&key, "max_slots") && !is(&key, "max-slots"))
        return wrong(reader, key.line, key.column,
                     "a host name may be followed by slots=N and max_slots=N only");
    skip(reader, false);
    if (!at_char(reader, '='))
        return syntax_error(reader, "expected an equals sign, as in slots=4");
    reader->at++;
    skip(reader, false);
    take_word(reader, &value);
    uint32_t number = hosts_slots(value.text, value.length);
    if (number == 0)
        return wrong(reader, value.line, value.column, "expected a number from 1 to %u",
                     WIRE_SLOTS_MAX);
    *(is(&key, "slots") ? slots : most) = number;
    skip(reader, false);
    return true;
}

/* Parses name:4 or name, and cuts off the number; an address in brackets contains colons. */
static bool cut_slots(struct reader *reader, struct word *name, uint32_t *slots)
{
    const char *bracket = memrchr(name->text, ']', name->length);
    const char *from = bracket ? bracket : name->text;
    const char *colon = memchr(from, ':', (size_t)(name->text + name->length - from));

    if (!colon)
        return true;
    size_t length = (size_t)(colon - name->text);
    *slots = hosts_slots(colon + 1, name->length - length - 1);
    if (*slots == 0)
        return wrong(
            reader, name->line, name->column + (unsigned)length + 1,
            "the colon must be followed by a number of slots, from 1 to %u (an address with colons "
            "needs brackets)",
            WIRE_SLOTS_MAX);
    name->length = length;
    return true;
}

static bool take_line(struct reader *reader)
{
    uint32_t slots = 0, most = 0;
    struct word name;

    take_word(reader, &name);
    if (name.length == 0)
        return syntax_error(reader, "expected a host name");
    if (!cut_slots(reader, &name, &slots))
        return false;
    skip(reader, false);
    while (!at_line_end(reader))
        if (!take_setting(reader, &slots, &most))
            return false;
    if (most > 0 && most < slots)
        return wrong(reader, name.line, name.column, "max_slots is less than slots");
    if (!mention(reader, &name, slots))
        return false;
    skip(reader, true);
    return true;
}

bool hosts_from_file(struct hosts *hosts, const char *file, const char *text, size_t size,
                     hosts_lookup *lookup, char *error)
{
    size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* of UTF-8 */
    const char *begin = text + mark;
    struct reader reader = {hosts, file, begin, text + size, begin, 1, lookup, error};
    bool old = is_old_form(reader);
    bool good = true;

    skip(&reader, true);
    while (good && reader.at < reader.end)
        good = old ? take_statement(&reader) : take_line(&reader);
    if (good && hosts->count == 0) {
        snprintf(error, HOSTS_ERROR, "%.150s: it lists no host", file);
        good = false;
    }
    if (good)
        hosts_settle(hosts, HOSTS_ALONE_ONE);
    else
        hosts_free(hosts);
    return good;
}
