/* io.c - see io.h. */
#include "lib/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int bspz_write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t done = write(fd, at, size);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        at += done;
        size -= (size_t)done;
    }
    return 0;
}

int bspz_write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
    const char *from = bytes;

    while (size > 0) {
        ssize_t done = pwrite(fd, from, size, (off_t)at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        from += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    return 0;
}

int bspz_read_at(int fd, void *bytes, size_t size, uint64_t at)
{
    char *to = bytes;

    while (size > 0) {
        ssize_t done = pread(fd, to, size, (off_t)at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        to += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    return 0;
}

bool bspz_read_text(const char *path, char *text, size_t room)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, room - 1);

    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}
