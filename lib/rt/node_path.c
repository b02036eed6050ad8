/* node_path.c - see node_path.h. */
#include "lib/rt/node_path.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rt/rt.h"

static bool usable(char *path, size_t size, const char *candidate)
{
    if (!candidate || !*candidate)
        return false;
    snprintf(path, size, "%s", candidate);
    return access(path, X_OK) == 0;
}

/* LIBDIR/libbsp.so -> LIBDIR/../bin/bspnode; with a static library, the path of the program. */
static bool beside_library(char *path, size_t size)
{
    char candidate[4096];
    Dl_info where;
    const char *slash;

    if (!dladdr((void *)(uintptr_t)&bspz_node_path, &where) || !where.dli_fname)
        return false;
    slash = strrchr(where.dli_fname, '/');
    if (!slash)
        return false;
    snprintf(candidate, sizeof candidate, "%.*s/../bin/bspnode", (int)(slash - where.dli_fname),
             where.dli_fname);
    if (usable(path, size, candidate))
        return true;
    snprintf(candidate, sizeof candidate, "%.*s/../../bin/bspnode", (int)(slash - where.dli_fname),
             where.dli_fname);
    return usable(path, size, candidate);
}

bool bspz_node_path(char *path, size_t size)
{
    path[0] = '\0';
    return usable(path, size, getenv("BSPZERO_NODE")) ||
           usable(path, size, bspz_options()->bspnode_path) || beside_library(path, size) ||
           usable(path, size, BSPZ_BINDIR "/bspnode");
}
