/* temporary.h - directories below $TMPDIR that a later process of the same user finds by their
 * names.  Any user can make any name there, so there are several: PATH, PATH-2 to PATH-8. */
#ifndef BSPZ_BASE_TEMPORARY_H
#define BSPZ_BASE_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

#define BSPZ_TEMPORARY_NAMES 8u

/* $TMPDIR if it is an absolute path, else /tmp.  The environment's, or constant. */
const char *bspz_temporary_root(void);

/* Opens a new file below the root, for reading and writing, that has no name and goes when it is
 * closed and no longer mapped.  The descriptor, or -errno. */
int bspz_temporary_file(void);

/* Writes the path of `stem` below the root, and "-NUMBER" behind it from 2 on, to path[PATH_MAX].
 * False: it is too long. */
bool bspz_temporary_name(char *path, const char *stem, unsigned number);

/* Something is there that is not a directory of this user alone: not one at all (a symbolic link is
 * none), another user's, or it is writable by others. */
bool bspz_temporary_is_taken(const char *path);

#endif
