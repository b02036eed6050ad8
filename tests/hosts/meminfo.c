/* meminfo.c - for LD_PRELOAD: a node agent that sees as much free memory as a test wants.
 *
 * MEMINFO is a file that it reads instead of /proc/meminfo whenever there is one.  What the agent
 * starts does not know of this.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char seen[PATH_MAX];

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("MEMINFO");

    if (!file || strcmp(program_invocation_short_name, "bspnode") != 0)
        return;
    snprintf(seen, sizeof seen, "%s", file);
    unsetenv("MEMINFO");
    unsetenv("LD_PRELOAD");
}

/* As the agent's own calls are named with files of any size. */
int open64(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...);
    mode_t mode = 0;

    if (flags & (O_CREAT | O_TMPFILE)) { /* else there is none */
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    *(void **)&real = dlsym(RTLD_NEXT, "open64");
    if (seen[0] && strcmp(path, "/proc/meminfo") == 0 && access(seen, R_OK) == 0)
        path = seen;
    return real(path, flags, mode);
}
