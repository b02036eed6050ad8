/* The object that carries link-time options into a program. */
#ifndef BSPZ_BSPCC_LINK_OBJECT_H
#define BSPZ_BSPCC_LINK_OBJECT_H

#include "tools/bspcc/request.h"

/* Functions that the object wraps: the linker needs --wrap=NAME for each.  End with NULL. */
extern const char *const wrapped_exits[];
extern const char *const wrapped_statements[]; /* in a program with Fortran */

/* Whether the program is linked with libgfortran, behind the object. */
enum libgfortran { LIBGFORTRAN_NONE, LIBGFORTRAN_MAYBE, LIBGFORTRAN_SURELY };

/* The text of a C file that defines bspz_link_options and the wrappers; written to path. */
void write_link_options(const struct baked *baked, enum libgfortran libgfortran,
                        const char *bspnode_path, const char *path);

#endif
