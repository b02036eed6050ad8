/* program.h - information about a program before it runs. */
#ifndef BSPRUN_PROGRAM_H
#define BSPRUN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the program's file: a name without a slash is looked up in `path` (NULL: the system
 * default) and then in the current directory. */
bool program_find(const char *name, const char *path, char *found, size_t size);

/* Seconds between snapshots that the program was linked with (-fcheckpointing); 0: it was not, or
 * the file is no such program. */
int program_linked_seconds(const char *file);

#endif
