/* bspcgprof: the call graph of a profile with call stacks, with inclusive costs. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/json.h"
#include "tools/bspprof/command.h"
#include "tools/bspprof/tree.h"

static const char help[] =
    "usage: bspcgprof [-json] [PROF.bsp]\n"
    "Prints the call graph of a profile written by a program linked with\n"
    "-cgprof, with the cost of the supersteps below each function.\n"
    "\n"
    "  -json   print JSON\n"
    "  -v      report what is done\n"
    "  -help, -version\n"
    "\n"
    "Times are sums over supersteps: of the longest time that a process\n"
    "computed and communicated, and of the mean time that processes waited.\n"
    "h is in words of 32 bits.\n";

#define DEPTH_SHOWN 30u

static bool add(void *context, const struct profile_stack *stack, char error[PROFILE_ERROR])
{
    struct tree *tree = context;
    if (tree_add(tree, stack))
        return true;
    snprintf(error, PROFILE_ERROR, "out of memory, or more than %u functions and statements",
             TREE_MOST);
    return false;
}

/* ---- Walking -------------------------------------------------------------------------------- */

/* The node after this one, parents before children; 0: that was the last.  `depth` is adapted. */
static uint32_t after(const struct tree *tree, uint32_t node, unsigned *depth)
{
    if (tree->nodes[node].child != 0) {
        (*depth)++;
        return tree->nodes[node].child;
    }
    while (node != 0 && tree->nodes[node].next == 0) {
        node = tree->nodes[node].parent;
        (*depth)--;
    }
    return node != 0 ? tree->nodes[node].next : 0;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void print_node(const struct tree *tree, uint32_t number, unsigned depth)
{
    const struct tree_node *node = &tree->nodes[number];
    uint64_t all = tree_cost(&tree->nodes[0]);
    char text[COMMAND_TIME_MAX];
    unsigned shown = depth < DEPTH_SHOWN ? depth : DEPTH_SHOWN;
    printf("%5.1f %%", all > 0 ? 100 * (double)tree_cost(node) / (double)all : 0);
    printf(" %11s", bspprof_command_time((double)tree_cost(node), text));
    printf(" %11s", bspprof_command_time((double)node->computing.most, text));
    printf(" %11s", bspprof_command_time((double)node->waiting.mean, text));
    printf(" %11s", bspprof_command_time((double)node->communicating.most, text));
    printf(" %12" PRIu64 " %10" PRIu64 "  %*s%s%s\n", node->h.most, node->supersteps,
           2 * (int)shown, "", number == 0 ? "(all)" : node->name,
           number == 0 || node->leaf ? "" : "()");
}

static void print_tree(const struct tree *tree)
{
    unsigned depth = 0;
    uint32_t node = 0;
    printf("%7s %11s %11s %11s %11s %12s %10s  %s\n", "share", "cost", "computing", "waiting",
           "communic.", "h (words)", "supersteps", "function, statement");
    do {
        print_node(tree, node, depth);
        node = after(tree, node, &depth);
    } while (node != 0);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* One object for each node, with the number of its parent: a tree may be deeper than JSON nests. */
static void write_json(const struct tree *tree, const struct run *run)
{
    struct bspz_json json = {.file = stdout, .indented = true};
    bspz_json_object(&json, NULL);
    bspz_json_text(&json, "profile", run->name);
    bspz_json_number(&json, "processes", run->file.profile.ranks);
    bspz_json_array(&json, "nodes");
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct tree_node *node = &tree->nodes[i];
        bspz_json_object(&json, NULL);
        bspz_json_number(&json, "id", i);
        if (i == 0)
            bspz_json_null(&json, "parent");
        else
            bspz_json_number(&json, "parent", node->parent);
        bspz_json_text(&json, node->leaf ? "statement" : "function", node->name);
        bspz_json_number(&json, "supersteps", node->supersteps);
        bspz_json_real(&json, "cost", (double)tree_cost(node) / 1e9);
        bspz_json_real(&json, "computing", (double)node->computing.most / 1e9);
        bspz_json_real(&json, "computing_mean", (double)node->computing.mean / 1e9);
        bspz_json_real(&json, "waiting_mean", (double)node->waiting.mean / 1e9);
        bspz_json_real(&json, "communicating", (double)node->communicating.most / 1e9);
        bspz_json_number(&json, "h", node->h.most);
        bspz_json_end(&json);
    }
    bspz_json_end(&json);
    bspz_json_end(&json);
}

static int show(const struct arguments *arguments, struct tree *tree, const struct run *run)
{
    if (tree->nodes[0].supersteps == 0)
        return bspprof_command_fail(
            STATUS_BAD,
            "%s: there are no call stacks (lines A) in it: link the program with "
            "-cgprof, and let it run to bsp_end",
            run->name);
    tree_sort(tree);
    if (arguments->json)
        write_json(tree, run);
    else
        print_tree(tree);
    return STATUS_OK;
}

static int work(const struct arguments *arguments)
{
    struct run *run = calloc(1, sizeof(*run));
    struct tree tree;
    char error[PROFILE_ERROR];
    int status;
    if (!run || !tree_begin(&tree)) {
        free(run);
        return bspprof_command_fail(STATUS_BAD, "out of memory");
    }
    const struct run_calls calls = {.stack = add, .context = &tree};
    if (run_read(arguments->files[0], arguments->section, &calls, run, error))
        status = show(arguments, &tree, run);
    else
        status = bspprof_command_fail(STATUS_BAD, "%s", error);
    run_free(run);
    tree_free(&tree);
    free(run);
    return status;
}

int main(int argc, char **argv)
{
    return command_main(ARGUMENTS_CGPROF, "bspcgprof", help, argc, argv, work);
}
