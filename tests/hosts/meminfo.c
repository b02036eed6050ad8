/* meminfo.c - for LD_PRELOAD: a node agent that sees as much free memory as a test wants.
 *
 * MEMINFO is a file that it reads instead of /proc/meminfo whenever there is one.  As long as there
 * is a file of that name and ".freeing", the kernel still frees the memory of processes that have
 * ended: they are dying, not dead; the file gets a byte each time the agent looks at one.  What the
 * agent starts does not know of this.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char seen[PATH_MAX], freeing[PATH_MAX + 16];

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("MEMINFO");

    if (!file || strcmp(program_invocation_short_name, "bspnode") != 0)
        return;
    snprintf(seen, sizeof seen, "%s", file);
    snprintf(freeing, sizeof freeing, "%s.freeing", file);
    unsetenv("MEMINFO");
    unsetenv("LD_PRELOAD");
}

static void note_look(void)
{
    int file = open(freeing, O_WRONLY | O_APPEND | O_CLOEXEC);

    if (file >= 0 && write(file, ".", 1) < 0)
        perror("meminfo");
    if (file >= 0)
        close(file);
}

/* Of a dead process: a file that says that it still runs; its flags are those of one that ends. */
static int still_dying(int stat)
{
    char text[1024];
    ssize_t size = stat < 0 ? 0 : read(stat, text, sizeof text);
    char *name_end = size > 0 ? memrchr(text, ')', (size_t)size) : NULL;
    int made = -1;

    if (name_end && name_end + 2 < text + size && name_end[2] == 'Z') {
        name_end[2] = 'R';
        made = memfd_create("stat", MFD_CLOEXEC);
        note_look();
    }
    if (made >= 0 && write(made, text, (size_t)size) == size && dup3(made, stat, O_CLOEXEC) < 0)
        perror("meminfo");
    if (made >= 0)
        close(made);
    if (size > 0)
        lseek(stat, 0, SEEK_SET);
    return stat;
}

static bool is_stat(const char *path)
{
    int pid, length = 0;

    return sscanf(path, "/proc/%d/stat%n", &pid, &length) == 1 && length > 0 && !path[length];
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
    if (seen[0] && is_stat(path) && access(freeing, R_OK) == 0)
        return still_dying(real(path, flags, mode));
    return real(path, flags, mode);
}
