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

/* Whether this compiler can be told names: GCC since version 11. */
bool takes_dump_names(const struct arguments *compiler);

/* Tells the names of a source's files; to be added behind the user's words. */
void add_dump_names(struct arguments *command, const struct request *request,
                    const struct item *source);

#endif
