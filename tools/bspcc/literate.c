/* Extracts programs from literate sources; see literate.h for what counts as program. */
#include "tools/bspcc/literate.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/bspcc/arguments.h"

/* What was extracted from what. */
static struct arguments documents, programs;

static bool begins_with(const char *line, const char *start)
{
    return strncmp(line, start, strlen(start)) == 0;
}

static bool opens_block(const char *line)
{
    return begins_with(line, "\\begin{code}") || begins_with(line, "\\begin{tightcode}");
}

static bool closes_block(const char *line)
{
    return begins_with(line, "\\end{code}") || begins_with(line, "\\end{tightcode}");
}

/* Copies the program lines, replaces others by blank ones, and returns the number of program
 * lines. */
static unsigned long copy_lines(FILE *from, FILE *to, const char *document)
{
    unsigned long number = 0, opened_at = 0, program_lines = 0;
    char *line = NULL;
    size_t capacity = 0;

    while (getline(&line, &capacity, from) > 0) {
        number++;
        if (opens_block(line)) {
            if (opened_at != 0)
                fail("%s:%lu: a code block begins inside the one of line %lu", document, number,
                     opened_at);
            opened_at = number;
            fputc('\n', to);
        } else if (closes_block(line)) {
            if (opened_at == 0)
                fail("%s:%lu: a code block ends that has not begun", document, number);
            opened_at = 0;
            fputc('\n', to);
        } else if (opened_at != 0) {
            program_lines++;
            fputs(line, to);
        } else if (line[0] == '>') {
            program_lines++;
            fprintf(to, " %s", line + 1);
        } else {
            fputc('\n', to);
        }
    }
    free(line);
    if (opened_at != 0)
        fail("%s:%lu: the code block that begins here has no end", document, opened_at);
    return program_lines;
}

/* A name inside a C string or line marker. */
static void write_quoted(FILE *file, const char *name)
{
    fputc('"', file);
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            fputc('\\', file);
        fputc(*name, file);
    }
    fputc('"', file);
}

void extract_program(const char *document, const char *program, const char *marker)
{
    FILE *from = fopen(document, "re");
    if (from == NULL)
        fail("%s: %s", document, strerror(errno));
    FILE *to = fopen(program, "we");
    if (to == NULL)
        fail("cannot write %s: %s", program, strerror(errno));

    fprintf(to, "%s 1 ", marker);
    write_quoted(to, document);
    fputc('\n', to);
    unsigned long lines = copy_lines(from, to, document);
    if (ferror(from))
        fail("%s: %s", document, strerror(errno));
    if (lines == 0)
        fail("%s: no program text (no \\begin{code} and no line that begins with '>')", document);
    fclose(from);
    if (fclose(to) != 0)
        fail("cannot write %s: %s", program, strerror(errno));
    arguments_add(&documents, document);
    arguments_add(&programs, program);
}

bool extracted(size_t number, const char **document, const char **program)
{
    if (number >= programs.count)
        return false;
    *document = documents.items[number];
    *program = programs.items[number];
    return true;
}

void extract_headers(const char *directory, const char *to)
{
    DIR *listing = opendir(directory);
    struct dirent *entry;

    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || dot == entry->d_name || strcmp(dot, ".lh") != 0)
            continue;
        int stem = (int)(dot - entry->d_name);
        char *plain = format_text("%s/%.*s.h", directory, stem, entry->d_name);
        if (access(plain, F_OK) == 0)
            continue;
        extract_program(format_text("%s/%s", directory, entry->d_name),
                        format_text("%s/%.*s.h", to, stem, entry->d_name), "#line");
    }
    if (listing != NULL)
        closedir(listing);
}
