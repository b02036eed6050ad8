/* node_path.h - where the node agent's program lies, for runs without bsprun. */
#ifndef BSPZ_RT_NODE_PATH_H
#define BSPZ_RT_NODE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Finds bspnode: $BSPZERO_NODE, what bspcc baked into the program, beside the shared library, where
 * this library is installed.  False, with the last place looked at in path, when there is none. */
__attribute__((visibility("hidden"))) bool bspz_node_path(char *path, size_t size);

#endif
