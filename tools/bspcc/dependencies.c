/* dependencies.c - see dependencies.h. */
#include "tools/bspcc/dependencies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/bspcc/dump_names.h"
#include "tools/bspcc/literate.h"

/* A name as compilers write it in a rule of make: quoted, and without "./". */
static char *quoted(const char *name)
{
    char *text = allocate(2 * strlen(name) + 1), *end = text;

    while (strncmp(name, "./", 2) == 0)
        name += 1 + strspn(name + 1, "/");
    for (; *name != '\0'; name++) {
        if (strchr(" \t#", *name) != NULL)
            *end++ = '\\';
        else if (*name == '$')
            *end++ = '$';
        *end++ = *name;
    }
    *end = '\0';
    return text;
}

/* Writes the text with every mention of the program as one of the document. */
static void write_replaced(FILE *to, const char *text, const char *program, const char *document)
{
    const char *mention;
    size_t length = strlen(program);

    while ((mention = strstr(text, program)) != NULL) {
        bool whole = strchr(" \t\r\n:\\", mention[length]) != NULL;
        fprintf(to, "%.*s%s", (int)(mention - text), text, whole ? document : program);
        text = mention + length;
    }
    fputs(text, to);
}

/* The text with all documents for their programs. */
static char *replaced(char *text)
{
    const char *document, *program;

    for (size_t i = 0; extracted(i, &document, &program); i++) {
        const char *word = quoted(program);
        char *next = NULL;
        size_t size;

        if (strstr(text, word) == NULL)
            continue;
        FILE *to = open_memstream(&next, &size);
        if (to == NULL)
            fail("out of memory");
        write_replaced(to, text, word, quoted(document));
        if (fclose(to) != 0)
            fail("out of memory");
        text = copy_text(next);
        free(next);
    }
    return text;
}

/* The contents of a regular file; NULL when there is none. */
static char *contents(const char *path)
{
    struct stat status;
    FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
    char *line = NULL, *text = NULL;
    size_t capacity = 0;

    if (file == NULL)
        return NULL;
    if (getdelim(&line, &capacity, '\0', file) >= 0 && feof(file))
        text = copy_text(line);
    free(line);
    fclose(file);
    return text;
}

static void mend(const char *path)
{
    char *text = contents(path), *better = text != NULL ? replaced(text) : NULL;

    if (better == text)
        return;
    FILE *file = fopen(path, "we");
    bool good = file != NULL && fputs(better, file) >= 0;
    if (file == NULL || fclose(file) != 0 || !good)
        fail("cannot write %s: %s", path, strerror(errno));
}

void show_dependencies(const char *path)
{
    char *text = contents(path);

    if (text != NULL)
        fputs(replaced(text), stdout);
}

/* The output's name with another suffix. */
static char *beside_output(const char *output)
{
    const char *slash = strrchr(output, '/'), *base = slash != NULL ? slash + 1 : output;
    const char *dot = strrchr(base, '.');

    return format_text("%.*s.d", dot != NULL ? (int)(dot - output) : (int)strlen(output), output);
}

/* Which of these names a compiler has chosen depends on which it is.  Only what mentions the
 * temporary directory of this process is changed. */
void mend_dependencies(const struct request *request)
{
    if (request->dependency_file != NULL)
        mend(request->dependency_file);
    if (request->output != NULL) {
        mend(beside_output(request->output));
        if (request->only_dependencies)
            mend(request->output);
    }
    for (size_t i = 0; i < request->item_count; i++) {
        const struct item *item = &request->items[i];
        if (item->kind != ITEM_SOURCE || item->language.extracted_suffix == NULL)
            continue;
        const char *slash = strrchr(item->original, '/');
        const char *base = slash != NULL ? slash + 1 : item->original;
        int stem = (int)(strrchr(base, '.') - base);
        mend(format_text("%.*s.d", stem, base));
        mend(format_text("%s%.*s.d", dump_prefix(request), stem, base));
    }
}
