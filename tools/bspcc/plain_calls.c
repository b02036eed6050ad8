/* Finds "void bsp_begin" and "#define bsp_end" in a source, whatever is between the two words. */
#include "tools/bspcc/plain_calls.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether `word` ends before `end`, ignoring blanks. */
static bool word_before(const char *text, const char *end, const char *word)
{
    size_t length = strlen(word);

    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    return (size_t)(end - text) >= length && memcmp(end - length, word, length) == 0 &&
           ((size_t)(end - text) == length || !is_word(end[-1 - (ptrdiff_t)length]));
}

static bool declares(const char *text, size_t size, const char *name)
{
    const size_t length = strlen(name);
    const char *end = text + size;

    for (const char *at = text; (at = memmem(at, (size_t)(end - at), name, length)); at += length) {
        bool starts = at == text || !is_word(at[-1]);
        bool ends = at + length == end || !is_word(at[length]);

        if (starts && ends && (word_before(text, at, "void") || word_before(text, at, "define")))
            return true;
    }
    return false;
}

bool declares_begin_or_end(const char *path)
{
    FILE *file = fopen(path, "re");
    struct stat status;
    char *text;
    bool found = false;

    if (file == NULL)
        return false;
    /* Reading a pipe would consume it. */
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fileno(file), 0);
        if (text != MAP_FAILED) {
            found = declares(text, (size_t)status.st_size, "bsp_begin") ||
                    declares(text, (size_t)status.st_size, "bsp_end");
            munmap(text, (size_t)status.st_size);
        }
    }
    fclose(file);
    return found;
}
