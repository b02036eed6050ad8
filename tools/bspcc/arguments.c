/* Lists of words, quoting and response files for bspcc. */
#include "tools/bspcc/arguments.h"

#include <ctype.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The limit of the compilers, too; a file that names itself must not cause an endless loop. */
#define RESPONSE_FILES_MAX 2000

const char *program_name = "bspcc";

void fail(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "%s: ", program_name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

/* All memory is linked from here, so that leak checkers consider it in use. */
struct block {
    struct block *next;
};
static struct block *blocks;

void *allocate(size_t size)
{
    const size_t head = alignof(max_align_t);
    struct block *block = calloc(1, head + size);

    if (block == NULL)
        fail("out of memory");
    block->next = blocks;
    blocks = block;
    return (char *)block + head;
}

char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(allocate(size), text, size);
}

char *format_text(const char *format, ...)
{
    va_list arguments;
    char *text, *copy;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        fail("out of memory");
    va_end(arguments);
    copy = copy_text(text);
    free(text);
    return copy;
}

void arguments_add(struct arguments *list, const char *word)
{
    if (list->count + 2 > list->capacity) {
        size_t capacity = list->capacity == 0 ? 32 : 2 * list->capacity;
        char **items = allocate(capacity * sizeof(*items));
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = copy_text(word);
    list->items[list->count] = NULL;
}

void arguments_add_all(struct arguments *list, const struct arguments *more)
{
    for (size_t i = 0; i < more->count; i++)
        arguments_add(list, more->items[i]);
}

void arguments_begin(struct arguments *command, const struct arguments *program)
{
    arguments_add_all(command, program);
    command->program = program->count;
}

/* Copies the word that starts at *text to `word`, which is large enough, and moves *text past
 * it. */
static void take_word(const char **text, char *word)
{
    const char *from = *text;
    char quote = '\0';

    for (; *from != '\0'; from++) {
        if (*from == '\\' && from[1] != '\0')
            *word++ = *++from;
        else if (quote != '\0' && *from == quote)
            quote = '\0';
        else if (quote == '\0' && (*from == '\'' || *from == '"'))
            quote = *from;
        else if (quote == '\0' && isspace((unsigned char)*from))
            break;
        else
            *word++ = *from;
    }
    *word = '\0';
    *text = from;
}

void arguments_split(struct arguments *list, const char *text)
{
    char *word = allocate(strlen(text) + 1);

    for (;;) {
        while (isspace((unsigned char)*text))
            text++;
        if (*text == '\0')
            break;
        take_word(&text, word);
        arguments_add(list, word);
    }
}

/* The whole file as one string; NULL when it cannot be read. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL, *copy = NULL;
    size_t capacity = 0;

    if (file == NULL)
        return NULL;
    ssize_t length = getdelim(&text, &capacity, '\0', file);
    if (!ferror(file))
        copy = copy_text(length > 0 ? text : "");
    fclose(file);
    free(text);
    return copy;
}

static void expand(struct arguments *list, char *const *words, size_t count, int *files)
{
    for (size_t i = 0; i < count; i++) {
        char *text = words[i][0] == '@' ? read_text(words[i] + 1) : NULL;
        if (text == NULL) {
            arguments_add(list, words[i]);
            continue;
        }
        if (++*files > RESPONSE_FILES_MAX)
            fail("%s: too many nested response files", words[i]);
        struct arguments inner = {0};
        arguments_split(&inner, text);
        expand(list, inner.items, inner.count, files);
    }
}

void arguments_expand(struct arguments *list, char *const *argv, size_t count)
{
    int files = 0;

    expand(list, argv, count, &files);
}

bool arguments_write(const struct arguments *list, size_t first, const char *path)
{
    FILE *file = fopen(path, "we");

    if (file == NULL)
        return false;
    for (size_t i = first; i < list->count; i++) {
        if (list->items[i][0] == '\0')
            fputs("\"\"", file);
        for (const char *c = list->items[i]; *c != '\0'; c++) {
            if (isspace((unsigned char)*c) || strchr("\\'\"", *c) != NULL)
                fputc('\\', file);
            fputc(*c, file);
        }
        fputc('\n', file);
    }
    bool good = ferror(file) == 0;
    return fclose(file) == 0 && good;
}
