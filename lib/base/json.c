/* json.c - see json.h. */
#include "lib/base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#include "lib/base/utf8.h"

static void put_text(FILE *file, const char *text)
{
    fputc('"', file);
    while (*text) {
        char character[BSPZ_UTF8_MOST];
        unsigned length = bspz_utf8_take(&text, character);

        if (length == 1 && (*character == '"' || *character == '\\'))
            fprintf(file, "\\%c", *character);
        else if (length == 1 && ((unsigned char)*character < 0x20 || *character == 0x7f))
            fprintf(file, "\\u%04x", (unsigned)*character);
        else
            fwrite(character, 1, length, file);
    }
    fputc('"', file);
}

static void new_line(const struct bspz_json *json)
{
    if (json->indented)
        fprintf(json->file, "\n%*s", 2 * (int)json->depth, "");
}

/* Writes what precedes a value. */
static void begin(struct bspz_json *json, const char *name)
{
    if (json->depth > 0) {
        if (json->levels[json->depth - 1].any)
            fputc(',', json->file);
        json->levels[json->depth - 1].any = true;
        new_line(json);
    }
    if (name) {
        put_text(json->file, name);
        fputs(json->indented ? ": " : ":", json->file);
    }
}

static void open_level(struct bspz_json *json, const char *name, char opening, char closing)
{
    assert(json->depth < BSPZ_JSON_DEPTH);
    begin(json, name);
    fputc(opening, json->file);
    json->levels[json->depth].closing = closing;
    json->levels[json->depth++].any = false;
}

void bspz_json_object(struct bspz_json *json, const char *name)
{
    open_level(json, name, '{', '}');
}

void bspz_json_array(struct bspz_json *json, const char *name)
{
    open_level(json, name, '[', ']');
}

void bspz_json_end(struct bspz_json *json)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->levels[json->depth].any)
        new_line(json);
    fputc(json->levels[json->depth].closing, json->file);
    if (json->depth == 0)
        fputc('\n', json->file);
}

void bspz_json_format(struct bspz_json *json, const char *name, const char *format, ...)
{
    va_list arguments;

    begin(json, name);
    va_start(arguments, format);
    vfprintf(json->file, format, arguments);
    va_end(arguments);
}

void bspz_json_text(struct bspz_json *json, const char *name, const char *text)
{
    begin(json, name);
    if (text)
        put_text(json->file, text);
    else
        fputs("null", json->file);
}

void bspz_json_number(struct bspz_json *json, const char *name, uint64_t number)
{
    bspz_json_format(json, name, "%" PRIu64, number);
}

void bspz_json_signed(struct bspz_json *json, const char *name, int64_t number)
{
    bspz_json_format(json, name, "%" PRId64, number);
}

void bspz_json_real(struct bspz_json *json, const char *name, double number)
{
    bspz_json_format(json, name, isfinite(number) ? "%.9g" : "null", number);
}

void bspz_json_flag(struct bspz_json *json, const char *name, bool flag)
{
    bspz_json_format(json, name, "%s", flag ? "true" : "false");
}

void bspz_json_null(struct bspz_json *json, const char *name)
{
    bspz_json_format(json, name, "null");
}

void bspz_json_bytes(struct bspz_json *json, const char *name, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    begin(json, name);
    fputc('"', json->file);
    for (size_t i = 0; i < size; i++)
        fprintf(json->file, "%02x", at[i]);
    fputc('"', json->file);
}
