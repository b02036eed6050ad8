/* window.c - the terminal that the user looks at; see window.h. */
#include "bsprun/launcher/window.h"

#include <sys/ioctl.h>
#include <unistd.h>

struct window window_look(void)
{
    struct window window = {0, 0, 0};

    for (int i = 1; i >= 0; i--) {
        struct winsize size;

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
