/* Growable lists of words, and response files.
 *
 * bspcc is a short-lived process: words and lists live until it exits and are never freed; the
 * results of allocate, copy_text and format_text must not be passed to free().  Out of memory ends
 * the program with a message.
 */
#ifndef BSPZ_BSPCC_ARGUMENTS_H
#define BSPZ_BSPCC_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* items[count] is always NULL once something was added, so items can be passed to exec. */
struct arguments {
    char **items;
    size_t count;
    size_t capacity;
    size_t program; /* of a command: how many words at its beginning are the program's name */
};

void *allocate(size_t size) __attribute__((returns_nonnull)); /* zeroed */
char *copy_text(const char *text);
char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "bspcc: TEXT" (under the name the driver was called by) and exits with status 1, after
 * removing the temporary directory. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* The name fail() prints. */
extern const char *program_name;

void arguments_add(struct arguments *list, const char *word);
/* Makes the words the program of an empty command: they are never put into a response file. */
void arguments_begin(struct arguments *command, const struct arguments *program);
void arguments_add_all(struct arguments *list, const struct arguments *more);

/* Splits text at white space as the compilers do: '...' and "..." group, a backslash takes the
 * next character literally. */
void arguments_split(struct arguments *list, const char *text);

/* Appends the words of argv with every @FILE replaced by the words of that file, nested ones too.
 * An @FILE that cannot be read stays as it is. */
void arguments_expand(struct arguments *list, char *const *argv, size_t count);

/* Writes the words so that arguments_split reads them back. */
bool arguments_write(const struct arguments *list, size_t first, const char *path);

#endif
