/* terminal.c - a pseudo terminal that a program has as an output; see terminal.h. */
#include "bsprun/agent/core/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

int terminal_open(unsigned rows, unsigned columns, int *reader, int *writer)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    struct termios modes;
    int fds[2];

    if (openpty(&fds[0], &fds[1], NULL, NULL, &size) != 0)
        return -errno;
    if (tcgetattr(fds[1], &modes) == 0) {
        modes.c_oflag &= ~(tcflag_t)OPOST; /* left to the user's terminal */
        tcsetattr(fds[1], TCSANOW, &modes);
    }
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 2; i++)
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
    *reader = fds[0];
    *writer = fds[1];
    return 0;
}

uint64_t terminal_device(int writer)
{
    struct stat status;

    return fstat(writer, &status) == 0 ? (uint64_t)status.st_rdev : 0;
}

void terminal_resize(int reader, unsigned rows, unsigned columns)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

    ioctl(reader, TIOCSWINSZ, &size);
}
