/* debugger.c - see debugger.h. */
#include "bsprun/launcher/debugger.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/launcher/program.h"

#define XTERM "BSPZERO_XTERM"

const char *debugger_window(const struct options *options)
{
    const char *command = options->lookup(XTERM);

    return command && *command ? command : "xterm -e";
}

static bool is_in_path(const struct options *options, const char *name)
{
    char found[PATH_MAX];

    return program_find(name, options->lookup("PATH"), found, sizeof found);
}

static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    bool has = fd >= 0 && tcgetpgrp(fd) == getpgrp();

    if (fd >= 0)
        close(fd);
    return has;
}

enum wire_attach debugger_attaches(const struct options *options)
{
    return options->debug.xterm || has_terminal() ? WIRE_ATTACH_DEBUGGER : WIRE_ATTACH_STACK;
}

bool debugger_possible(const struct options *options, char *error, size_t size)
{
    const struct options_debug *debug = &options->debug;
    const char *option = debug->asked ? "--debug" : "--attach-on-error";
    const char *window = debugger_window(options);
    char name[PATH_MAX];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(window, " "), window);
    *error = '\0';
    if (!debug->asked && debugger_attaches(options) == WIRE_ATTACH_STACK) {
        if (!is_in_path(options, "eu-stack") && !is_in_path(options, "gdb"))
            snprintf(error, size, "%s: neither gdb nor eu-stack is in PATH", option);
    } else if (!is_in_path(options, "gdb")) {
        snprintf(error, size, "%s: gdb is not in PATH", option);
    } else if (debug->xterm && !is_in_path(options, name)) {
        snprintf(error, size,
                 "--xterm: %.200s is not in PATH; " XTERM " may name another terminal, such as "
                 "\"konsole -e\"",
                 name);
    } else if (debug->asked && !debug->xterm && !has_terminal()) {
        snprintf(error, size,
                 "--debug needs a terminal, and bsprun in its foreground; --xterm gives each "
                 "debugger a window");
    }
    return !*error;
}

void debugger_keep_terminal(struct debugger_terminal *terminal)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

    if (fd > 0 && tcgetattr(fd, &terminal->settings) == 0)
        terminal->fd = fd;
    else if (fd > 0)
        close(fd);
}

void debugger_reset_terminal(struct debugger_terminal *terminal)
{
    if (terminal->fd == 0)
        return;
    signal(SIGTTOU, SIG_IGN); /* should bsprun be in the background by now */
    tcsetattr(terminal->fd, TCSADRAIN, &terminal->settings);
    close(terminal->fd);
    terminal->fd = 0;
}
