/* json.c - writes JSON to stdout; see json.h. */
#include "ckpt/bspckpt/json.h"

#include <inttypes.h>
#include <stdio.h>

#define DEPTH_MAX 16

static struct {
    char closing[DEPTH_MAX]; /* of each level that is open */
    bool any[DEPTH_MAX];     /* it has a value already */
    int depth;
} state;

/* The bytes of the UTF-8 character at text; 0 when it is none. */
static int utf8_length(const unsigned char *text)
{
    int length = text[0] < 0x80                       ? 1
                 : text[0] >= 0xc2 && text[0] <= 0xdf ? 2
                 : text[0] >= 0xe0 && text[0] <= 0xef ? 3
                 : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                      : 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, beyond the last one. */
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

static void put_text(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    putchar('"');
    while (*at) {
        int length = utf8_length(at);
        if (*at == '"' || *at == '\\')
            printf("\\%c", *at++);
        else if (*at < 0x20 || *at == 0x7f)
            printf("\\u%04x", *at++);
        else if (length == 0)
            printf("\\ufffd"), at++;
        else
            while (length-- > 0)
                putchar(*at++);
    }
    putchar('"');
}

/* What comes before a value. */
static void start(const char *name)
{
    if (state.depth > 0) {
        printf("%s\n%*s", state.any[state.depth - 1] ? "," : "", 2 * state.depth, "");
        state.any[state.depth - 1] = true;
    }
    if (name) {
        put_text(name);
        printf(": ");
    }
}

static void open_level(const char *name, char opening, char closing)
{
    start(name);
    putchar(opening);
    state.closing[state.depth] = closing;
    state.any[state.depth++] = false;
}

void json_object(const char *name)
{
    open_level(name, '{', '}');
}

void json_array(const char *name)
{
    open_level(name, '[', ']');
}

void json_end(void)
{
    state.depth--;
    if (state.any[state.depth])
        printf("\n%*s", 2 * state.depth, "");
    putchar(state.closing[state.depth]);
    if (state.depth == 0)
        putchar('\n');
}

void json_text(const char *name, const char *text)
{
    start(name);
    put_text(text);
}

void json_number(const char *name, uint64_t number)
{
    start(name);
    printf("%" PRIu64, number);
}

void json_signed(const char *name, int64_t number)
{
    start(name);
    printf("%" PRId64, number);
}

void json_flag(const char *name, bool flag)
{
    start(name);
    printf(flag ? "true" : "false");
}

void json_ready(const char *name, const char *json)
{
    start(name);
    fputs(json, stdout);
}

void json_bytes(const char *name, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    start(name);
    putchar('"');
    for (size_t i = 0; i < size; i++)
        printf("%02x", at[i]);
    putchar('"');
}
