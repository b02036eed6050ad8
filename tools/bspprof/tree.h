/* tree.h - who called whom, with what all supersteps below cost. Pure. */
#ifndef BSPPROF_TREE_H
#define BSPPROF_TREE_H

#include "tools/profile/profile.h"

#define TREE_MOST 100000u /* nodes */

struct tree_node {
    char *name; /* of a function; of a leaf FILE:LINE; owned */
    bool leaf;  /* a statement that ended supersteps */
    struct profile_spread computing, communicating, waiting, h; /* of all below it, summed */
    uint64_t supersteps;
    uint32_t parent, child, next; /* 0: none; the root is 0, and has no name */
};

struct tree {
    struct tree_node *nodes; /* owned */
    uint32_t count;
};

/* False: out of memory. */
bool tree_begin(struct tree *tree);
void tree_free(struct tree *tree);

/* Adds a call stack.  False: out of memory, or there would be more than TREE_MOST nodes. */
bool tree_add(struct tree *tree, const struct profile_stack *stack);

/* What all processes were at, at least, in nanoseconds: computing and communicating of the longest.
 */
uint64_t tree_cost(const struct tree_node *node);

/* Puts the children of each node into the order of their costs, the largest first. */
void tree_sort(struct tree *tree);

#endif
