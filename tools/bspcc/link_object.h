/* The object that carries link-time options into a program. */
#ifndef BSPZ_BSPCC_LINK_OBJECT_H
#define BSPZ_BSPCC_LINK_OBJECT_H

#include "tools/bspcc/request.h"

/* The text of a C file that defines bspz_link_options; written to path. */
void write_link_options(const struct baked *baked, const char *bspnode_path, const char *path);

#endif
