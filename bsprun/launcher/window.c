/* window.c - the destination of the job's output; see window.h. */
#include "bsprun/launcher/window.h"

#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool is_null(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

struct window window_look(void)
{
    struct window window = {0, 0, 0, 0};

    for (int i = 1; i >= 0; i--) {
        struct winsize size;

        if (is_null(STDOUT_FILENO + i))
            window.discards |= 1u << i;
        if (!isatty(STDOUT_FILENO + i))
            continue;
        window.terminals |= 1u << i;
        if (ioctl(STDOUT_FILENO + i, TIOCGWINSZ, &size) == 0) {
            window.rows = size.ws_row;
            window.columns = size.ws_col;
        }
    }
    return window;
}
