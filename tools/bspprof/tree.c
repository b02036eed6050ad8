/* tree.c - see tree.h. */
#include "tools/bspprof/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

bool tree_begin(struct tree *tree)
{
    *tree = (struct tree){.count = 1};
    tree->nodes = calloc(1, sizeof(*tree->nodes));
    return tree->nodes != NULL;
}

void tree_free(struct tree *tree)
{
    for (uint32_t i = 0; i < tree->count && tree->nodes; i++)
        free(tree->nodes[i].name);
    free(tree->nodes);
    *tree = (struct tree){0};
}

/* The child of that name; 0: none could be made. */
static uint32_t child_of(struct tree *tree, uint32_t parent, const char *name, size_t length,
                         bool leaf)
{
    for (uint32_t i = tree->nodes[parent].child; i != 0; i = tree->nodes[i].next) {
        const struct tree_node *node = &tree->nodes[i];
        if (node->leaf == leaf && strlen(node->name) == length &&
            memcmp(node->name, name, length) == 0)
            return i;
    }
    if (tree->count == TREE_MOST || !BSPZ_GROW(tree->nodes, tree->count))
        return 0;
    struct tree_node node = {.name = strndup(name, length), .leaf = leaf, .parent = parent};
    if (!node.name)
        return 0;
    node.next = tree->nodes[parent].child;
    tree->nodes[parent].child = tree->count;
    tree->nodes[tree->count] = node;
    return tree->count++;
}

static void add_spread(struct profile_spread *sum, const struct profile_spread *part)
{
    sum->most += part->most;
    sum->mean += part->mean;
    sum->least += part->least;
}

static void add_costs(struct tree_node *node, const struct profile_stack *stack)
{
    add_spread(&node->computing, &stack->computing);
    add_spread(&node->communicating, &stack->communicating);
    add_spread(&node->waiting, &stack->waiting);
    add_spread(&node->h, &stack->h);
    node->supersteps += stack->supersteps;
}

bool tree_add(struct tree *tree, const struct profile_stack *stack)
{
    const char *begin = stack->names, *end = begin + stack->names_length;
    char *place;
    uint32_t node = 0;
    while (end - begin > 2) { /* from the outermost one, which is the last */
        const char *name = end - 2;
        while (name > begin && name[-1] != ' ')
            name--;
        node = child_of(tree, node, name, (size_t)(end - 2 - name), false);
        if (node == 0)
            return false;
        end = name;
    }
    int length = asprintf(&place, "%.*s:%u", (int)stack->file_length, stack->file, stack->line);
    if (length < 0)
        return false;
    node = child_of(tree, node, place, (size_t)length, true);
    free(place);
    if (node == 0)
        return false;
    for (;; node = tree->nodes[node].parent) {
        add_costs(&tree->nodes[node], stack);
        if (node == 0)
            return true;
    }
}

uint64_t tree_cost(const struct tree_node *node)
{
    return node->computing.most + node->communicating.most;
}

/* Insertion into a sorted list of siblings; there are few. */
static void sort_children(struct tree *tree, uint32_t parent)
{
    uint32_t left = tree->nodes[parent].child;
    tree->nodes[parent].child = 0;
    while (left != 0) {
        uint32_t one = left, *place = &tree->nodes[parent].child;
        left = tree->nodes[one].next;
        while (*place != 0 && tree_cost(&tree->nodes[*place]) >= tree_cost(&tree->nodes[one]))
            place = &tree->nodes[*place].next;
        tree->nodes[one].next = *place;
        *place = one;
    }
}

void tree_sort(struct tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        sort_children(tree, i);
}
