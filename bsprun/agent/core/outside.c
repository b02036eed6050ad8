/* outside.c - see outside.h. */
#include "bsprun/agent/core/outside.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void outside_note(struct outside *outside, int own)
{
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    struct stat status;

    outside->count = 0;
    while (directory && (entry = readdir(directory)) && outside->count < BSPZ_OUTSIDE_MAX) {
        int fd = atoi(entry->d_name);

        /* Close-on-exec descriptors are not inherited by the program. */
        if (fd <= STDERR_FILENO || fd == own || fd == dirfd(directory) ||
            fcntl(fd, F_GETFD) & FD_CLOEXEC || fstat(fd, &status) != 0)
            continue;
        outside->list[outside->count++] =
            (struct bspz_outside){.fd = fd, .device = status.st_dev, .inode = status.st_ino};
    }
    if (directory)
        closedir(directory);
}

bool outside_has(const struct outside *outside, int fd, const struct stat *status)
{
    for (uint32_t i = 0; i < outside->count; i++)
        if (outside->list[i].fd == fd && outside->list[i].device == status->st_dev &&
            outside->list[i].inode == status->st_ino)
            return true;
    return false;
}

void outside_show(const struct outside *outside, struct bspz_board *board)
{
    memcpy(board->outside, outside->list, outside->count * sizeof outside->list[0]);
    board->outside_count = outside->count;
}

void outside_tell(const struct outside *outside, void (*tell)(void *context, const char *text),
                  void *context)
{
    for (uint32_t i = 0; i < outside->count; i++) {
        char name[64], path[256] = "", text[400];

        snprintf(name, sizeof name, "/proc/self/fd/%d", outside->list[i].fd);
        if (readlink(name, path, sizeof path - 1) < 0)
            continue;
        snprintf(
            text, sizeof text,
            "descriptor %d (%s) was open before bsprun was started: it is not part of snapshots",
            outside->list[i].fd, path);
        tell(context, text);
    }
}
