/* Where this copy of bspzero is installed.
 *
 * Everything is found from the place of the running driver, so that a build directory and an
 * installed tree work where they are and go on working when the tree is moved:
 *
 *     ROOT/bin/bspcc   ROOT/include/bsp.h   ROOT/lib/libbsp.a   ROOT/bin/bspnode
 *
 * with the names of the three directories as configured for an installation; a build directory has
 * the plain ones.
 */
#ifndef BSPZ_BSPCC_LAYOUT_H
#define BSPZ_BSPCC_LAYOUT_H

#include <stdbool.h>

struct layout {
    char *bindir;
    char *includedir;
    char *libdir;
    bool include_is_standard; /* the compilers search includedir anyway */
};

void layout_find(struct layout *layout);

#endif
