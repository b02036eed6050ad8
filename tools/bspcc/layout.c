/* Finds headers, library and node agent from the place of the running driver. */
#include "tools/bspcc/layout.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "tools/bspcc/arguments.h"

/* The directories of an installation, relative to the prefix; absolute when they lie elsewhere. */
#ifndef BSPZ_BINDIR
#define BSPZ_BINDIR "bin"
#endif
#ifndef BSPZ_LIBDIR
#define BSPZ_LIBDIR "lib"
#endif
#ifndef BSPZ_INCLUDEDIR
#define BSPZ_INCLUDEDIR "include"
#endif

static char *own_directory(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length <= 0)
        fail("cannot read /proc/self/exe: %s", strerror(errno));
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        fail("strange place for a compiler: %s", path);
    *slash = '\0';
    return copy_text(path);
}

/* The prefix: as many steps up from the driver's directory as bindir has components. */
static char *root_above(const char *bindir)
{
    char *root = copy_text(bindir);
    const char *steps = BSPZ_BINDIR;

    if (steps[0] == '/')
        steps = "bin";
    for (; steps != NULL; steps = strchr(steps, '/'), steps = steps ? steps + 1 : NULL) {
        char *slash = strrchr(root, '/');
        if (slash == NULL)
            break;
        *slash = '\0';
    }
    return root;
}

static char *place(const char *root, const char *directory)
{
    return directory[0] == '/' ? copy_text(directory) : format_text("%s/%s", root, directory);
}

static bool holds(const char *directory, const char *name)
{
    return access(format_text("%s/%s", directory, name), R_OK) == 0;
}

void layout_find(struct layout *layout)
{
    layout->bindir = own_directory();

    const char *root = root_above(layout->bindir);
    layout->libdir = place(root, BSPZ_LIBDIR);
    if (!holds(layout->libdir, "libbsp.a") && !holds(layout->libdir, "libbsp.so"))
        layout->libdir = place(root, "lib");
    layout->includedir = place(root, BSPZ_INCLUDEDIR);
    if (!holds(layout->includedir, "bsp.h"))
        layout->includedir = place(root, "include");
    layout->include_is_standard = strcmp(layout->includedir, "/usr/include") == 0 ||
                                  strcmp(layout->includedir, "/usr/local/include") == 0;
}
