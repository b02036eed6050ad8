/* outside.c - see outside.h. */
#include "tests/recovery/outside.h"

#include <bsp.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

const char *outside_directory;

void outside_rest(long milliseconds)
{
    struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    while (nanosleep(&rest, &rest) != 0)
        continue;
}

/* Opened, written at once and closed: no snapshot sees it. */
static void witness(const char *what, int s)
{
    char path[3100], line[100];
    int fd, size;

    snprintf(path, sizeof path, "%s/witness", outside_directory);
    size = snprintf(line, sizeof line, "%s%d %d %d\n", what, bsp_pid(), s, (int)getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, line, (size_t)size) != size) {
        perror(path);
        exit(98);
    }
    close(fd);
}

static void be_held(int s)
{
    char path[3100];

    snprintf(path, sizeof path, "%s/hold.%d.%d", outside_directory, bsp_pid(), s);
    while (access(path, F_OK) == 0)
        outside_rest(1);
}

void outside_superstep(int s)
{
    witness("", s);
    be_held(s);
}

void outside_end(int s)
{
    witness("end ", s);
    be_held(s + 1);
}
