/* The names of what a compiler writes beside an object: -save-temps, -gsplit-dwarf, -fstack-usage,
 * --coverage and the like.
 *
 * Where each source is compiled by itself, objects are in the temporary directory, and such files
 * would be lost with it.  So they are given the names that one call of the compiler for everything
 * chooses. */
#ifndef BSPZ_BSPCC_DUMP_NAMES_H
#define BSPZ_BSPCC_DUMP_NAMES_H

#include "tools/bspcc/request.h"

/* What such names begin with: the output, and a dash. */
char *dump_prefix(const struct request *request);

/* Whether an option for this compiler asks for such files.  Only then they need names: caches of
 * compilers do not cache what has been given names. */
bool writes_beside(const struct request *request, enum tool tool);

/* Whether this compiler can be told names: GCC since version 11. */
bool takes_dump_names(const struct arguments *compiler);

/* Tells the names of a source's files; to be added behind the user's words. */
void add_dump_names(struct arguments *command, const struct request *request,
                    const struct item *source);

/* For compilers that cannot be told names: an object's name from which they choose the same ones.
 * The object is removed at the end.  NULL: there is such a file, or none can be made there. */
char *object_beside(const struct request *request, const struct item *source);

#endif
