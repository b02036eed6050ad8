/* node_path.h - finds the node agent's program, for runs without bsprun. */
#ifndef BSPZ_RT_NODE_PATH_H
#define BSPZ_RT_NODE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Finds bspnode: by $BSPZERO_NODE, by bspcc's link options, beside the shared library, where this
 * library is installed.  False, with the last path tried, when there is none. */
__attribute__((visibility("hidden"))) bool bspz_node_path(char *path, size_t size);

#endif
